"""Withdrawals: found by sync or by their id, and followed until they end."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from backoffice.delivery import line
from cards import customers, scope
from cards.models import Customer
from funding import sync
from funding.models import Withdrawal


class NoSuchWithdrawal(Refusal):
    """Endl does not give us such a withdrawal."""


class NoSuchCustomer(Refusal):
    """Endl does not let us ask for this customer's withdrawals, or does not know the customer."""


class NoWord(Refusal):
    """Endl could not be asked; whether there is such a withdrawal is not known."""


def fetch_withdrawal(
    *, customer: Customer, endl_id: str, endl: api.Client, by: User, now: datetime
) -> Withdrawal:
    """Read a withdrawal from Endl by its id. It is stored only from Endl's answer.

    Raises: NotAllowed, NoSuchWithdrawal, NoSuchCustomer, NoWord.
    """
    _begin(customer=customer, by=by)
    if line.is_paused():
        raise NoWord("The line to Endl is paused: nothing can be looked up until it works again.")
    try:
        found = _read(customer, endl_id, endl)
    except api.EndlError as problem:
        _note(customer, problem, endl, now)
        raise _refusal(problem) from None
    line.note_answer(now=now)
    return _keep_for(customer=customer, found=found, by=by, now=now)


@operation("withdrawal.look_up", about="customer")
def _begin(*, customer: Customer, by: User) -> None:
    """Check who asks before anything leaves the building. Raises NotAllowed."""
    scope.check(by, "funding.add_withdrawal", customer)


@operation("withdrawal.keep", about="customer")
def _keep_for(*, customer: Customer, found: api.Withdrawal, by: User, now: datetime) -> Withdrawal:
    return _keep(customer, found, by=by, now=now)


def _read(customer: Customer, endl_id: str, endl: api.Client) -> api.Withdrawal:
    found = endl.get_withdrawal(customer.endl_id, endl_id)
    if found.withdrawal_id != endl_id or found.customer_id not in (None, customer.endl_id):
        raise api.UnreadableAnswer("Endl answered with another withdrawal than was asked for.")
    return found


@operation("withdrawal.look_again", about="withdrawal")
def ask_to_look(*, withdrawal: Withdrawal, by: User) -> None:
    """Put on record that a person wants a withdrawal looked at now; a worker does it. Raises NotAllowed."""
    scope.check(by, "funding.add_withdrawal", withdrawal.customer)
    record("withdrawal.look_again", withdrawal, by=by)


def due(*, now: datetime) -> QuerySet[Withdrawal]:
    """The withdrawals that have not ended and were not looked at for a while."""
    looked = Q(looked_at=None) | Q(looked_at__lt=now - timedelta(seconds=settings.FOLLOW_SECONDS))
    return Withdrawal.objects.filter(looked, missing_since=None).exclude(status__in=Withdrawal.ENDED)


def follow(withdrawal: Withdrawal, *, endl: api.Client, now: datetime) -> None:
    """Look at a withdrawal again."""
    Withdrawal.objects.filter(pk=withdrawal.pk).update(looked_at=now)
    customer = withdrawal.customer
    try:
        found = _read(customer, withdrawal.endl_id, endl)
    except api.EndlError as problem:
        _note(customer, problem, endl, now)
        if isinstance(problem, api.NotFound) and problem.code is None:
            Withdrawal.objects.filter(pk=withdrawal.pk, missing_since=None).update(missing_since=now)
        return
    with transaction.atomic():
        _keep(customer, found, by="system: follow", now=now)


def _keep(customer: Customer, found: api.Withdrawal, *, by: User | str, now: datetime) -> Withdrawal:
    before = Withdrawal.objects.filter(endl_id=found.withdrawal_id).first()
    if before is not None and before.customer_id != customer.pk:
        raise NoSuchWithdrawal("Endl has no such withdrawal for this customer.")
    kept = sync.take_in_withdrawal(customer, found, now=now)
    Withdrawal.objects.filter(pk=kept.pk).update(looked_at=now)
    customers.learn_accepted(customer, now=now)
    if before is None or before.digest != kept.digest:
        record("withdrawal.read", kept, by=by, new={"status": kept.status})
    return kept


def _note(customer: Customer, problem: api.EndlError, endl: api.Client, now: datetime) -> None:
    if not isinstance(problem, api.Rejected):
        line.note_trouble(problem, client=endl, now=now)
    elif problem.code == "ERRREF_1001":
        customers.learn_refused(customer, problem, now=now)


def _refusal(problem: api.EndlError) -> Refusal:
    """What to tell the person, and by its class which field it belongs to."""
    if problem.code == "ERRREF_1001":
        return NoSuchCustomer(f"Endl does not know this customer: {problem.message}.".replace("..", "."))
    if isinstance(problem, api.InvalidId | api.NotFound):
        return NoSuchWithdrawal(f"Endl has no such withdrawal for this customer: {problem.message}")
    if isinstance(problem, api.Rejected | api.OursToFix):
        return NoSuchCustomer(f"Endl refuses to answer for this customer: {problem.message} {problem.remedy}")
    return NoWord(f"Endl did not answer as it should, so nothing was stored. {problem.remedy}")
