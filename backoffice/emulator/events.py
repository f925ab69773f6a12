"""Webhook events: written with the change that they tell of, sent later by the courier."""

from __future__ import annotations

from backoffice.emulator import clock, faults
from backoffice.emulator.customers import fresh_id
from backoffice.emulator.wire import Doc, encoded
from backoffice.emulator.world import World

_HELD_SECONDS = 5.0
_GAP_SECONDS = 0.2


def announce(world: World, kind: str, data: Doc, *, event_id: str | None = None) -> str | None:
    """Queue an event for the configured address; None when no address is configured."""
    if world.switches.webhook_url is None:
        return None
    event = event_id or fresh_id("evt_")
    body = encoded({"id": event, "type": kind, "createdAt": clock.stamp(), "data": data})
    with world.transaction():
        _queue(world, event, kind, body, faults.take(world, "webhook") or {})
    world.changed.set()
    return event


def _queue(world: World, event: str, kind: str, body: bytes, fault: Doc) -> None:
    due, trouble = clock.now(), fault.get("kind")
    if trouble == "late":
        due += float(fault.get("seconds", _HELD_SECONDS))
    if trouble == "out_of_order":
        due += float(fault.get("seconds", _HELD_SECONDS))
    else:
        # An event that was held back comes right after this one.
        world.run(
            "UPDATE deliveries SET held = 0, due = ? WHERE held AND state = 'waiting'", due + _GAP_SECONDS
        )
    copies = int(fault.get("copies", 2)) if trouble == "doubled" else 1
    for _ in range(copies):
        world.run(
            "INSERT INTO deliveries (event, type, body, due, state, held) VALUES (?, ?, ?, ?, ?, ?)",
            event,
            kind,
            body,
            due,
            "lost" if trouble == "lost" else "waiting",
            trouble == "out_of_order",
        )
