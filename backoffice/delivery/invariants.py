"""What must hold at any moment, whatever broke: checked by tests, by the fault run, and hourly by a task.

The numbers are those that people and alerts use; an application adds its own checks, named in
`settings.INVARIANTS`. Each check yields what breaks it.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import CharField, Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce
from django.utils.module_loading import import_string

from backoffice.approvals import decisions
from backoffice.approvals.models import Approval, Decision, Step
from backoffice.audit.models import Entry
from backoffice.delivery import alerts, deadlines, line
from backoffice.delivery.alerts import Finding
from backoffice.delivery.models import Request
from backoffice.delivery.road import Road
from backoffice.triggers import check_triggers

Check = Callable[[datetime], Iterable[Finding]]
_KEY = r"^[A-Za-z0-9_-]{20,64}$"


def all_checks() -> dict[str, Check]:
    """The office's checks and those of the applications, by their numbers."""
    checks: dict[str, Check] = dict(CHECKS)
    for name in settings.INVARIANTS:
        checks.update(import_string(name))
    return checks


def check_all(*, now: datetime) -> int:
    """Run every check and keep the alerts. Returns how many breaches are open."""
    found = {name: list(check(now)) for name, check in all_checks().items()}
    for name, findings in found.items():
        alerts.keep(name, findings, now=now)
    return sum(map(len, found.values()))


def watch_deadlines(*, now: datetime) -> int:
    """Keep the alerts of what is late. Returns how many were opened."""
    return alerts.keep("I9", i9_nothing_is_stuck(now), now=now)


def breaches(*, now: datetime) -> list[str]:
    """Every breach as a line of text, without writing anything."""
    return [
        f"{name}: {finding.key[0]} {finding.key[1]}: {finding.message}"
        for name, check in all_checks().items()
        for finding in check(now)
    ]


def roads() -> list[Road[Any, Any]]:
    """Every kind of request that travels to Endl."""
    return [import_string(name) for name in settings.ROADS]


def i1_one_effect_an_approval(now: datetime) -> Iterator[Finding]:
    """No two requests share an approval, or what Endl made of them."""
    for road in roads():
        rows = road.model._default_manager
        yield from _shared(rows.exclude(**{road.made: None}), road.made)
        yield from _shared(rows.exclude(approval=None), "approval")


def _shared(rows: QuerySet[Any], column: str) -> Iterator[Finding]:
    doubles = rows.values(column).annotate(times=Count("pk")).filter(times__gt=1).values(column)
    for row in rows.filter(**{f"{column}__in": doubles}):
        yield Finding(row, f"Another request has the same {column}.")


def i2_sent_as_approved(now: datetime) -> Iterator[Finding]:
    """What was sent is what was approved, to the byte."""
    for road in roads():
        if road.facts is not None:
            for request in road.model._default_manager.exclude(first_attempt_at=None).iterator():
                yield from _as_approved(request, road.facts(request))


def _as_approved(request: Request, facts: dict[str, Any]) -> Iterator[Finding]:
    approval = request.approval
    if approval is None or approval.state != Approval.State.APPROVED:
        yield Finding(request, "It was sent without an approval.")
    elif decisions.hash_of(facts) != approval.facts_hash:
        yield Finding(request, "What was sent is not what was approved.")


def i3_keys_are_sound(now: datetime) -> Iterator[Finding]:
    """Every key has the right form and belongs to one request of any kind."""
    kinds = [road.model for road in roads()]
    for model in kinds:
        rows = model._default_manager.all()
        for row in rows.exclude(idempotency_key__regex=_KEY):
            yield Finding(row, "Its key has the wrong form.")
        for other in kinds:
            keys = other._default_manager.values("idempotency_key")
            for row in rows.filter(idempotency_key__in=keys) if other is not model else ():
                yield Finding(row, "Another request has the same key.")


def i5_triggers_stand(now: datetime) -> Iterator[Finding]:
    """The triggers that keep ends and facts are installed."""
    for problem in check_triggers(databases=["default"]):
        yield Finding(line.the_line(), str(problem.msg))


def i6_four_eyes(now: datetime) -> Iterator[Finding]:
    """Who decides is not who made; what is approved has its decisions, or its rule."""
    for decision in Decision.objects.filter(Q(person=F("approval__maker")) | ~Q(maker=F("approval__maker"))):
        yield Finding(decision, "The maker decided, or is named wrongly.")
    for step in _steps_that_lack_people():
        yield Finding(step.approval, f"It is approved, and step {step.number} lacks people.")
    given = Count("decisions", filter=Q(decisions__verdict="approve"), distinct=True)
    short = Approval.objects.filter(state=Approval.State.APPROVED, needed__gt=0).annotate(given=given)
    for approval in short.filter(given__lt=F("needed")):
        yield Finding(approval, "It is approved with too few decisions.")


def _steps_that_lack_people() -> QuerySet[Step]:
    """Steps of approved approvals with fewer approvals of exactly what was shown than they ask for."""
    own = Decision.objects.filter(
        approval=OuterRef("approval"),
        step=OuterRef("number"),
        verdict=Decision.Verdict.APPROVE,
        seen_hash=OuterRef("approval__facts_hash"),
    )
    given = own.order_by().values("step").annotate(people=Count("person", distinct=True)).values("people")
    steps = Step.objects.filter(approval__state=Approval.State.APPROVED).select_related("approval")
    return steps.annotate(given=Coalesce(Subquery(given), 0)).filter(given__lt=F("people"))


def i7_acts_are_on_record(now: datetime) -> Iterator[Finding]:
    """Every request has its entry in the trail."""
    for road in roads():
        rows = road.model._default_manager.all()
        yield from unrecorded(rows, f"{road.model.kind}.request", "It was asked for off the record.")


def unrecorded(
    rows: QuerySet[Any], verb: str, message: str, *, of: str = "", by: str = "pk"
) -> Iterator[Finding]:
    """The rows that no entry of the trail tells of.

    Args:
        verb: how the entry's verb begins.
        message: what to say of a row without one.
        of: the label of the entry's object, where it is not the row itself.
        by: the row's column that holds the object's id.
    """
    entries = Entry.objects.filter(object_type=of or rows.model._meta.label_lower, verb__startswith=verb)
    told = Exists(entries.filter(object_id=Cast(OuterRef(by), CharField())))
    for row in rows.annotate(is_told=told).filter(is_told=False):
        yield Finding(row, message)


def i9_nothing_is_stuck(now: datetime) -> Iterator[Finding]:
    """Nothing stays on its way past its deadline without an alert."""
    for road in roads():
        yield from deadlines.late(road.model, now=now)


CHECKS: dict[str, Check] = {
    "I1": i1_one_effect_an_approval,
    "I2": i2_sent_as_approved,
    "I3": i3_keys_are_sound,
    "I5": i5_triggers_stand,
    "I6": i6_four_eyes,
    "I7": i7_acts_are_on_record,
    "I9": i9_nothing_is_stuck,
}
