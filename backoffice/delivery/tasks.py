"""What a worker does for the line itself."""

from celery import shared_task
from django.utils import timezone

from backoffice.connections import open_endl
from backoffice.delivery import invariants, line


@shared_task(name="backoffice.delivery.tasks.probe")
def probe(customer_endl_id: str = "") -> None:
    """While everything is paused, see whether Endl answers again."""
    if line.is_paused():
        line.probe(endl=open_endl(), now=timezone.now(), customer=customer_endl_id)


@shared_task(name="backoffice.delivery.tasks.watch_deadlines")
def watch_deadlines() -> None:
    """Raise an alert for what stays on its way for too long, and clear those whose cause is gone."""
    invariants.watch_deadlines(now=timezone.now())


@shared_task(name="backoffice.delivery.tasks.check_invariants")
def check_invariants() -> None:
    """Check what must hold at any moment; a breach is an alert."""
    invariants.check_all(now=timezone.now())
