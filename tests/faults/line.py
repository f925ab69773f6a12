"""Words of Endl's that concern everybody: slow down, and stop. Played one at a time."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.utils import timezone

from backoffice.delivery.models import Line, Pause
from tests.faults.answers import KINDS
from tests.faults.desk import OPERATIONS, History, patiently
from tests.faults.ground import until
from tests.faults.judge import Bad
from tests.faults.report import Outcome
from tests.faults.stage import Group, Stage

PROBE = "backoffice.delivery.tasks.probe"
# Retry-After in all its forms; a wait that nobody would sit out is capped, and time is then made to pass.
THROTTLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("absent", {}),
    ("1", {"retry_after": "1"}),
    ("0", {"retry_after": "0"}),
    ("-1", {"retry_after": "-1"}),
    ("a date", {"retry_after": "date", "seconds": 2}),
    ("a date of the past", {"retry_after": "date", "seconds": -100}),
    ("999999", {"retry_after": "999999"}),
    ("rubbish", {"retry_after": "soon, perhaps"}),
)
STOPS = ("ERRCORE_1001", "ERRCORE_1004", "IP_NOT_ALLOWLISTED", "ERRCORE_1005", "ERRCRD_1007")
LONGEST_WAIT = timedelta(minutes=5, seconds=5)


def groups(quick: bool) -> list[Group]:
    """The waits before and after the effect, and the stops."""
    throttles = THROTTLES[1:2] + THROTTLES[6:7] if quick else THROTTLES
    stops = STOPS[1:2] + STOPS[4:] if quick else STOPS
    return [
        *(_throttle(word, how) for word, how in throttles),
        *(Group((f"line stops with {code}",), partial(_stop, code)) for code in stops),
    ]


def _throttle(word: str, how: dict[str, Any]) -> Group:
    names = {when: f"line slows down, Retry-After {word}, {when}" for when in ("before", "after")}
    return Group(tuple(names.values()), partial(_slow_down, names, {"kind": "throttle", **how}))


def _slow_down(names: dict[str, str], how: dict[str, Any], stage: Stage) -> Iterator[Outcome]:
    # Endl did it and said that it did not: the repeat finds out, and what came with the answer is gone.
    histories = {
        when: _begin(stage, KINDS, {"when": when, **how}, may_lose=when == "after") for when in names
    }
    every = [history for some in histories.values() for history in some]
    more: list[Bad] = []
    until(partial(_has_passed, stage, every, more), 45, every=0.3)
    stage.settle(every, since=time.monotonic())
    for when, name in names.items():
        yield stage.close(name, histories[when], more=more)
        more = []


def _has_passed(stage: Stage, histories: list[History], more: list[Bad]) -> bool:
    """Whether all are at rest. A long wait is looked at, and then made to pass: nobody would sit it out."""
    wait, now = patiently(_slow_until), timezone.now()
    if wait is not None and wait > now + LONGEST_WAIT and not more:
        more.append(Bad("stuck", "Endl's wish to wait was not capped."))
    if wait is not None and wait > now + timedelta(seconds=20):
        Line.objects.update(slow_until=now)
    return stage.are_at_rest(histories)


def _slow_until() -> datetime | None:
    return Line.objects.values_list("slow_until", flat=True).first()


def _stop(code: str, stage: Stage) -> Iterator[Outcome]:
    """Endl says stop; nothing is marked as failed, nothing more is sent, and work goes on once it answers."""
    kinds = ("card",) if code == "ERRCRD_1007" else KINDS
    # A denied access counts for everybody once the probe is denied too.
    denies = code == "ERRCORE_1005"
    histories = _begin(stage, kinds, None if denies else {"kind": "error", "code": code})
    more = [] if until(_is_paused, 10) else [Bad("stuck", "It did not pause.")]
    asked = _requests(stage)
    time.sleep(2.5)
    if _requests(stage) > asked + len(kinds):
        more.append(Bad("stuck", "It went on asking while it was paused."))
    stage.office.endl("settings", permitted=True)
    since = time.monotonic()
    until(partial(_try_to_go_on, _is_paused), 20, every=1.0)
    recovery = stage.settle(histories, since=since)
    yield stage.close(f"line stops with {code}", histories, recovery=recovery, more=more)


def _begin(
    stage: Stage, kinds: tuple[str, ...], how: dict[str, Any] | None, *, may_lose: bool = False
) -> list[History]:
    place = stage.desk.place()
    if how is not None:
        for kind in kinds:
            fault = {"operation": OPERATIONS[kind], "customer": place.customer.endl_id, **how}
            stage.office.endl("faults", **fault)
    else:
        stage.office.endl("settings", permitted=False)
    histories = [stage.desk.wish(kind, place) for kind in kinds]
    for history in histories:
        history.may_lose, history.note = may_lose, f"customer {place.customer.endl_id}, {how}"
    stage.desk.ring(*histories)
    return histories


def _is_paused() -> bool:
    return patiently(lambda: Pause.objects.filter(lifted_at=None).exists())


def _try_to_go_on(is_paused: Callable[[], bool]) -> bool:
    """What the schedule does once a minute, and once in ten minutes for cards; here at once."""
    current_app.send_task(PROBE)
    Pause.objects.filter(lifted_at=None).update(last_try_at=timezone.now() - timedelta(minutes=11))
    return not is_paused()


def _requests(stage: Stage) -> int:
    return sum(entry["count"] for entry in stage.office.endl("requests")["counts"] if entry["key"])
