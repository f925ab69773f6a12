"""Making time pass."""

from __future__ import annotations

from backoffice.emulator.deposits import settle_deposit
from backoffice.emulator.world import World


def settle_all(world: World) -> list[str]:
    """Settle every pending deposit now, in the order in which they came; answers their ids."""
    pending = world.rows(
        "SELECT id FROM things WHERE kind = 'deposits'"
        " AND json_extract(doc, '$.status') = 'pending' ORDER BY seq"
    )
    return [row["id"] for row in pending if settle_deposit(world, row["id"])]


def advance(world: World, seconds: float) -> None:
    """Bring settlements and webhook deliveries nearer by some seconds."""
    with world.transaction():
        world.run("UPDATE settlements SET due = due - ?", seconds)
        world.run("UPDATE deliveries SET due = due - ? WHERE state = 'waiting'", seconds)
    world.changed.set()
