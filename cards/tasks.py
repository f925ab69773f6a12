"""What a worker does for cards: each task loads by id and makes one call."""

from celery import shared_task
from django.utils import timezone

from backoffice.connections import open_endl
from backoffice.delivery import claims, raw, sender
from cards import issuing, registering, retention, retention_report, sync, watching
from cards.models import CardholderRequest, CardOrder, Customer

SEND_ORDER, SEND_REGISTRATION = "cards.tasks.send_order", "cards.tasks.send_registration"
SYNC_CARDHOLDERS = "cards.tasks.sync_cardholders"


@shared_task(name=SEND_ORDER)
def send_order(order_id: int) -> None:
    """Drive one card order as far as it goes now."""
    sender.deliver(issuing.ROAD, order_id, endl=open_endl())


@shared_task(name=SEND_REGISTRATION)
def send_registration(request_id: int) -> None:
    """Drive one registration as far as it goes now."""
    sender.deliver(registering.ROAD, request_id, endl=open_endl())


@shared_task(name="cards.tasks.sweep")
def sweep() -> None:
    """Find what no bell reached, and what a dead worker left behind."""
    raw.take_in_spool()
    sender.take_in_late(issuing.ROAD)
    sender.take_in_late(registering.ROAD)
    now = timezone.now()
    for order_id in claims.due(CardOrder, now=now).values_list("pk", flat=True)[:100]:
        send_order.delay(order_id)
    for request_id in claims.due(CardholderRequest, now=now).values_list("pk", flat=True)[:100]:
        send_registration.delay(request_id)


@shared_task(name=SYNC_CARDHOLDERS)
def sync_cardholders(customer_id: int, by: str = "system: sync") -> None:
    """Make one customer's cardholders and cards true."""
    customer = Customer.objects.get(pk=customer_id)
    sync.sync_cardholders(customer=customer, endl=open_endl(), by=by, now=timezone.now())


@shared_task(name="cards.tasks.sync_all")
def sync_all() -> None:
    """Make every customer's cardholders and cards true, one task each."""
    businesses = Customer.objects.filter(type=Customer.Type.BUSINESS, is_active=True)
    for customer_id in businesses.values_list("pk", flat=True):
        sync_cardholders.delay(customer_id)


@shared_task(name="cards.tasks.destroy_due_details")
def destroy_due_details() -> None:
    """Destroy the details whose time has come."""
    retention.destroy_due_details(now=timezone.now())


@shared_task(name="cards.tasks.report_on_retention")
def report_on_retention() -> None:
    """Prove once a day that what should be destroyed is."""
    retention_report.make_report(by="system: retention", now=timezone.now())


@shared_task(name="cards.tasks.watch_looks")
def watch_looks() -> None:
    """Alert compliance to looks at card details that are unusual."""
    watching.watch(now=timezone.now())
