"""The ledger of effects: what really came into being, written with it in one transaction."""

from __future__ import annotations

from backoffice.emulator import clock
from backoffice.emulator.wire import Call, Doc
from backoffice.emulator.world import World


def enter(world: World, call: Call, *, object_id: str, amount: str | None = None) -> None:
    """Record one effect of `call`."""
    world.run(
        "INSERT INTO ledger (operation, key, body_sha256, customer, object_id, amount, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        call.operation,
        call.key,
        call.digest,
        call.customer,
        object_id,
        amount,
        clock.stamp(),
    )


def entries(world: World) -> list[Doc]:
    """Every effect, oldest first."""
    return [dict(row) for row in world.rows("SELECT * FROM ledger ORDER BY seq")]
