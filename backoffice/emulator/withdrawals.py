"""Withdrawals: read by the partner; they begin and end on Endl's side."""

from __future__ import annotations

import secrets
from typing import Any

from backoffice.emulator import clock
from backoffice.emulator.customers import known_customer
from backoffice.emulator.errors import uncoded
from backoffice.emulator.listing import listed
from backoffice.emulator.wire import Answer, Call, Doc, json_answer
from backoffice.emulator.world import World, shown


def list_withdrawals(world: World, call: Call) -> Answer:
    """The customer's withdrawals, newest first."""
    known_customer(world, call)
    return listed(world, call, "withdrawals", name="items")


def get_withdrawal(world: World, call: Call) -> Answer:
    """One withdrawal of the customer."""
    known_customer(world, call)
    withdrawal = world.find("withdrawals", call.params["withdrawalId"])
    if withdrawal is None or withdrawal.get("customerId") != call.customer:
        raise uncoded(404, "Withdrawal not found")
    return json_answer(200, shown(withdrawal))


def settle_withdrawal(
    world: World, withdrawal_id: str, *, status: str = "completed", reason: Any = None
) -> Doc | None:
    """End a pending withdrawal; None when there is nothing to end."""
    with world.transaction():
        withdrawal = world.find("withdrawals", withdrawal_id)
        if withdrawal is None or withdrawal.get("status") != "pending":
            return None
        end = {**withdrawal, "status": status}
        if status == "failed":
            end["failureReason"] = reason or world.switches.failure_reason
        else:
            end["transactionHash"] = withdrawal.get("transactionHash") or "0x" + secrets.token_hex(32)
            end["completedAt"] = clock.stamp()
        world.put("withdrawals", end)
        return end
