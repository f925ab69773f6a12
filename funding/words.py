"""A person's recorded word on a deposit, where neither an answer nor a read of Endl's can say it."""

from datetime import datetime

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation
from backoffice.delivery import unknown
from backoffice.delivery.models import State
from backoffice.mirror import reads
from backoffice.money import plain
from cards import scope
from funding import deposits, sync
from funding.models import Deposit, DepositRequest


class NotThisDeposit(Refusal):
    """The id is no deposit that this request can have become."""


@operation("deposit.ask_now", about="request")
def ask_now(*, request: DepositRequest, by: User, now: datetime) -> None:
    """Try an unknown deposit again at once, with its key and bytes. Raises NotAllowed, NotUnknown."""
    scope.check(by, "funding.view_depositrequest", request.wallet.customer)
    unknown.ask_now(request, by=by, now=now)


@operation("deposit.record_outcome", about="request")
def record_nothing_happened(*, request: DepositRequest, said: str, by: User, now: datetime) -> DepositRequest:
    """Record that Endl said the deposit never happened.

    Raises: NotAllowed, OwnWord, NoWord, NotUnknown.
    """
    scope.check(by, unknown.PERMISSION, request.wallet.customer)
    unknown.check_word(request, by=by, said=said)
    return unknown.nothing_happened(request, by=by, said=said, now=now)


@operation("deposit.record_outcome", about="request")
def record_it_happened(
    *, request: DepositRequest, deposit_id: str, status: str, said: str, by: User, now: datetime
) -> DepositRequest:
    """Record which deposit Endl said an unknown request became, and how it stands.

    Args:
        deposit_id: Endl's id of the deposit.
        status: "pending", "completed" or "failed".

    Raises: NotAllowed, OwnWord, NoWord, NotUnknown, NotThisDeposit.
    """
    scope.check(by, unknown.PERMISSION, request.wallet.customer)
    unknown.check_word(request, by=by, said=said)
    deposit = _deposit_of(request, deposit_id, status, now)
    state = deposits.STATES.get(deposit.status, State.SUBMITTED)
    return unknown.it_happened(request, state, by=by, said=said, now=now, deposit=deposit, follow_at=now)


@operation("deposit.record_outcome", about="request")
def record_end(*, request: DepositRequest, status: str, said: str, by: User, now: datetime) -> DepositRequest:
    """Record how a submitted deposit ended, where Endl has no read that could tell.

    Raises: NotAllowed, OwnWord, NoWord, NotUnknown.
    """
    scope.check(by, unknown.PERMISSION, request.wallet.customer)
    unknown.check_word(request, by=by, said=said, states=(State.SUBMITTED,))
    if any(reads.is_on(name, now=now) for name in (reads.GET_DEPOSIT, reads.LIST_DEPOSITS)):
        raise unknown.NotUnknown(
            "Endl can be asked for this deposit; it is followed without a person's word."
        )
    return unknown.it_happened(request, deposits.STATES[status], by=by, said=said, now=now, follow_at=None)


def _deposit_of(request: DepositRequest, deposit_id: str, status: str, now: datetime) -> Deposit:
    """The deposit by its id: as Endl told it, else on the person's word and marked as not re-read."""
    customer = request.wallet.customer
    known = Deposit.objects.filter(endl_id=deposit_id).first()
    if known is None:
        told = {
            "depositId": deposit_id,
            "customerId": customer.endl_id,
            "walletId": request.wallet.endl_id,
            "amount": {"amount": plain(request.amount), "currency": request.currency},
            "status": status,
        }
        known = sync.take_in_deposit(customer, api.parse_deposit(told), now=now)
        Deposit.objects.filter(pk=known.pk).update(is_not_reread=True)
    if known.customer_id != customer.pk or DepositRequest.objects.filter(deposit=known).exists():
        raise NotThisDeposit("This deposit belongs to another customer or another request.")
    return known
