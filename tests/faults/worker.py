"""The office's Celery application, with the seam on its checkpoints."""

from backoffice.celery import app
from tests.faults import seam

seam.install()

__all__ = ["app"]
