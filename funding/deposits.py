"""Deposits: asked for by one person, approved by another, sent once, followed until they end."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.approvals import rules
from backoffice.approvals.books import Book
from backoffice.audit.trail import Refusal, operation, record
from backoffice.delivery import desk, line
from backoffice.delivery.models import Hold, State
from backoffice.delivery.road import GateClosed, Road
from backoffice.mirror import pull, reads
from backoffice.money import plain
from cards import customers, scope
from cards.models import Customer
from funding import sync
from funding.models import Deposit, DepositRequest, Wallet

PERMISSION = "approvals.decide_deposits"
# For so long an equal request is worth a question before a second one is made.
ALIKE_WITHIN = timedelta(hours=24)
# A request that ended so can be asked for again, corrected.
CAN_BE_REPLACED = (State.REJECTED, State.CANCELLED, State.EXPIRED, State.REFUSED, State.FAILED)


class NoDeposit(Refusal):
    """This customer or wallet cannot be used for a deposit."""


@operation("deposit.request", about="wallet")
def request_deposit(
    *,
    wallet: Wallet,
    amount: Decimal,
    chain: str,
    note: str,
    form_token: str,
    by: User,
    now: datetime,
    replaces: DepositRequest | None = None,
) -> DepositRequest:
    """Ask for a deposit from a wallet onto its customer's card balance. The active rules say who approves it.

    Args:
        amount: in the wallet's currency, more than zero.
        chain: blank for the wallet's own.
        note: what it is for; kept here and never sent.
        form_token: of the page that was posted; a second click finds what the first one made.
        replaces: the cancelled or rejected request that this one is a corrected copy of.

    Raises: NotAllowed, NoDeposit.
    """
    scope.check(by, "funding.add_depositrequest", wallet.customer)
    if posted := desk.posted_before(DepositRequest, form_token, by=by):
        return posted
    if reason := why_no_deposit(wallet):
        raise NoDeposit(reason)
    call = api.call_start_deposit(
        customer_id=wallet.customer.endl_id,
        wallet_id=wallet.endl_id,
        amount=api.Money.of(plain(amount), wallet.currency),
        chain=chain or None,
    )
    wish = DepositRequest(
        wallet=wallet,
        amount=amount,
        currency=wallet.currency,
        chain=chain,
        note=note,
        replaces=replaces,
        form_token=form_token,
        **desk.committed(call, by=by, now=now),
    )
    desk.ask(wish, now=now)
    wish, is_new = desk.commit(wish, by=by)
    if is_new:
        told = {"amount": f"{plain(amount)} {wallet.currency}", "wallet": wallet.endl_id}
        record("deposit.request", wish, by=by, reason=note, new=told)
    return wish


@operation("deposit.approve", about="request")
def approve_deposit(
    *, request: DepositRequest, by: User, seen: str, now: datetime, reason: str = ""
) -> DepositRequest:
    """Approve a deposit. Raises: see `desk.approve`, and NotAllowed."""
    scope.check(by, PERMISSION, request.wallet.customer)
    return desk.approve(request, by=by, seen=seen, reason=reason, now=now)


@operation("deposit.reject", about="request")
def reject_deposit(
    *, request: DepositRequest, by: User, seen: str, reason: str, now: datetime
) -> DepositRequest:
    """Reject a deposit. Raises: see `desk.reject`, and NotAllowed."""
    scope.check(by, PERMISSION, request.wallet.customer)
    return desk.reject(request, by=by, seen=seen, reason=reason, now=now)


@operation("deposit.cancel", about="request")
def cancel_deposit(*, request: DepositRequest, by: User, now: datetime, reason: str = "") -> DepositRequest:
    """Take back a deposit that was not sent yet. Raises NotTheMaker, TooLate."""
    return desk.cancel(request, by=by, reason=reason, now=now)


def alike(*, wallet: Wallet, amount: Decimal, now: datetime) -> QuerySet[DepositRequest]:
    """The requests of the last day for the same amount from the same wallet that were not turned down."""
    came_to_nothing = (State.REJECTED, State.CANCELLED, State.EXPIRED, State.REFUSED)
    return DepositRequest.objects.filter(
        wallet=wallet, amount=amount, created_at__gt=now - ALIKE_WITHIN
    ).exclude(state__in=came_to_nothing)


def why_no_deposit(wallet: Wallet) -> str:
    """Say why a wallet cannot be used for a deposit; blank when it can, as far as we know."""
    customer = wallet.customer
    if not customer.is_active:
        return f"{customer} is not in use here."
    if customer.is_known is False:
        return f"Endl does not know {customer.endl_id}: correct the customer first."
    if customer.type == Customer.Type.EMPLOYEE:
        return f"{customer} is an employee: Endl refuses deposits for employees."
    if not wallet.is_active:
        return f"The wallet {wallet} is not in use here."
    if not wallet.currency:
        return f"The wallet {wallet} has no currency yet: complete it first."
    return ""


def facts_of(wish: DepositRequest) -> dict[str, Any]:
    """What an approval of this deposit binds to."""
    return desk.facts_of(
        wish,
        wallet=wish.wallet.endl_id,
        amount=plain(wish.amount),
        currency=wish.currency,
        chain=wish.chain,
        note=wish.note,
    )


def _gate(wish: DepositRequest, now: datetime) -> None:
    if reason := why_no_deposit(wish.wallet):
        raise GateClosed(reason)


# Endl's word on a deposit, in our states. Whatever else it says, the deposit is on its way.
STATES = {"completed": State.COMPLETED, "failed": State.FAILED}


def _arrive(wish: DepositRequest, made: api.Deposit, now: datetime) -> None:
    """Take in the deposit that Endl made, and go to the state that it has come to."""
    row = DepositRequest.objects.select_for_update().get(pk=wish.pk)
    if row.deposit_id is not None:
        return
    # A repeat brings the first answer back, which may be older than what a webhook has told since.
    deposit = sync.take_in_deposit(wish.wallet.customer, made, now=now, as_of=wish.first_attempt_at)
    if row.has_ended:
        _alarm_against_our_end(row, deposit)
        return
    state = STATES.get(deposit.status, State.SUBMITTED)
    DepositRequest.objects.filter(pk=row.pk).update(
        deposit=deposit,
        state=state,
        state_at=now,
        lease_until=None,
        needs_person=False,
        follow_at=now,
        outcome_code="",
        outcome_message=_reason_of(deposit),
        outcome_field="",
        outcome_remedy="",
    )
    customers.learn_accepted(wish.wallet.customer, now=now, is_enrolled=True)
    _alarm_if_other(row, deposit)
    record(
        f"deposit.{state}",
        row,
        by="system: sender",
        new={"deposit": deposit.endl_id, "status": deposit.status},
    )


def _alarm_against_our_end(wish: DepositRequest, deposit: Deposit) -> None:
    """A deposit that came although its request ended without one is an alarm for a person."""
    told = f"Endl made it, although its request is {wish.state}."
    Deposit.objects.filter(pk=deposit.pk).update(contradiction=told)
    record("deposit.contradiction", wish, by="system: sender", new={"deposit": deposit.endl_id, "told": told})


def difference(wish: DepositRequest, deposit: Deposit) -> str:
    """Say how a deposit differs from what was asked for; blank when it does not, as far as Endl told."""
    asked = (wish.amount, wish.currency, wish.wallet.endl_id)
    got = (
        wish.amount if deposit.amount is None else deposit.amount,
        deposit.currency or wish.currency,
        deposit.wallet.endl_id if deposit.wallet else str(deposit.payload.get("walletId") or asked[2]),
    )
    if asked == got:
        return ""
    wanted = f"{plain(asked[0])} {asked[1]} from {asked[2]}"
    return f"Endl made {plain(got[0])} {got[1]} from {got[2]}; asked was {wanted}."


def _alarm_if_other(wish: DepositRequest, deposit: Deposit) -> None:
    """A deposit of another amount, currency or wallet than was asked for is an alarm for a person."""
    if told := difference(wish, deposit):
        Deposit.objects.filter(pk=deposit.pk).update(contradiction=told[:200])
        record("deposit.differs", wish, by="system: sender", new={"difference": told})


def settle(deposit: Deposit, *, by: str, now: datetime) -> None:
    """Let the request of a deposit follow it to its end. An end never turns back."""
    state = STATES.get(deposit.status)
    if state is None:
        return
    open_requests = DepositRequest.objects.filter(deposit=deposit, state=State.SUBMITTED)
    end = {"state": state, "state_at": now, "follow_at": None, "outcome_message": _reason_of(deposit)}
    with transaction.atomic():
        if open_requests.update(**end):
            wish = DepositRequest.objects.get(deposit=deposit)
            record(f"deposit.{state}", wish, by=by, new={"status": deposit.status})


def sync_money(*, customer: Customer, endl: api.Client, by: str, now: datetime) -> pull.Taken:
    """Make a customer's deposits and withdrawals true, and let the requests follow. Returns what changed."""
    taken = sync.sync_deposits(customer=customer, endl=endl, by=by, now=now)
    taken += sync.sync_withdrawals(customer=customer, endl=endl, by=by, now=now)
    settle_ended(customer=customer, by=by, now=now)
    return taken


def settle_ended(*, customer: Customer, by: str, now: datetime) -> None:
    """Let every request of a customer follow whose deposit has ended, such as after a sync."""
    ended = Deposit.objects.filter(
        customer=customer, request__state=State.SUBMITTED, status__in=Deposit.ENDED
    )
    for deposit in ended:
        settle(deposit, by=by, now=now)


def _reason_of(deposit: Deposit) -> str:
    return deposit.failure_reason if deposit.status == "failed" else ""


def follow(wish: DepositRequest, *, endl: api.Client, now: datetime) -> None:
    """Look at a submitted deposit again, by the read that Endl has. Webhooks do the same, sooner."""
    assert wish.deposit is not None
    try:
        settle(_look_at(wish.deposit, endl, now), by="system: follow", now=now)
    except api.EndlError as problem:
        line.note_trouble(problem, client=endl, now=now)
    wait = min(
        max((now - wish.state_at) / 4, timedelta(seconds=settings.FOLLOW_SECONDS / 3)), timedelta(hours=1)
    )
    DepositRequest.objects.filter(pk=wish.pk, state=State.SUBMITTED).update(follow_at=now + wait)


def _look_at(deposit: Deposit, endl: api.Client, now: datetime) -> Deposit:
    """Read a deposit alone; where Endl has no such read, by the list."""
    try:
        return sync.reread_deposit(deposit, endl=endl, now=now)
    except reads.SwitchedOff:
        sync.sync_deposits(customer=deposit.customer, endl=endl, by="system: follow", now=now)
        deposit.refresh_from_db()
        return deposit


def learn_from_refusal(wish: DepositRequest, error: api.EndlError, now: datetime) -> None:
    """Keep what a refusal says of the customer."""
    customers.learn_refused(wish.wallet.customer, error, now=now)


BOOK = Book(
    kind=DepositRequest.kind,
    model=DepositRequest,
    roles={rules.CHECKER: PERMISSION},
    facts=facts_of,
    summary=lambda wish: f"{plain(wish.amount)} {wish.currency} from {wish.wallet}",
    amount="amount",
    currency="currency",
    customer="wallet__customer__endl_id",
    wallet="wallet__endl_id",
    select=("wallet__customer", "approval__rule_set", "maker"),
)
ROAD: Road[DepositRequest, api.Deposit] = Road(
    model=DepositRequest,
    hold=Hold.Scope.MONEY,
    made="deposit",
    facts=facts_of,
    read=api.read_deposit,
    gate=_gate,
    arrive=_arrive,
    refused=learn_from_refusal,
)
