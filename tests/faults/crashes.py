"""Every crash point of the road times every kill: a worker that dies, or what it stands on does."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from django.db import connections

from tests.faults import seam_files as files
from tests.faults.desk import OPERATIONS, TASKS, History, Place
from tests.faults.ground import until
from tests.faults.judge import Bad, Ledger
from tests.faults.office import LEASE_SECONDS, Office
from tests.faults.report import Outcome
from tests.faults.stage import LONG_RECOVERY_SECONDS, RECOVERY_SECONDS, Group, Stage

KINDS = ("deposit", "card", "registration")
# In the order of the road. Where a name of the list of crash points (C0 to C7) has one, it stands beside it.
POINTS = (
    "before-claim",  # C0
    "after-claim",  # C1
    "before-send",  # C1, with the attempt on record
    "while-sent",  # C2
    "after-send",  # C3
    "after-raw",  # C4
    "after-envelope",  # C5, what comes only once is committed
    "before-settled",  # C5
    "after-settled",  # C6 and C7: the row is the outbox
)
# Points that only a card order passes.
_OF_CARDS = ("after-envelope",)
_REACH_SECONDS = 30.0
OVERTAKEN_SECONDS = LEASE_SECONDS + 2.5
_HANG_SECONDS = 1.4


def break_database(office: Office) -> None:
    office.cluster.restart_at_once()
    connections.close_all()


def _stop_worker(office: Office) -> None:
    os.kill(office.processes["worker"].pid, signal.SIGTERM)


def _kill_children(office: Office) -> None:
    for pid in office.processes["worker"].children():
        os.kill(pid, signal.SIGKILL)


# What the harness does while everybody pauses at the point.
KILLS: dict[str, Callable[[Office], None] | None] = {
    "exit": None,
    "child": None,
    "parent": Office.orphan_worker,
    "both": Office.crash_worker,
    "database": break_database,
    "broker": lambda office: office.broker.crash(),
    "wiped": lambda office: office.broker.wipe(),
    "emulator": Office.crash_emulator,
    # Nobody dies: they sleep until others have taken the claim, and then go on.
    "overtaken": lambda _office: time.sleep(OVERTAKEN_SECONDS),
}
# At these, what a process has read or not read dies with it.
_DIES_WITH_ANSWER = {"exit", "child", "parent", "both"}


def groups(quick: bool) -> list[Group]:
    """All of them; the short form touches every point and every kill once."""
    made = [(point, kill) for point in POINTS for kill in KILLS]
    if quick:
        names = list(KILLS)
        made = [(point, names[place % len(names)]) for place, point in enumerate(POINTS)]
    return [_group(point, kill, 1 if quick else 2) for point, kill in made]


@dataclass(frozen=True)
class _Crash:
    """So many requests of each kind come to a point together, and then the kill."""

    point: str
    kill: str
    kinds: tuple[str, ...]
    each: int

    def name(self, kind: str) -> str:
        return f"crash {self.point} x {self.kill} x {kind}"


def _group(point: str, kill: str, each: int) -> Group:
    crash = _Crash(point, kill, ("card",) if point in _OF_CARDS else KINDS, each)
    return Group(tuple(map(crash.name, crash.kinds)), partial(_play, crash))


def _play(crash: _Crash, stage: Stage) -> Iterator[Outcome]:
    strike = _while_sent if crash.point == "while-sent" else _at_checkpoint
    histories, more = strike(stage, crash)
    within = LONG_RECOVERY_SECONDS if crash.kill == "wiped" else RECOVERY_SECONDS
    recovery = stage.settle(histories, since=time.monotonic(), within=within)
    for kind in crash.kinds:
        own = [history for history in histories if history.kind == kind]
        yield stage.close(crash.name(kind), own, recovery=recovery, more=more)
        more = []


def _at_checkpoint(stage: Stage, crash: _Crash) -> tuple[list[History], list[Bad]]:
    deed = crash.kill if crash.kill in ("exit", "child") else "pause"
    places = _places(stage, crash)
    firsts = stage.desk.next_pks()
    targets = {TASKS[kind]: firsts[TASKS[kind]] for kind in crash.kinds}
    plan = files.Plan(stage.next_number(), crash.point, deed, targets)
    files.arm(stage.office.control, plan)
    may_lose = crash.point == "after-send" and crash.kill in _DIES_WITH_ANSWER
    histories = _wishes(stage, places, may_lose=may_lose)
    stage.desk.ring(*histories)
    came = partial(files.how_many_reached, stage.office.control, plan)
    all_came = until(lambda: came() >= len(histories), _REACH_SECONDS)
    act = KILLS[crash.kill]
    if act is not None:
        act(stage.office)
    files.go_file(stage.office.control, plan).touch()
    files.disarm(stage.office.control)
    more = [] if all_came else [Bad("stuck", f"Only {came()} of {len(histories)} came to the point.")]
    return histories, more


def _while_sent(stage: Stage, crash: _Crash) -> tuple[list[History], list[Bad]]:
    """Endl has done it and takes its time to say so; meanwhile something dies."""
    places = _places(stage, crash)
    for kind, place in places:
        stage.office.endl(
            "faults", operation=OPERATIONS[kind], customer=place.customer.endl_id, kind="hang", when="after",
            seconds=_HANG_SECONDS,
        )  # fmt: skip
    # A worker that is told to stop hears Endl out first, and the spool outlives a database.
    may_lose = crash.kill in ("child", "parent", "both", "emulator")
    histories = _wishes(stage, places, may_lose=may_lose)
    stage.desk.ring(*histories)
    keys = {history.row.idempotency_key for history in histories}
    done = until(lambda: keys <= set(Ledger(stage.office).by_key), _REACH_SECONDS)
    act = {"exit": _stop_worker, "child": _kill_children}.get(crash.kill) or KILLS[crash.kill]
    assert act is not None
    act(stage.office)
    return histories, [] if done else [Bad("stuck", "Not all of them came to Endl.")]


def _places(stage: Stage, crash: _Crash) -> list[tuple[str, Place]]:
    """A customer for each request: one that is held inside its transaction holds its customer's row."""
    return [(kind, stage.desk.place()) for kind in crash.kinds for _ in range(crash.each)]


def _wishes(stage: Stage, places: list[tuple[str, Place]], *, may_lose: bool) -> list[History]:
    made = []
    for kind, place in places:
        history = stage.desk.wish(kind, place)
        # Where Endl's answer died with the process, a repeat of a card's key tells only that the card exists.
        history.may_lose, history.note = may_lose, f"customer {place.customer.endl_id}"
        made.append(history)
    return made
