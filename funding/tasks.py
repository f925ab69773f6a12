"""What a worker does for money: each task loads by id and makes one call."""

from celery import shared_task
from django.utils import timezone

from backoffice.connections import open_endl
from backoffice.delivery import claims, line, raw, sender
from backoffice.delivery.models import State
from cards.models import Customer
from funding import deposits, sync, webhooks, withdrawals
from funding.models import DepositRequest, WebhookEvent, Withdrawal

SEND_DEPOSIT = "funding.tasks.send_deposit"
SYNC_CUSTOMER = "funding.tasks.sync_customer"
HANDLE_EVENT = "funding.tasks.handle_webhook_event"
FOLLOW_WITHDRAWAL = "funding.tasks.follow_withdrawal"


@shared_task(name=SEND_DEPOSIT)
def send_deposit(request_id: int) -> None:
    """Drive one deposit as far as it goes now."""
    sender.deliver(deposits.ROAD, request_id, endl=open_endl())


@shared_task(name="funding.tasks.sweep")
def sweep() -> None:
    """Find what no bell reached, and what a dead worker left behind."""
    raw.take_in_spool()
    sender.take_in_late(deposits.ROAD)
    for request_id in claims.due(DepositRequest, now=timezone.now()).values_list("pk", flat=True)[:100]:
        send_deposit.delay(request_id)


@shared_task(name=SYNC_CUSTOMER)
def sync_customer(customer_id: int, by: str = "system: sync") -> None:
    """Make one customer's deposits and withdrawals true."""
    customer, endl, now = Customer.objects.get(pk=customer_id), open_endl(), timezone.now()
    sync.sync_deposits(customer=customer, endl=endl, by=by, now=now)
    sync.sync_withdrawals(customer=customer, endl=endl, by=by, now=now)
    deposits.settle_ended(customer=customer, by=by, now=now)


@shared_task(name="funding.tasks.sync_all")
def sync_all() -> None:
    """Make every customer's deposits and withdrawals true, one task each."""
    for customer_id in Customer.objects.filter(is_active=True).values_list("pk", flat=True):
        sync_customer.delay(customer_id)


@shared_task(name="funding.tasks.follow_deposit")
def follow_deposit(request_id: int) -> None:
    """Look at one submitted deposit."""
    wish = DepositRequest.objects.get(pk=request_id)
    if wish.state == State.SUBMITTED:
        deposits.follow(wish, endl=open_endl(), now=timezone.now())


@shared_task(name=FOLLOW_WITHDRAWAL)
def follow_withdrawal(withdrawal_id: int) -> None:
    """Look at one pending withdrawal."""
    withdrawals.follow(Withdrawal.objects.get(pk=withdrawal_id), endl=open_endl(), now=timezone.now())


@shared_task(name="funding.tasks.follow_due")
def follow_due() -> None:
    """Follow what has not ended; nothing while the line is paused."""
    now = timezone.now()
    if line.is_paused():
        return
    submitted = DepositRequest.objects.filter(state=State.SUBMITTED, follow_at__lte=now)
    for request_id in submitted.values_list("pk", flat=True)[:200]:
        follow_deposit.delay(request_id)
    for withdrawal_id in withdrawals.due(now=now).values_list("pk", flat=True)[:200]:
        follow_withdrawal.delay(withdrawal_id)


@shared_task(name=HANDLE_EVENT)
def handle_webhook_event(event_id: int) -> None:
    """Handle one stored event."""
    webhooks.handle(WebhookEvent.objects.get(pk=event_id), endl=open_endl(), now=timezone.now())


@shared_task(name="funding.tasks.handle_waiting_events")
def handle_waiting_events() -> None:
    """Find the events that no bell reached, and those whose next try is due."""
    for event_id in webhooks.waiting(now=timezone.now()).values_list("pk", flat=True)[:200]:
        handle_webhook_event.delay(event_id)
