"""Deposits and withdrawals of a customer, made true from Endl's lists and single reads."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from backoffice import endl as api
from backoffice.audit.trail import Actor, record
from backoffice.delivery import line
from backoffice.mirror import pull, reads
from backoffice.mirror.models import Pull
from cards.models import Customer
from funding.models import Deposit, Wallet, Withdrawal

DEPOSITS, WITHDRAWALS = "deposits", "withdrawals"
# What a column of twelve places and forty digits holds; a larger amount keeps its text only.
_TOO_LARGE = Decimal(10) ** 28


def sync_deposits(*, customer: Customer, endl: api.Client, by: Actor, now: datetime) -> pull.Taken:
    """Read a customer's deposits and take in what changed. What stands in the way is kept with the pull."""
    return _sync(
        DEPOSITS,
        customer,
        lambda: reads.ask(
            reads.LIST_DEPOSITS,
            lambda: endl.list_deposits(customer.endl_id),
            is_known=bool(customer.is_known),
            now=now,
        ),
        lambda listed: _take_in_deposits(customer, listed, now),
        endl=endl,
        by=by,
        now=now,
    )


def sync_withdrawals(*, customer: Customer, endl: api.Client, by: Actor, now: datetime) -> pull.Taken:
    """Read a customer's withdrawals and take in what changed; trouble is kept with the pull."""
    return _sync(
        WITHDRAWALS,
        customer,
        lambda: reads.ask(
            reads.LIST_WITHDRAWALS,
            lambda: endl.list_withdrawals(customer.endl_id),
            is_known=bool(customer.is_known),
            now=now,
        ),
        lambda listed: _take_in_withdrawals(customer, listed, now),
        endl=endl,
        by=by,
        now=now,
    )


def _sync(
    kind: str,
    customer: Customer,
    question: Callable[[], api.Listing[Any]],
    take_in: Callable[[api.Listing[Any]], pull.Taken],
    *,
    endl: api.Client,
    by: Actor,
    now: datetime,
) -> pull.Taken:
    running = pull.start(kind, customer.endl_id, now=now)
    if running is None:
        return pull.Taken()
    try:
        listed = question()
    except reads.SwitchedOff:
        pull.fail(running, "Endl has no such list on this connection.", now=now)
        return pull.Taken()
    except api.EndlError as problem:
        if not isinstance(problem, api.Rejected):
            line.note_trouble(problem, client=endl, now=now)
        pull.fail(running, problem.message, now=now)
        return pull.Taken()
    with transaction.atomic():
        taken = take_in(listed)
        pull.confirm(running, items=len(listed.items), unreadable=listed.unreadable, now=now)
        if taken.is_news:
            record(f"customer.sync_{kind}", customer, by=by, new=taken.as_counts())
    line.note_answer(now=now)
    return taken


def is_confirmed(kind: str, customer: Customer, *, since: datetime) -> bool:
    """Whether a customer's list was read whole at a moment or later."""
    pulls = Pull.objects.filter(kind=kind, customer_endl_id=customer.endl_id, confirmed_at__gte=since)
    return pulls.exists()


def take_in_deposit(
    customer: Customer, found: api.Deposit, *, now: datetime, as_of: datetime | None = None
) -> Deposit:
    """Take in one deposit, from an answer or a single read; `as_of` as in `pull.take_in`."""
    _learn_wallets(customer, {found.wallet_id}, found.chain, now)
    return pull.take_one(Deposit, found, deposit_columns(customer), now=now, as_of=as_of)


def take_in_withdrawal(customer: Customer, found: api.Withdrawal, *, now: datetime) -> Withdrawal:
    """Take in one withdrawal, from a single read."""
    _learn_wallets(customer, {_wallet_of(found)}, found.chain, now)
    return pull.take_one(Withdrawal, found, _withdrawal_columns(customer), now=now)


def reread_deposit(deposit: Deposit, *, endl: api.Client, now: datetime) -> Deposit:
    """Read a deposit again. Raises SwitchedOff where Endl has no such read, and EndlError."""
    found = reads.ask(
        reads.GET_DEPOSIT,
        lambda: endl.get_deposit(deposit.customer.endl_id, deposit.endl_id),
        is_known=hasattr(deposit, "request"),
        now=now,
    )
    if found.deposit_id != deposit.endl_id:
        raise api.UnreadableAnswer("Endl answered with another deposit than was asked for.")
    kept = take_in_deposit(deposit.customer, found, now=now)
    return kept if _confirm_reread(deposit.customer, [found]) == 0 else Deposit.objects.get(pk=kept.pk)


def _confirm_reread(customer: Customer, found: list[api.Deposit]) -> int:
    """A state that rested on a webhook's word stands on its own feet when a read says the same."""
    believed = Deposit.objects.filter(customer=customer, is_not_reread=True, contradiction="")
    told = {(deposit.deposit_id, deposit.status) for deposit in found}
    again = [row.pk for row in believed if (row.endl_id, row.status) in told]
    return Deposit.objects.filter(pk__in=again).update(is_not_reread=False) if again else 0


def _take_in_deposits(customer: Customer, listed: api.Listing[api.Deposit], now: datetime) -> pull.Taken:
    found = listed.items
    _learn_wallets(customer, {deposit.wallet_id for deposit in found}, None, now)
    rows = Deposit.objects.filter(customer=customer)
    taken = pull.take_in(
        rows, _own(Deposit, customer, found), deposit_columns(customer), now=now, whole=_is_whole(listed)
    )
    _confirm_reread(customer, found)
    return taken


def _take_in_withdrawals(
    customer: Customer, listed: api.Listing[api.Withdrawal], now: datetime
) -> pull.Taken:
    found = listed.items
    _learn_wallets(customer, {_wallet_of(withdrawal) for withdrawal in found}, None, now)
    rows = Withdrawal.objects.filter(customer=customer)
    return pull.take_in(
        rows,
        _own(Withdrawal, customer, found),
        _withdrawal_columns(customer),
        now=now,
        whole=_is_whole(listed),
    )


def _is_whole(listed: api.Listing[Any]) -> bool:
    """Whether the list can tell what is missing: what could not be read may be any of our rows."""
    return listed.unreadable == 0


def _own[S: (api.Deposit, api.Withdrawal)](
    model: type[Deposit] | type[Withdrawal], customer: Customer, found: list[S]
) -> list[S]:
    """Leave out what we know as another customer's: a row never changes hands, and with it who may see it."""
    ids = [each.own_id for each in found]
    others = set(
        model._default_manager.filter(endl_id__in=ids)
        .exclude(customer=customer)
        .values_list("endl_id", flat=True)
    )
    return [each for each in found if each.own_id not in others]


def _learn_wallets(customer: Customer, ids: Iterable[str | None], chain: str | None, now: datetime) -> None:
    """Wallets have no read of their own: those that appear in money's movements are kept."""
    seen = {wallet_id for wallet_id in ids if wallet_id and api.is_id(wallet_id)}
    known = set(Wallet.objects.filter(endl_id__in=seen).values_list("endl_id", flat=True))
    Wallet.objects.bulk_create(
        [
            Wallet(
                endl_id=new,
                customer=customer,
                source=Wallet.Source.LEARNED,
                chain=(chain or "")[:40],
                added_at=now,
            )
            for new in sorted(seen - known)
        ],
        ignore_conflicts=True,
    )


def _wallet_of(found: api.Withdrawal) -> str | None:
    return found.destination.wallet_id if found.destination else None


def _movement_columns(found: api.Deposit | api.Withdrawal) -> dict[str, Any]:
    money = found.amount
    return {
        "status": (found.status or "")[:100],
        "amount_text": money.text[:80] if money else "",
        "amount": money.amount if money and abs(money.amount) < _TOO_LARGE else None,
        "currency": money.currency[:40] if money else "",
        "chain": (found.chain or "")[:80],
        "transaction_hash": (found.transaction_hash or "")[:200],
        "failure_reason": _as_text(found.failure_reason),
        "created_at": found.created_at,
        "completed_at": found.completed_at,
    }


def _as_text(reason: Any) -> str:
    """A failure reason as a person reads it: Endl does not say whether it is text or an object."""
    if reason is None or isinstance(reason, str):
        return reason or ""
    if isinstance(reason, dict) and isinstance(reason.get("message"), str):
        return str(reason["message"])
    return json.dumps(reason, default=str, ensure_ascii=False)


def _wallet_ids(customer: Customer) -> dict[str, int]:
    return dict(Wallet.objects.filter(customer=customer).values_list("endl_id", "pk"))


def deposit_columns(customer: Customer) -> pull.Columns[api.Deposit]:
    wallets = _wallet_ids(customer)

    def columns(found: api.Deposit) -> dict[str, Any]:
        return {
            "endl_id": found.deposit_id,
            "customer_id": customer.pk,
            "wallet_id": wallets.get(found.wallet_id or ""),
            "method": (found.method or "")[:40],
            "is_not_reread": False,
            **_movement_columns(found),
        }

    return columns


def _withdrawal_columns(customer: Customer) -> pull.Columns[api.Withdrawal]:
    wallets = _wallet_ids(customer)

    def columns(found: api.Withdrawal) -> dict[str, Any]:
        destination = found.destination
        return {
            "endl_id": found.withdrawal_id,
            "customer_id": customer.pk,
            "destination_wallet_id": wallets.get(_wallet_of(found) or ""),
            "destination_address": ((destination.address if destination else "") or "")[:200],
            **_movement_columns(found),
        }

    return columns
