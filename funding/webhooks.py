"""Webhooks: stored first, then handled by a task. An event is a hint; the object is read again."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet

from backoffice import endl as api
from backoffice.audit.trail import record
from backoffice.delivery import line
from backoffice.delivery.checkpoint import checkpoint
from backoffice.mirror import reads
from cards.models import Customer
from funding import deposits, sync
from funding.models import Deposit, WebhookEvent

State = WebhookEvent.State
# What each documented type says of its deposit.
KNOWN_TYPES = {"card_deposit.completed": "completed", "card_deposit.failed": "failed"}
_GIVE_UP_AFTER = 12
_WAIT = timedelta(seconds=15)


class _Unusable(Exception):
    """The event's own data must do, and it does not: a person has to look."""


class _NotYet(Exception):
    """Nothing could be read at the moment; the event is tried again."""


def store(event: api.VerifiedEvent, *, now: datetime) -> WebhookEvent:
    """Keep a verified event. The same event again only counts; the first content stands."""
    row, is_new = WebhookEvent.objects.get_or_create(
        event_id=event.event_id[:200],
        defaults={
            "type": event.type[:200],
            "data": event.data,
            "raw_sha256": event.raw_sha256,
            "received_at": now,
            "object_endl_id": _an_id(event.data.get("depositId")),
            "customer_endl_id": _an_id(event.data.get("customerId")),
            "state": State.RECEIVED if event.type in KNOWN_TYPES else State.UNKNOWN_TYPE,
        },
    )
    if not is_new:
        conflict = {"has_conflict": True} if row.raw_sha256 != event.raw_sha256 else {}
        WebhookEvent.objects.filter(pk=row.pk).update(deliveries=F("deliveries") + 1, **conflict)
    return row


def waiting(*, now: datetime) -> QuerySet[WebhookEvent]:
    """The events that a handler should look at now: due ones, and those whose customer has appeared."""
    in_time = Q(next_attempt_at=None) | Q(next_attempt_at__lte=now)
    has_appeared = Q(customer_endl_id__in=Customer.objects.values("endl_id")) | Q(
        object_endl_id__in=Deposit.objects.values("endl_id")
    )
    return WebhookEvent.objects.filter(
        Q(state=State.RECEIVED) & in_time | Q(state=State.WAITING) & has_appeared
    )


def handle(event: WebhookEvent, *, endl: api.Client, now: datetime) -> None:
    """Read the deposit that an event is about, and let its request follow. Safe to repeat."""
    if event.state not in (State.RECEIVED, State.WAITING) or line.is_paused():
        return
    if not event.object_endl_id:
        _fail(event, "It names no deposit.", now)
        return
    customer = _customer_of(event)
    if customer is None:
        _put_off(event, State.WAITING, "Its customer and its deposit are not known here yet.", now)
        return
    try:
        deposit = _reread(event, customer, endl, now)
    except _Unusable as problem:
        _fail(event, str(problem), now)
    except _NotYet as problem:
        _put_off(event, State.RECEIVED, str(problem), now)
    except api.EndlError as problem:
        if not isinstance(problem, api.Rejected):
            line.note_trouble(problem, client=endl, now=now)
        _put_off(event, State.RECEIVED, problem.message, now)
    else:
        deposits.settle(deposit, by=_by(event), now=now)
        checkpoint("before-handled")
        _finish(event, f"The deposit is {deposit.status or 'without a status'}.", now)


def _customer_of(event: WebhookEvent) -> Customer | None:
    """Whose deposit it is: what we know of the deposit goes before what the event says."""
    known = Deposit.objects.filter(endl_id=event.object_endl_id).select_related("customer").first()
    return known.customer if known else Customer.objects.filter(endl_id=event.customer_endl_id).first()


def _reread(event: WebhookEvent, customer: Customer, endl: api.Client, now: datetime) -> Deposit:
    known = Deposit.objects.filter(endl_id=event.object_endl_id).first()
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
        return _from_list(event, customer, endl, now) or _believe(event, customer, known, now)
    if found.deposit_id != event.object_endl_id:
        raise _NotYet("Endl answered with another deposit than was asked for.")
    return sync.take_in_deposit(customer, found, now=now)


def _from_list(event: WebhookEvent, customer: Customer, endl: api.Client, now: datetime) -> Deposit | None:
    """With no single read, ask the list; None where Endl lacks that too."""
    if not reads.is_on(reads.LIST_DEPOSITS, now=now):
        return None
    sync.sync_deposits(customer=customer, endl=endl, by=_by(event), now=now)
    if not reads.is_on(reads.LIST_DEPOSITS, now=now):
        return None
    listed = Deposit.objects.filter(endl_id=event.object_endl_id, missing_since=None).first()
    if listed is None or not sync.is_confirmed(sync.DEPOSITS, customer, since=now):
        raise _NotYet("Endl's list of deposits does not show it yet.")
    return listed


def _believe(event: WebhookEvent, customer: Customer, known: Deposit | None, now: datetime) -> Deposit:
    """With no read at all, a signed event's own data must do, and the deposit says that it rests on it."""
    if known is not None and known.has_ended:
        return known
    found = _told(event, known)
    with transaction.atomic():
        deposit = sync.take_in_deposit(customer, found, now=now)
        if Deposit.objects.filter(pk=deposit.pk, is_not_reread=False).update(is_not_reread=True):
            record("deposit.believed", deposit, by=_by(event), new={"status": deposit.status})
    return deposit


def _told(event: WebhookEvent, known: Deposit | None) -> api.Deposit:
    """The deposit as the event tells it, where type, data and what we know agree. Raises _Unusable."""
    named = KNOWN_TYPES[event.type]
    try:
        found = api.parse_deposit({"status": named, **event.data})
    except api.UnreadableAnswer:
        raise _Unusable("Its data cannot be read as a deposit.") from None
    if found.status != named:
        raise _Unusable(f"Its type says {named}, and its data says {found.status}.")
    if known is not None and found.amount and known.amount not in (None, found.amount.amount):
        raise _Unusable(f"Its amount is {found.amount.text[:60]}, and the deposit's is {known.amount_text}.")
    return found


def _by(event: WebhookEvent) -> str:
    return f"webhook {event.event_id}"[:150]


def _finish(event: WebhookEvent, outcome: str, now: datetime) -> None:
    _close(event, State.HANDLED, outcome, now)


def _fail(event: WebhookEvent, why: str, now: datetime) -> None:
    """Nothing more is tried; a person has to look."""
    _close(event, State.FAILED, why, now)


def _close(event: WebhookEvent, state: WebhookEvent.State, outcome: str, now: datetime) -> None:
    WebhookEvent.objects.filter(pk=event.pk, state__in=(State.RECEIVED, State.WAITING)).update(
        state=state, handled_at=now, outcome=outcome, attempts=F("attempts") + 1, next_attempt_at=None
    )


def _put_off(event: WebhookEvent, state: WebhookEvent.State, why: str, now: datetime) -> None:
    """Try again later, longer each time; after some tries a person has to look."""
    attempts = event.attempts + 1
    given_up = attempts >= _GIVE_UP_AFTER and state == State.RECEIVED
    WebhookEvent.objects.filter(pk=event.pk, state__in=(State.RECEIVED, State.WAITING)).update(
        state=State.FAILED if given_up else state,
        attempts=attempts,
        outcome=why,
        next_attempt_at=None if given_up else now + _WAIT * 2 ** min(attempts, 8),
    )


def _an_id(value: object) -> str:
    """An id as it came; what could never be one is not cut into another."""
    return value if isinstance(value, str) and api.is_id(value) else ""
