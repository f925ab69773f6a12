"""What a worker does for the line itself."""

from celery import shared_task
from django.utils import timezone

from backoffice.connections import open_endl
from backoffice.delivery import line


@shared_task(name="backoffice.delivery.tasks.probe")
def probe(customer_endl_id: str = "") -> None:
    """While everything is paused, see whether Endl answers again."""
    if line.is_paused():
        line.probe(endl=open_endl(), now=timezone.now(), customer=customer_endl_id)
