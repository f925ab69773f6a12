"""One fault run: all groups of cells in order, then the whole ledger once more."""

import logging

from django.utils import timezone

from backoffice.celery import app  # noqa: F401  (what we ring must go to the run's own broker)
from backoffice.delivery import invariants
from tests.faults import answers, crashes, crowd, doors, events, fuzz, line, simulator, storm
from tests.faults.desk import MODELS, Desk, History, patiently
from tests.faults.judge import Bad, Judge
from tests.faults.office import Office
from tests.faults.report import Outcome, Report
from tests.faults.stage import Group, Stage

SIMULATED = "simulated"
SIMULATIONS, QUICK_SIMULATIONS = 100_000, 5_000


def run(office: Office, *, seed: int, quick: bool, only: str) -> int:
    """Play the groups whose names hold `only`. Returns the exit code."""
    logging.disable(logging.CRITICAL)
    chosen = [group for group in _groups(quick) if any(only in name for name in group.names)]
    report = Report(sum(len(group.names) for group in chosen) + 2, seed)
    desk = Desk(office)
    desk.hire()
    stage = Stage(office, desk, seed, quick, report.say)
    for group in chosen:
        for outcome in group.play(stage):
            report.cell(outcome)
    if not only or only in SIMULATED:
        report.cell(_simulated(seed, quick))
    report.cell(_whole(office))
    return report.finish()


def _groups(quick: bool) -> list[Group]:
    parts = (crashes, doors, answers, line, storm, events, crowd, fuzz)
    return [group for part in parts for group in part.groups(quick)]


def _simulated(seed: int, quick: bool) -> Outcome:
    """The rules of the road under a virtual clock."""
    histories = QUICK_SIMULATIONS if quick else SIMULATIONS
    wrong = simulator.simulate(histories, seed)
    bad = [(Bad(each.sort, each.sentence), each.past) for each in wrong]
    return Outcome(SIMULATED, histories, bad)


def _whole(office: Office) -> Outcome:
    """Everything that was asked for in the run, against everything that Endl did."""
    judge = Judge(office)
    bad: list[tuple[Bad, list[str]]] = [(each, []) for each in judge.strays()]
    for kind, model in MODELS.items():
        for pk in model._default_manager.values_list("pk", flat=True):
            found = judge.judge(History(kind, pk, may_lose=True))
            bad += [(each, [f"{kind} {pk}"]) for each in found]
    breaches = patiently(lambda: invariants.breaches(now=timezone.now()))
    bad += [(_breach(breach), []) for breach in breaches]
    return Outcome(
        "everything, against the whole ledger", 0, bad, note=f"{len(judge.ledger.entries)} effects"
    )


def _breach(breach: str) -> Bad:
    return Bad("stuck" if breach.startswith("I9:") else "misstated", f"An invariant is broken: {breach}")
