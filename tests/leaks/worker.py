"""The office's Celery application, with holes: `celery --app tests.leaks.worker:app`."""

from celery import signals

from backoffice.celery import app
from tests.leaks import holes

__all__ = ["app"]


@signals.worker_init.connect
def dig(**_: object) -> None:
    holes.open_in_worker()
