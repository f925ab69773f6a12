"""What was asked of the emulator: a line per request, without bodies."""

from __future__ import annotations

from backoffice.emulator import clock
from backoffice.emulator.wire import Call, Doc
from backoffice.emulator.world import World


def arrived(world: World, call: Call) -> int:
    """Note a request before it is answered; answers its number."""
    with world.transaction() as db:
        noted = db.execute(
            "INSERT INTO requests (method, path, operation, key, at) VALUES (?, ?, ?, ?, ?)",
            (call.method, call.path, call.operation, call.key, clock.now()),
        )
        return int(noted.lastrowid or 0)


def ended(world: World, number: int, how: str) -> None:
    """Note how a request ended: the status that was answered, or the fault that struck."""
    world.run("UPDATE requests SET status = ? WHERE seq = ?", how, number)


def seen(world: World, last: int = 100) -> Doc:
    """How often each operation was asked with each key, and the last requests, newest first."""
    counts = world.rows(
        "SELECT operation, key, COUNT(*) AS count FROM requests GROUP BY operation, key ORDER BY MIN(seq)"
    )
    latest = world.rows("SELECT * FROM requests ORDER BY seq DESC LIMIT ?", last)
    return {"counts": [dict(row) for row in counts], "last": [dict(row) for row in latest]}
