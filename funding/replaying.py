"""What a person can do with a webhook event: have it handled again, or ask what that would change."""

from datetime import datetime

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from backoffice.delivery import unknown
from backoffice.mirror import reads
from cards import scope
from cards.models import Customer
from funding import sync
from funding.models import Deposit, WebhookEvent

_COMPARED = {
    "status": "status",
    "amount_text": "amount",
    "currency": "currency",
    "chain": "chain",
    "transaction_hash": "transaction",
    "failure_reason": "failure reason",
    "completed_at": "time of completion",
}


class NothingToDo(Refusal):
    """The event is of a type that is not handled, or is about nothing that is known here."""


@operation("webhook.replay", about="event")
def replay(*, event: WebhookEvent, by: User, now: datetime) -> None:
    """Let a task handle an event once more: the deposit is read again, so doing it twice changes nothing.

    Raises: NotAllowed, NothingToDo.
    """
    scope.check(by, unknown.PERMISSION)
    handled = WebhookEvent.objects.filter(pk=event.pk).exclude(state=WebhookEvent.State.UNKNOWN_TYPE)
    if not handled.update(
        state=WebhookEvent.State.RECEIVED, attempts=0, next_attempt_at=now, handled_at=None
    ):
        raise NothingToDo("Events of this type are kept, and nothing is done with them.")
    record("webhook.replay", event, by=by, old={"state": event.state})


def would_change(event: WebhookEvent, *, endl: api.Client, by: User, now: datetime) -> list[str]:
    """Say what handling the event would change now, by asking Endl and writing nothing.

    Raises: NotAllowed, NothingToDo; what Endl answers instead of a deposit is said in NothingToDo.
    """
    scope.check(by, "funding.view_webhookevent")
    known = Deposit.objects.filter(endl_id=event.object_endl_id).select_related("customer").first()
    customer = known.customer if known else Customer.objects.filter(endl_id=event.customer_endl_id).first()
    if customer is None or not event.object_endl_id:
        raise NothingToDo("Its customer and its deposit are not known here.")
    try:
        found = _ask(event, customer, endl, now)
    except api.EndlError as problem:
        raise NothingToDo(f"Endl did not say: {problem.message}") from None
    return _differences(known, sync.deposit_columns(customer)(found))


def _ask(event: WebhookEvent, customer: Customer, endl: api.Client, now: datetime) -> api.Deposit:
    """The deposit as Endl has it now; where it has no such read, as the event tells it."""
    if reads.is_on(reads.GET_DEPOSIT, now=now):
        return endl.get_deposit(customer.endl_id, event.object_endl_id)
    return api.parse_deposit(event.data)


def _differences(known: Deposit | None, told: dict[str, object]) -> list[str]:
    if known is None:
        return [f"A deposit would appear here: {told['amount_text']} {told['currency']}, {told['status']}."]
    if known.contradicts(str(told["status"])):
        return [f"Nothing: it is {known.status} here, which does not turn back to {told['status']}."]
    return [
        f"Its {words}: {getattr(known, column) or 'nothing'} would become {told[column] or 'nothing'}."
        for column, words in _COMPARED.items()
        if getattr(known, column) != told[column]
    ]
