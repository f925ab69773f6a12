"""Two hundred jobs at once against a rate limit: nothing is lost, and Endl is not overrun."""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from tests.faults.desk import History
from tests.faults.judge import Bad
from tests.faults.report import Outcome
from tests.faults.stage import Group, Stage

JOBS, QUICK_JOBS = 200, 30
_KINDS = ("deposit", "card")
# Over any ten seconds; the room for a second's worth at once is the pace's own.
_WINDOW_SECONDS = 10.0
_TOLERANCE = 1.05
# Two hundred jobs take their time at ten a second, and more on a machine that does other things as well.
_LONGEST_SECONDS = 400.0


def groups(quick: bool) -> list[Group]:
    """Our pace at Endl's limit; and a limit that is lower than our pace."""
    jobs = QUICK_JOBS if quick else JOBS
    return [
        Group((name,), partial(_storm, name, jobs, limit, pace))
        for name, limit, pace in (
            ("storm, our pace is Endl's limit", 10.0, 10.0),
            ("storm, Endl's limit is half our pace", 10.0, 20.0),
        )[: 1 if quick else 2]
    ]


def _storm(name: str, jobs: int, limit: float, pace: float, stage: Stage) -> Iterator[Outcome]:
    place = stage.desk.place()
    with stage.office.without_worker(ENDL_RATE_PER_SECOND=str(pace)):
        stage.office.endl("settings", rate_per_second=limit, rate_retry_after="1")
        histories: list[History] = [stage.desk.wish(_KINDS[number % 2], place) for number in range(jobs)]
        began = time.time()
    recovery = stage.settle(histories, since=time.monotonic(), within=_LONGEST_SECONDS)
    stage.office.endl("settings", rate_per_second=None, rate_retry_after=None)
    with stage.office.without_worker(ENDL_RATE_PER_SECOND=stage.office.variables["ENDL_RATE_PER_SECOND"]):
        pass
    times, statuses = _seen(stage, began)
    fastest = _fastest(times)
    more = []
    if pace <= limit and fastest > limit * _TOLERANCE + limit / _WINDOW_SECONDS:
        more.append(Bad("misstated", f"Endl was asked {fastest:.1f} times a second; the limit is {limit}."))
    note = f"at most {fastest:.1f} a second, {statuses['429']} times 429, {len(times)} requests"
    yield stage.close(name, histories, recovery=recovery, more=more, note=note)


def _seen(stage: Stage, since: float) -> tuple[list[float], Counter[str]]:
    with sqlite3.connect(f"file:{stage.office.world}?mode=ro", uri=True, timeout=30) as world:
        rows = world.execute("SELECT at, status FROM requests WHERE at >= ? ORDER BY at", (since,)).fetchall()
    world.close()
    return [row[0] for row in rows], Counter(str(row[1]) for row in rows)


def _fastest(times: list[float]) -> float:
    """The most requests a second over any window."""
    most, first = 0, 0
    for last, moment in enumerate(times):
        while times[first] < moment - _WINDOW_SECONDS:
            first += 1
        most = max(most, last - first + 1)
    return most / _WINDOW_SECONDS
