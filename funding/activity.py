"""Thirty days of deposits and withdrawals: how many a day by state, and how much in each currency."""

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from backoffice.access.models import User
from backoffice.money import plain
from backoffice.pages.parts import Panel, Table, money
from cards import scope
from funding.models import Deposit, Withdrawal

DAYS = 30
_MODELS = (
    ("Deposits", Deposit, "funding.view_deposit"),
    ("Withdrawals", Withdrawal, "funding.view_withdrawal"),
)
# The colour of a status, for one kind and the other; what Endl says besides is grey.
_COLOURS = {
    "Deposits": {"completed": "#15803d", "pending": "#b45309", "failed": "#b91c1c"},
    "Withdrawals": {"completed": "#86c79c", "pending": "#e5b567", "failed": "#e39a9a"},
}
_GREY = "#8b8b93"
# Whole bars on whole numbers, with a legend: the theme's own look has neither.
_OPTIONS = json.dumps(
    {
        "animation": False,
        "maintainAspectRatio": False,
        "plugins": {"legend": {"position": "bottom", "labels": {"boxWidth": 12}}},
        "scales": {
            "x": {"stacked": True, "grid": {"display": False}},
            "y": {"stacked": True, "beginAtZero": True, "ticks": {"precision": 0}, "grid": {}},
        },
    }
)


@dataclass(frozen=True)
class Tally:
    """How many of one kind, day, status and currency there were, and how much together."""

    kind: str
    day: date
    status: str
    currency: str
    count: int
    total: Decimal | None


def panels(person: User, *, now: datetime) -> list[Panel]:
    """The picture of the last thirty days, of what this person may see."""
    seen = [(kind, model) for kind, model, permission in _MODELS if person.has_perm(permission)]
    if not seen:
        return []
    today = timezone.localdate(now)
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    sums = [found for kind, model in seen for found in _sums(kind, model, person, days[0])]
    title = " and ".join(kind.lower() for kind, _ in seen).capitalize()
    return [
        Panel(
            f"{title}, last {DAYS} days",
            note="" if sums else "Nothing moved in these days.",
            template="office/funding/activity.html",
            context={"chart": chart(sums, days), "options": _OPTIONS, "table": table(sums)},
        )
    ]


def _sums(kind: str, model: type[Deposit] | type[Withdrawal], person: User, first: date) -> list[Tally]:
    rows: QuerySet[Any] = scope.limit(model._default_manager.all(), person, "customer")
    start = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    recent = rows.filter(Q(created_at__gte=start) | Q(created_at=None, first_seen_at__gte=start))
    grouped = (
        recent.annotate(day=TruncDate(Coalesce("created_at", "first_seen_at")))
        .values("day", "status", "currency")
        .annotate(count=Count("pk"), total=Sum("amount"))
        .order_by("day", "status", "currency")
    )
    return [Tally(kind=kind, **found) for found in grouped]


def chart(sums: list[Tally], days: list[date]) -> str:
    """The bars for the theme's chart, as JSON: one stack a kind, one colour a status. Counts, never money."""
    bars = dict.fromkeys((found.kind, found.status) for found in sums)
    datasets = [
        {
            "label": f"{kind} {status or 'without a status'}",
            "stack": kind,
            "data": [
                sum(f.count for f in sums if (f.kind, f.status, f.day) == (kind, status, day)) for day in days
            ],
            "backgroundColor": _COLOURS[kind].get(status, _GREY),
            "maxBarThickness": 14,
        }
        for kind, status in bars
    ]
    return json.dumps({"labels": [f"{day:%b} {day.day}" for day in days], "datasets": datasets})


def table(sums: list[Tally]) -> Table:
    """The same in words, newest first, with what each currency sums up to; currencies are never mixed."""
    rows = [
        (
            f"{found.day:%Y-%m-%d}",
            found.kind,
            found.status or "no status",
            str(found.count),
            money("" if found.total is None else plain(found.total), found.currency),
        )
        for found in sorted(sums, key=lambda found: (found.day, found.kind), reverse=True)
    ]
    return Table(("Day", "Kind", "Status", "Count", "Sum"), rows, numeric=(3, 4))
