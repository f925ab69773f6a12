"""The office's Celery application, with the seam on its checkpoints: `celery --app tests.faults.worker:app`."""

from backoffice.celery import app
from tests.faults import seam

seam.install()

__all__ = ["app"]
