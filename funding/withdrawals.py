"""Withdrawals: found by sync or by their id, and followed until they end."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.audit.trail import NotAllowed, Refusal, record
from backoffice.delivery import line
from cards import customers, scope
from cards.models import Customer
from funding import sync
from funding.models import Withdrawal


class NoSuchWithdrawal(Refusal):
    """Endl did not give us such a withdrawal."""


def fetch_withdrawal(
    *, customer: Customer, endl_id: str, endl: api.Client, by: User, now: datetime
) -> Withdrawal:
    """Read a withdrawal from Endl by its id. It is stored only from Endl's answer.

    Raises: NotAllowed, NoSuchWithdrawal.
    """
    scope.check(by, "funding.add_withdrawal", customer)
    try:
        found = endl.get_withdrawal(customer.endl_id, endl_id)
    except api.EndlError as problem:
        _note(customer, problem, endl, now)
        raise NoSuchWithdrawal(_sentence(problem)) from None
    if found.withdrawal_id != endl_id or found.customer_id not in (None, customer.endl_id):
        raise NoSuchWithdrawal(
            "Endl answered with another withdrawal than was asked for; nothing was stored."
        )
    return _keep(customer, found, by=by, now=now)


def due(*, now: datetime) -> QuerySet[Withdrawal]:
    """The withdrawals that have not ended and were not looked at for a while."""
    looked = Q(looked_at=None) | Q(looked_at__lt=now - timedelta(seconds=settings.FOLLOW_SECONDS))
    return Withdrawal.objects.filter(looked, missing_since=None).exclude(status__in=Withdrawal.ENDED)


def follow(withdrawal: Withdrawal, *, endl: api.Client, now: datetime) -> None:
    """Look at a withdrawal again."""
    Withdrawal.objects.filter(pk=withdrawal.pk).update(looked_at=now)
    customer = withdrawal.customer
    try:
        found = endl.get_withdrawal(customer.endl_id, withdrawal.endl_id)
    except api.EndlError as problem:
        _note(customer, problem, endl, now)
        return
    _keep(customer, found, by="system: follow", now=now)


def _keep(customer: Customer, found: api.Withdrawal, *, by: User | str, now: datetime) -> Withdrawal:
    before = Withdrawal.objects.filter(endl_id=found.withdrawal_id).first()
    if before is not None and before.customer_id != customer.pk:
        raise NotAllowed("This withdrawal belongs to another customer.")
    kept = sync.take_in_withdrawal(customer, found, now=now)
    customers.learn_accepted(customer, now=now)
    if before is None or before.digest != kept.digest:
        record("withdrawal.read", kept, by=by, new={"status": kept.status})
    return kept


def _note(customer: Customer, problem: api.EndlError, endl: api.Client, now: datetime) -> None:
    if not isinstance(problem, api.Rejected):
        line.note_trouble(problem, client=endl, now=now)
    elif problem.code == "ERRREF_1001":
        customers.learn_refused(customer, problem, now=now)


def _sentence(problem: api.EndlError) -> str:
    if isinstance(problem, api.NotFound):
        return f"Endl has no such withdrawal for this customer: {problem.message}"
    return f"Endl did not answer as it should: {problem.message} {problem.remedy}".strip()
