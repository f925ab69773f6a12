"""What happens without being asked: settlements fall due, and the courier brings webhooks."""

from __future__ import annotations

import http.client
import logging
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from backoffice.emulator import clock, signing
from backoffice.emulator.deposits import settle_deposit
from backoffice.emulator.world import World

_LONGEST_NAP_SECONDS = 0.5
_log = logging.getLogger(__name__)


class Background:
    """Two threads, so that a slow receiver of webhooks holds up no settlement."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._loop, args=(work,), name=name, daemon=True)
            for work, name in ((settle_due, "settler"), (deliver_due, "courier"))
        ]

    def start(self) -> None:
        """Begin, with whatever an earlier process left due."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop after the deed in hand."""
        self._stopping.set()
        self._world.changed.set()
        for thread in self._threads:
            thread.join(timeout=2)

    def _loop(self, work: Callable[[World], float | None]) -> None:
        while not self._stopping.is_set():
            following = self._attempt(work)
            nap = _LONGEST_NAP_SECONDS if following is None else following - clock.now()
            self._world.changed.wait(min(max(nap, 0.01), _LONGEST_NAP_SECONDS))
            self._world.changed.clear()

    def _attempt(self, work: Callable[[World], float | None]) -> float | None:
        try:
            return work(self._world)
        # A seed may hold anything. One bad row must not end the thread for all the others.
        except Exception:  # noqa: BLE001
            _log.exception("the emulator's background work failed")
            return clock.now() + _LONGEST_NAP_SECONDS


def settle_due(world: World) -> float | None:
    """Settle what is due; answers when the next settlement is."""
    for row in world.rows("SELECT deposit FROM settlements WHERE due <= ? ORDER BY due", clock.now()):
        settle_deposit(world, row["deposit"])
    return _earliest(world, "SELECT MIN(due) AS due FROM settlements")


def deliver_due(world: World) -> float | None:
    """Send each event that is due, once; answers when the next one is."""
    waiting = "SELECT * FROM deliveries WHERE state = 'waiting' AND due <= ? ORDER BY due, seq"
    for row in world.rows(waiting, clock.now()):
        _deliver(world, row)
    return _earliest(world, "SELECT MIN(due) AS due FROM deliveries WHERE state = 'waiting'")


def _earliest(world: World, sql: str) -> float | None:
    due = world.rows(sql)[0]["due"]
    return None if due is None else float(due)


def _deliver(world: World, delivery: Any) -> None:
    outcome = _post(world, delivery["event"], delivery["body"])
    delivered = outcome.isdigit() and 200 <= int(outcome) < 300
    delays = world.switches.webhook_retry_seconds or [60]
    delay = delays[min(delivery["attempts"], len(delays) - 1)]
    world.run(
        "UPDATE deliveries SET state = ?, last = ?, attempts = attempts + 1, due = ? WHERE seq = ?",
        "delivered" if delivered else "waiting",
        outcome,
        clock.now() + delay,
        delivery["seq"],
    )


def _post(world: World, event: str, body: bytes) -> str:
    """Post an event; answers the status, or the name of what went wrong."""
    switches = world.switches
    address = urlsplit(switches.webhook_url or "")
    secure = address.scheme == "https"
    connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    try:
        line = connect(address.hostname or "", address.port, timeout=switches.webhook_timeout_seconds)
        try:
            path = (address.path or "/") + (f"?{address.query}" if address.query else "")
            line.request("POST", path, body, signing.headers(event, body, switches))
            return str(line.getresponse().status)
        finally:
            line.close()
    except (OSError, ValueError, http.client.HTTPException) as trouble:
        return type(trouble).__name__
