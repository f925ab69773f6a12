"""The sample world: the same for the same moment, with readable ids."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from backoffice.emulator import clock
from backoffice.emulator.numbers import card_number
from backoffice.emulator.seeds import sow
from backoffice.emulator.wire import Doc
from backoffice.emulator.world import World

_CUSTOMERS = (
    ("cus_aurora", "Aurora Travel", "business", True, "active"),
    ("cus_birch", "Birch & Company", "business", True, "active"),
    ("cus_cedar", "Cedar Works", "business", False, "none"),
    ("cus_dana", "Dana Whitfield", "individual", False, "active"),
    ("cus_eli", "Eli Novak", "employee", False, "active"),
)
_WALLETS = (
    ("wlt_aurora_usdc", "cus_aurora", "Aurora treasury", "base", "USDC", "250000.00"),
    ("wlt_aurora_usd", "cus_aurora", "Aurora operating account", "base", "USD", "80000.00"),
    ("wlt_birch_usdt", "cus_birch", "Birch settlement", "tron", "USDT", "40000.00"),
    ("wlt_dana_usdc", "cus_dana", "Dana's wallet", "polygon", "USDC", "3000.00"),
    ("wlt_eli_usd", "cus_eli", "Eli's wallet", "base", "USD", "500.00"),
)
_PEOPLE = (
    ("cus_aurora", "Amara", "Osei", "active"),
    ("cus_aurora", "Bruno", "Keller", "active"),
    ("cus_aurora", "Chiara", "Rossi", "active"),
    ("cus_aurora", "Dmitri", "Volkov", "pending"),
    ("cus_aurora", "Elena", "García", "active"),
    ("cus_aurora", "Farid", "Haddad", "disabled"),
    ("cus_aurora", "Grace", "Lindqvist", "active"),
    ("cus_birch", "Hana", "Sato", "active"),
    ("cus_birch", "Ivan", "Petrov", "active"),
    ("cus_birch", "Joana", "Silva", "active"),
    ("cus_birch", "Kofi", "Mensah", "pending"),
    ("cus_birch", "Łucja", "Nowak", "active"),
)
_CARD_STATES = ("active", "used", "used", "expired", "cancelled")
_PAYERS = _WALLETS[:4]
_ADDRESS = "0x52908400098527886e0f7030069857d2e4169ee7"


def build(world: World, now: str) -> Doc:
    """Create the sample world as of `now`; a second call changes nothing. Answers what it made."""
    moment = clock.read(now)
    if moment is None:
        raise ValueError("now must be an ISO 8601 time")
    with world.transaction():
        made = world.fact("sample")
        if made is None:
            made = json.dumps(_make(world, moment))
            world.set_fact("sample", made)
    described: Doc = json.loads(made)
    return described


def _make(world: World, now: datetime) -> Doc:
    kinds: dict[str, list[Doc]] = {
        "customers": _customers(now),
        "wallets": _wallets(),
        "cardholders": _cardholders(now),
        "cards": _cards(now),
        "deposits": _deposits(now),
        "withdrawals": _withdrawals(now),
    }
    sow(world, kinds)
    return {"now": clock.written(now), **kinds}


def _ago(now: datetime, *, days: int, minutes: int = 0) -> str:
    return clock.written(now - timedelta(days=days, minutes=minutes))


def _hash(*parts: object) -> str:
    """A transaction hash that is the same each time."""
    return "0x" + hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()


def _customers(now: datetime) -> list[Doc]:
    return [
        {
            "customerId": identity,
            "name": name,
            "type": kind,
            "cardsEnabled": enabled,
            "enrolment": enrolment,
            "createdAt": _ago(now, days=120),
        }
        for identity, name, kind, enabled, enrolment in _CUSTOMERS
    ]


def _wallets() -> list[Doc]:
    return [
        {
            "walletId": identity,
            "customerId": customer,
            "label": label,
            "chain": chain,
            "currency": currency,
            "balances": [{"chain": chain, "currency": currency, "amount": amount}],
        }
        for identity, customer, label, chain, currency, amount in _WALLETS
    ]


def _cardholder_id(index: int) -> str:
    return f"chd_{_PEOPLE[index][0].removeprefix('cus_')}_{index + 1}"


def _cardholders(now: datetime) -> list[Doc]:
    return [
        {
            "cardholderId": _cardholder_id(index),
            "customerId": customer,
            "firstName": first,
            "lastName": last,
            "email": f"person{index + 1}@{customer.removeprefix('cus_')}.example.com",
            "phone": f"+120255501{index:02d}",
            "status": status,
            "createdAt": _ago(now, days=90 - 6 * index),
        }
        for index, (customer, first, last, status) in enumerate(_PEOPLE)
    ]


def _cards(now: datetime) -> list[Doc]:
    holders = [index for index, person in enumerate(_PEOPLE) if person[3] != "pending"]
    return [_card(now, number, holders[number % len(holders)]) for number in range(24)]


def _card(now: datetime, number: int, holder: int) -> Doc:
    # Issued after the cardholder came, and the newest ones first to be still in use.
    days = max(0, min(88 - 6 * holder, 72 - 3 * number))
    state = "active" if days < 10 else _CARD_STATES[number % len(_CARD_STATES)]
    return {
        "cardId": f"crd_sample_{number + 1:02d}",
        "cardholderId": _cardholder_id(holder),
        "type": "scoped",
        "last4": card_number(900_000_000 + number * 7919)[-4:],
        "expiryMonth": number % 12 + 1,
        "expiryYear": now.year + 3,
        "amountInUSDCents": 2_500 + 1_375 * number,
        "memo": None,
        "status": state,
        "createdAt": _ago(now, days=days, minutes=17 * number),
    }


def _transfer(now: datetime, number: int, *, days: int, status: str, prefix: str) -> Doc:
    _, customer, _, chain, currency, _ = _PAYERS[number % len(_PAYERS)]
    minutes = 37 * number
    done = status == "completed"
    fee: list[Any] = [{"type": "transaction_fee", "amount": {"amount": "0.50", "currency": currency}}]
    return {
        "customerId": customer,
        "amount": {"amount": f"{150 + 85 * number}.00", "currency": currency},
        "chain": chain,
        "transactionHash": _hash(prefix, number) if done else None,
        "fees": fee if done else [],
        "status": status,
        "failureReason": "The transfer was rejected by the network" if status == "failed" else None,
        "createdAt": _ago(now, days=days, minutes=minutes + 2),
        "completedAt": _ago(now, days=days, minutes=minutes) if done else None,
    }


def _deposits(now: datetime) -> list[Doc]:
    return [_deposit(now, number) for number in range(20)]


def _deposit(now: datetime, number: int) -> Doc:
    status = "failed" if number in (5, 14) else "pending" if number == 19 else "completed"
    # One that is on its way is hours old, and settles while somebody is watching.
    days = 0 if status == "pending" else 88 - 4 * number
    deposit = _transfer(now, number, days=days, status=status, prefix="deposit")
    deposit["depositId"] = f"cdp_sample_{number + 1:02d}"
    if number % 7 == 3:
        return {**deposit, "method": "external"}
    if status == "pending":
        deposit["settleInSeconds"] = 600
    return {**deposit, "method": "endl_account", "walletId": _PAYERS[number % len(_PAYERS)][0]}


def _withdrawals(now: datetime) -> list[Doc]:
    return [_withdrawal(now, number) for number in range(16)]


def _withdrawal(now: datetime, number: int) -> Doc:
    status = {4: "failed", 14: "pending", 15: "pending"}.get(number, "completed")
    days = 15 - number if status == "pending" else 86 - 5 * number
    withdrawal = _transfer(now, number, days=days, status=status, prefix="withdrawal")
    if status == "failed":
        # Endl does not say what type a reason has; here is the other one.
        withdrawal["failureReason"] = {
            "code": "address_rejected",
            "message": "The address refused the transfer",
        }
    wallet = _PAYERS[number % len(_PAYERS)][0]
    destination = {"address": _ADDRESS} if number % 3 == 2 else {"walletId": wallet}
    return {**withdrawal, "withdrawalId": f"cwd_sample_{number + 1:02d}", "destination": destination}
