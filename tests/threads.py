"""Two people, or two processes, at the same moment."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Do all of these at the same moment, each in a thread of its own. Returns what each made or raised."""
    outcomes: list[Any] = [None] * len(deeds)
    barrier = threading.Barrier(len(deeds))

    def run(place: int, deed: Callable[[], Any]) -> None:
        try:
            barrier.wait(timeout=10)
            outcomes[place] = deed()
        except Exception as problem:  # noqa: BLE001  (the test looks at whatever it was)
            outcomes[place] = problem
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(deeds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return outcomes


def losers(outcomes: list[Any]) -> list[Exception]:
    """What was raised, in the order of the deeds."""
    return [outcome for outcome in outcomes if isinstance(outcome, Exception)]
