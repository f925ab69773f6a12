"""Endl's API: from a call to its answer."""

from __future__ import annotations

from collections.abc import Callable

from backoffice.emulator.admission import Bucket, admit
from backoffice.emulator.cardholders import list_cardholders, register_cardholder
from backoffice.emulator.cards import issue_card
from backoffice.emulator.deposits import get_deposit, list_deposits, start_deposit
from backoffice.emulator.errors import Refusal, uncoded
from backoffice.emulator.wire import Answer, Call, json_answer
from backoffice.emulator.withdrawals import get_withdrawal, list_withdrawals
from backoffice.emulator.world import World

HANDLERS: dict[str, Callable[[World, Call], Answer]] = {
    "register_cardholder": register_cardholder,
    "list_cardholders": list_cardholders,
    "issue_card": issue_card,
    "start_deposit": start_deposit,
    "list_deposits": list_deposits,
    "get_deposit": get_deposit,
    "list_withdrawals": list_withdrawals,
    "get_withdrawal": get_withdrawal,
}


def answer(world: World, call: Call, bucket: Bucket) -> Answer:
    """Do what the call asks, whole or not at all."""
    try:
        admit(call, world.switches, bucket)
        with world.transaction():
            return HANDLERS.get(call.operation, _no_such_operation)(world, call)
    except Refusal as refusal:
        return refused(world, refusal)


def refused(world: World, refusal: Refusal) -> Answer:
    """A refusal as an answer."""
    body = refusal.envelope(uncoded=world.switches.uncoded)
    return json_answer(refusal.status, body, refusal.headers)


def _no_such_operation(_: World, call: Call) -> Answer:
    if call.operation == "wrong_method":
        raise Refusal(405, "Method not allowed", headers={"Allow": call.params["allowed"]})
    raise uncoded(404, "No such path")
