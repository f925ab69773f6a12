"""Crash points of the web server: while somebody decides or asks, and while Endl's event comes in."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.utils import timezone

from tests import wishes
from tests.faults import seam_files as files
from tests.faults.browser import Said
from tests.faults.crashes import break_database
from tests.faults.crowd import REQUESTS, form_of
from tests.faults.desk import MODELS, History
from tests.faults.ground import until
from tests.faults.judge import Bad
from tests.faults.office import Office
from tests.faults.report import Outcome
from tests.faults.stage import LONG_RECOVERY_SECONDS, RECOVERY_SECONDS, Group, Stage

# A desk's act, and what commits it.
DESK_POINTS = ("before-commit", "after-commit")
HOOK_POINTS = ("before-store", "after-store", "before-handled")
_HANDLER = "funding.tasks.handle_webhook_event"
_REACH_SECONDS = 15.0


def _crash_web_parent(office: Office) -> None:
    """Kill gunicorn's master alone; its processes leave when they notice."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(office.processes["web"].pid, signal.SIGKILL)


KILLS: dict[str, Callable[[Office], None] | None] = {
    "exit": None,
    "child": None,
    "parent": _crash_web_parent,
    "both": Office.crash_web,
    "database": break_database,
    "broker": lambda office: office.broker.crash(),
    "wiped": lambda office: office.broker.wipe(),
}


def groups(quick: bool) -> list[Group]:
    """Points times kills times what is asked for; the short form touches each once."""
    kinds = ("deposit", "card", "registration")
    desk = [(point, kill, kind) for point in DESK_POINTS for kill in KILLS for kind in kinds]
    hook = [(point, kill) for point in HOOK_POINTS for kill in KILLS]
    if quick:
        desk = [each for place, each in enumerate(desk) if place % 8 == 0]
        hook = hook[::5]
    return [
        *(Group((_desk_name(*each),), partial(_at_the_desk, *each)) for each in desk),
        *(Group((_hook_name(*each),), partial(_at_the_hook, *each)) for each in hook),
    ]


def _desk_name(point: str, kill: str, kind: str) -> str:
    return f"desk {point} x {kill} x {kind}"


def _hook_name(point: str, kill: str) -> str:
    return f"event {point} x {kill}"


def _at_the_desk(point: str, kill: str, kind: str, stage: Stage) -> Iterator[Outcome]:
    """A person posts, something dies, and the person does it again on the same page."""
    place = stage.desk.place()
    if kind == "deposit":
        browser = stage.browser("checker")
        wish = wishes.a_deposit(place.wallet, by=stage.desk.people["maker"], now=timezone.now())
        seen = wishes.approval_of(wish).facts_hash
        path, fields = f"{REQUESTS}{wish.pk}/decide/", {"seen": seen, "reason": "", "verdict": "approve"}
    else:
        browser = stage.browser("manager")
        path, fields = form_of(kind, place)
    post = partial(browser.post, path, fields)
    more = _strike(stage, point, kill, files.WEB, post)
    ended = time.monotonic()
    until(lambda: post().status in (200, 302), 30, every=0.5)
    made = [wish] if kind == "deposit" else _made(kind, fields["form_token"])
    if len(made) != 1:
        more.append(Bad("doubled", f"One page made {len(made)} requests."))
    histories = [History(kind, row.pk) for row in made]
    recovery = stage.settle(histories, since=ended, within=_within(kill))
    yield stage.close(_desk_name(point, kill, kind), histories, recovery=recovery, more=more)


def _made(kind: str, token: str) -> list[Any]:
    return list(MODELS[kind]._default_manager.filter(form_token=token))


def _at_the_hook(point: str, kill: str, stage: Stage) -> Iterator[Outcome]:
    """A deposit ends at Endl, the event comes, something dies; Endl sends the event again."""
    place = stage.desk.place()
    history = stage.desk.wish("deposit", place)
    target = _HANDLER if point == "before-handled" else files.WEB
    more = _strike(stage, point, kill, target, partial(_ring, stage, history))
    recovery = stage.settle([history], since=time.monotonic(), within=_within(kill))
    yield stage.close(_hook_name(point, kill), [history], recovery=recovery, more=more)


def _ring(stage: Stage, history: History) -> Said:
    stage.desk.ring(history)
    return Said(200)


def _within(kill: str) -> float:
    return LONG_RECOVERY_SECONDS if kill == "wiped" else RECOVERY_SECONDS


def _strike(stage: Stage, point: str, kill: str, target: str, deed: Callable[[], Said]) -> list[Bad]:
    """Arm the point, let somebody come there, and do the kill. Returns what went wrong with that."""
    armed = "pause" if KILLS[kill] is not None else kill
    plan = files.Plan(stage.next_number(), point, armed, {target: 0})
    files.arm(stage.office.control, plan)
    acting = threading.Thread(target=deed)
    acting.start()
    came = until(lambda: files.how_many_reached(stage.office.control, plan) > 0, _REACH_SECONDS)
    files.disarm(stage.office.control)
    act = KILLS[kill]
    if act is not None:
        # At the handler it is the worker that dies.
        if target == _HANDLER and kill in ("parent", "both"):
            act = Office.orphan_worker if kill == "parent" else Office.crash_worker
        act(stage.office)
    files.go_file(stage.office.control, plan).touch()
    acting.join(60)
    stage.office.wait_for_web()
    return [] if came else [Bad("stuck", "Nobody came to the point.")]
