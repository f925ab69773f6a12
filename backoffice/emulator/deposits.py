"""Deposits: started by the partner, settled by the emulator."""

from __future__ import annotations

import secrets
from typing import Any

from backoffice.emulator import clock, events, ledger, replay, rules
from backoffice.emulator.customers import funding_customer, known_customer, new_id
from backoffice.emulator.errors import uncoded
from backoffice.emulator.listing import listed
from backoffice.emulator.wallets import give_back, paying_wallet, reserve
from backoffice.emulator.wire import Answer, Call, Doc, json_answer
from backoffice.emulator.world import World, is_visible, shown


def start_deposit(world: World, call: Call) -> Answer:
    """Start a deposit and reserve its money; the same key and bytes bring the first answer back."""
    wanted = rules.deposit_request(call, world.switches)
    if before := replay.earlier(world, call):
        return before
    funding_customer(world, call)
    wallet = paying_wallet(world, call.customer, wanted["walletId"])
    chain = wanted.get("chain") or wallet["chain"]
    reserve(world, wallet, chain, wanted["amount"])
    deposit = _new_deposit(world, call, wanted, chain)
    world.put("deposits", deposit)
    _plan_settlement(world, deposit["depositId"])
    ledger.enter(world, call, object_id=deposit["depositId"], amount=wanted["amount"]["amount"])
    answer = json_answer(world.switches.success_status, shown(_perhaps_settled(world, deposit)))
    replay.remember(world, call, answer)
    return answer


def _new_deposit(world: World, call: Call, wanted: Doc, chain: str) -> Doc:
    money = wanted["amount"]
    return {
        "depositId": new_id(world, "cdp_"),
        "customerId": call.customer,
        "method": "endl_account",
        "walletId": wanted["walletId"],
        "amount": {"amount": money["amount"], "currency": money["currency"]},
        "chain": chain,
        "transactionHash": None,
        "fees": [],
        "status": "pending",
        "failureReason": None,
        "createdAt": clock.stamp(),
        "completedAt": None,
    }


def _plan_settlement(world: World, deposit_id: str) -> None:
    plan_settlement(world, deposit_id, clock.now() + world.switches.settle_seconds)


def plan_settlement(world: World, deposit_id: str, due: float) -> None:
    """Have a pending deposit settled at a time (seconds since 1970)."""
    world.run("INSERT OR REPLACE INTO settlements (deposit, due) VALUES (?, ?)", deposit_id, due)
    world.changed.set()


def _perhaps_settled(world: World, deposit: Doc) -> Doc:
    if world.switches.deposit_status == "completed":
        return settle_deposit(world, deposit["depositId"]) or deposit
    return deposit


def settle_deposit(
    world: World, deposit_id: str, *, status: str | None = None, reason: Any = None
) -> Doc | None:
    """End a pending deposit, by its own fate or with `status`; None when there is nothing to end."""
    with world.transaction():
        world.run("DELETE FROM settlements WHERE deposit = ?", deposit_id)
        deposit = world.find("deposits", deposit_id)
        if deposit is None or deposit.get("status") != "pending":
            return None
        end = _end(world, deposit, status or _fate(world, deposit), reason)
        world.put("deposits", end)
        if end["status"] == "failed":
            give_back(world, end)
        events.announce(world, f"card_deposit.{end['status']}", shown(end))
        return end


def _fate(world: World, deposit: Doc) -> str:
    wallets, amounts = world.switches.failing_wallets, world.switches.failing_amounts
    fails = deposit.get("walletId") in wallets or deposit["amount"]["amount"] in amounts
    return "failed" if fails else "completed"


def _end(world: World, deposit: Doc, status: str, reason: Any) -> Doc:
    if status == "failed":
        return {**deposit, "status": status, "failureReason": reason or world.switches.failure_reason}
    return {
        **deposit,
        "status": status,
        "transactionHash": deposit.get("transactionHash") or "0x" + secrets.token_hex(32),
        "fees": deposit.get("fees") or _fees(world, deposit),
        "completedAt": clock.stamp(),
    }


def _fees(world: World, deposit: Doc) -> list[Doc]:
    fee, currency = world.switches.deposit_fee, deposit["amount"]["currency"]
    if fee is None:
        return []
    return [{"type": "transaction_fee", "amount": {"amount": fee, "currency": currency}}]


def list_deposits(world: World, call: Call) -> Answer:
    """The customer's deposits, newest first."""
    known_customer(world, call)
    return listed(world, call, "deposits", name="items")


def get_deposit(world: World, call: Call) -> Answer:
    """One deposit of the customer."""
    known_customer(world, call)
    deposit = world.find("deposits", call.params["depositId"])
    if deposit is None or deposit.get("customerId") != call.customer or not is_visible("deposits", deposit):
        raise uncoded(404, "Deposit not found")
    return json_answer(200, shown(deposit))
