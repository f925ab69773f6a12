"""The office's web application, with the seam on its checkpoints: `gunicorn tests.faults.web`."""

from backoffice.wsgi import application
from tests.faults import seam

seam.install()

__all__ = ["application"]
