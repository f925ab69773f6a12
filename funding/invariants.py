"""What must hold at any moment, whatever broke: checked by tests, by the fault run, and hourly by a task.

The numbers are those of the list in docs/invariants.md. Each check yields what breaks it.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import CharField, Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Cast

from backoffice.approvals import decisions
from backoffice.approvals.models import Approval, Decision
from backoffice.audit.models import Entry
from backoffice.delivery import alerts, deadlines, line
from backoffice.delivery.alerts import Finding
from backoffice.delivery.models import Request, State
from backoffice.triggers import check_triggers
from cards import issuing
from cards.models import CardholderRequest, CardOrder, CardReveal, SealedDetails
from funding import deposits
from funding.models import DepositRequest

KINDS: tuple[type[Request], ...] = (CardholderRequest, CardOrder, DepositRequest)
_KEY = r"^[A-Za-z0-9_-]{20,64}$"


def check_all(*, now: datetime) -> int:
    """Run every check and keep the alerts. Returns how many breaches are open."""
    found = {name: list(check(now)) for name, check in CHECKS.items()}
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
        for name, check in CHECKS.items()
        for finding in check(now)
    ]


def i1_one_effect_an_approval(now: datetime) -> Iterator[Finding]:
    """No two requests share an approval, a deposit or a card."""
    for model, column in (
        (DepositRequest, "deposit"),
        (CardOrder, "card"),
        (CardholderRequest, "cardholder"),
    ):
        yield from _shared(model._default_manager.exclude(**{column: None}), column)
    for model in (DepositRequest, CardOrder):
        yield from _shared(model._default_manager.all(), "approval")


def _shared(rows: QuerySet[Any], column: str) -> Iterator[Finding]:
    doubles = rows.values(column).annotate(times=Count("pk")).filter(times__gt=1).values(column)
    for row in rows.filter(**{f"{column}__in": doubles}):
        yield Finding(row, f"Another request has the same {column}.")


def i2_sent_as_approved(now: datetime) -> Iterator[Finding]:
    """What was sent is what was approved, to the byte."""
    for order in CardOrder.objects.exclude(first_attempt_at=None).select_related(
        "approval", "cardholder__customer"
    ):
        yield from _as_approved(order, order.approval, issuing.facts_of(order))
    for wish in DepositRequest.objects.exclude(first_attempt_at=None).select_related(
        "approval", "wallet__customer"
    ):
        yield from _as_approved(wish, wish.approval, deposits.facts_of(wish))


def _as_approved(request: Request, approval: Approval | None, facts: dict[str, Any]) -> Iterator[Finding]:
    if approval is None or approval.state != Approval.State.APPROVED:
        yield Finding(request, "It was sent without an approval.")
    elif decisions.hash_of(facts) != approval.facts_hash:
        yield Finding(request, "What was sent is not what was approved.")


def i3_keys_are_sound(now: datetime) -> Iterator[Finding]:
    """Every key has the right form and belongs to one request of any kind."""
    for model in KINDS:
        rows = model._default_manager.all()
        for row in rows.exclude(idempotency_key__regex=_KEY):
            yield Finding(row, "Its key has the wrong form.")
        for other in KINDS:
            keys = other._default_manager.values("idempotency_key")
            for row in rows.filter(idempotency_key__in=keys) if other is not model else ():
                yield Finding(row, "Another request has the same key.")


def i4_envelopes_are_kept(now: datetime) -> Iterator[Finding]:
    """An issued card has its envelope, or the record of its destruction."""
    for order in CardOrder.objects.filter(state=State.ISSUED, details=None):
        yield Finding(order, "The card is issued, and its details are not here.")
    for details in SealedDetails.objects.exclude(
        order__state__in=(State.ISSUED, State.SENDING, State.UNKNOWN)
    ):
        yield Finding(details, "Details are here of a card that is not issued.")


def i5_triggers_stand(now: datetime) -> Iterator[Finding]:
    """The triggers that keep ends and facts are installed."""
    for problem in check_triggers(databases=["default"]):
        yield Finding(line.the_line(), str(problem.msg))


def i6_four_eyes(now: datetime) -> Iterator[Finding]:
    """Who decides is not who made; what is approved has its decisions, or its rule."""
    for decision in Decision.objects.filter(Q(person=F("approval__maker")) | ~Q(maker=F("approval__maker"))):
        yield Finding(decision, "The maker decided, or is named wrongly.")
    given = Count("decisions", filter=Q(decisions__verdict="approve"), distinct=True)
    short = Approval.objects.filter(state=Approval.State.APPROVED, needed__gt=0).annotate(given=given)
    for approval in short.filter(given__lt=F("needed")):
        yield Finding(approval, "It is approved with too few decisions.")


def i7_acts_are_on_record(now: datetime) -> Iterator[Finding]:
    """Every request, decision and look has its entry in the trail."""
    for model in KINDS:
        yield from _unrecorded(
            model._default_manager.all(), f"{model.kind}.request", "It was asked for off the record."
        )
    for row in CardReveal.objects.annotate(is_recorded=_entry("cards.sealeddetails", "details_id", "card.")):
        if not row.is_recorded:
            yield Finding(row, "Somebody looked off the record.")


def _unrecorded(rows: QuerySet[Any], verb: str, message: str) -> Iterator[Finding]:
    label = rows.model._meta.label_lower
    for row in rows.annotate(is_recorded=_entry(label, "pk", verb)).filter(is_recorded=False):
        yield Finding(row, message)


def _entry(label: str, column: str, verb: str) -> Exists:
    entries = Entry.objects.filter(object_type=label, verb__startswith=verb)
    return Exists(entries.filter(object_id=Cast(OuterRef(column), CharField())))


def i9_nothing_is_stuck(now: datetime) -> Iterator[Finding]:
    """Nothing stays on its way past its deadline without an alert."""
    for model in KINDS:
        yield from deadlines.late(model, now=now)


def i10_sums_agree(now: datetime) -> Iterator[Finding]:
    """A completed request and its deposit at Endl say the same amount and currency, and the same end."""
    ended = DepositRequest.objects.filter(state__in=(State.COMPLETED, State.FAILED)).select_related("deposit")
    for wish in ended:
        deposit = wish.deposit
        assert deposit is not None
        if deposit.status != wish.state:
            yield Finding(wish, f"It is {wish.state}, and its deposit is {deposit.status}.")
        if deposit.amount is not None and (deposit.amount, deposit.currency) != (wish.amount, wish.currency):
            yield Finding(wish, f"Endl's deposit is {deposit.amount_text} {deposit.currency}.")


Check = Callable[[datetime], Iterable[Finding]]
CHECKS: dict[str, Check] = {
    "I1": i1_one_effect_an_approval,
    "I2": i2_sent_as_approved,
    "I3": i3_keys_are_sound,
    "I4": i4_envelopes_are_kept,
    "I5": i5_triggers_stand,
    "I6": i6_four_eyes,
    "I7": i7_acts_are_on_record,
    "I9": i9_nothing_is_stuck,
    "I10": i10_sums_agree,
}
