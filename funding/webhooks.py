"""Webhooks: stored first, then handled by a task. An event is a hint; the object is read again."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet

from backoffice import endl as api
from backoffice.audit.trail import record
from backoffice.delivery import line
from backoffice.mirror import reads
from cards.models import Customer
from funding import deposits, sync
from funding.models import Deposit, WebhookEvent

State = WebhookEvent.State
KNOWN_TYPES = frozenset({"card_deposit.completed", "card_deposit.failed"})
_GIVE_UP_AFTER = 12
_WAIT = timedelta(seconds=15)


def store(event: api.VerifiedEvent, *, now: datetime) -> WebhookEvent:
    """Keep a verified event. The same event again only counts; the first content stands."""
    row, is_new = WebhookEvent.objects.get_or_create(
        event_id=event.event_id[:200],
        defaults={
            "type": event.type[:200],
            "data": event.data,
            "raw_sha256": event.raw_sha256,
            "received_at": now,
            "object_endl_id": _text(event.data.get("depositId")),
            "customer_endl_id": _text(event.data.get("customerId")),
            "state": State.RECEIVED if event.type in KNOWN_TYPES else State.UNKNOWN_TYPE,
        },
    )
    if not is_new:
        conflict = {"has_conflict": True} if row.raw_sha256 != event.raw_sha256 else {}
        WebhookEvent.objects.filter(pk=row.pk).update(deliveries=F("deliveries") + 1, **conflict)
    return row


def waiting(*, now: datetime) -> QuerySet[WebhookEvent]:
    """The events that a handler should look at now."""
    in_time = Q(next_attempt_at=None) | Q(next_attempt_at__lte=now)
    return WebhookEvent.objects.filter(in_time, state__in=(State.RECEIVED, State.WAITING))


def handle(event: WebhookEvent, *, endl: api.Client, now: datetime) -> None:
    """Read the deposit that an event is about, and let its request follow. Safe to repeat."""
    if event.state not in (State.RECEIVED, State.WAITING):
        return
    customer = Customer.objects.filter(endl_id=event.customer_endl_id).first()
    if customer is None or not api.is_id(event.object_endl_id):
        _put_off(event, State.WAITING, "Its customer or deposit is not known here.", now)
        return
    try:
        deposit = _reread(event, customer, endl, now)
    except api.EndlError as problem:
        if not isinstance(problem, api.Rejected):
            line.note_trouble(problem, client=endl, now=now)
        _put_off(event, State.RECEIVED, problem.message, now)
        return
    deposits.settle(deposit, by=f"webhook {event.event_id}", now=now)
    _finish(event, f"The deposit is {deposit.status}.", now)


def _reread(event: WebhookEvent, customer: Customer, endl: api.Client, now: datetime) -> Deposit:
    known = Deposit.objects.filter(endl_id=event.object_endl_id, customer=customer).first()
    try:
        if known is not None:
            return sync.reread_deposit(known, endl=endl, now=now)
        found = reads.ask(
            reads.GET_DEPOSIT,
            lambda: endl.get_deposit(customer.endl_id, event.object_endl_id),
            is_known=False,
            now=now,
        )
    except reads.SwitchedOff:
        return _from_list_or_event(event, customer, endl, now)
    return sync.take_in_deposit(customer, found, now=now)


def _from_list_or_event(event: WebhookEvent, customer: Customer, endl: api.Client, now: datetime) -> Deposit:
    """With no single read, ask the list; with no list either, a signed event's own data must do."""
    if reads.is_on(reads.LIST_DEPOSITS, now=now):
        sync.sync_deposits(customer=customer, endl=endl, by=f"webhook {event.event_id}", now=now)
        listed = Deposit.objects.filter(endl_id=event.object_endl_id, customer=customer).first()
        if listed is not None and reads.is_on(reads.LIST_DEPOSITS, now=now):
            return listed
    found = api.parse_deposit(event.data)
    with transaction.atomic():
        deposit = sync.take_in_deposit(customer, found, now=now)
        Deposit.objects.filter(pk=deposit.pk).update(is_not_reread=True)
        record("deposit.believed", deposit, by=f"webhook {event.event_id}", new={"status": deposit.status})
    return deposit


def _finish(event: WebhookEvent, outcome: str, now: datetime) -> None:
    WebhookEvent.objects.filter(pk=event.pk).update(
        state=State.HANDLED, handled_at=now, outcome=outcome, attempts=F("attempts") + 1
    )


def _put_off(event: WebhookEvent, state: WebhookEvent.State, why: str, now: datetime) -> None:
    """Try again later, longer each time; after some tries a person has to look."""
    attempts = event.attempts + 1
    given_up = attempts >= _GIVE_UP_AFTER and state == State.RECEIVED
    WebhookEvent.objects.filter(pk=event.pk).update(
        state=State.FAILED if given_up else state,
        attempts=attempts,
        outcome=why,
        next_attempt_at=now + _WAIT * 2 ** min(attempts, 8),
    )


def _text(value: object) -> str:
    return value[:128] if isinstance(value, str) else ""
