"""How the lists of money can be narrowed down."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import RangeDateFilter
from unfold.utils import parse_date_str

from backoffice.pages.objects import the_person
from funding import queues


class DayRange(RangeDateFilter):
    """From one day to another, both of them whole, in the office's time zone."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        first, last = self._day("from"), self._day("to")
        if first is not None:
            queryset = queryset.filter(**{f"{self.parameter_name}__gte": _start_of(first)})
        if last is not None:
            queryset = queryset.filter(**{f"{self.parameter_name}__lt": _start_of(last + timedelta(days=1))})
        return queryset

    def _day(self, end: str) -> date | None:
        typed = self.used_parameters.get(f"{self.parameter_name}_{end}")
        found: date | None = parse_date_str(typed) if isinstance(typed, str) else None
        return found


def _start_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


class Queue(admin.SimpleListFilter):
    """What waits, and for whom."""

    title = "what waits"
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        shown = [
            ("own", "My open requests"),
            ("person", "Needs a person"),
            ("refused", "Refused in the last 7 days"),
        ]
        may_decide = the_person(request).has_perm("approvals.decide_deposits")
        return [("decide", "Waiting for my decision"), *shown] if may_decide else shown

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self._wanted(request)
        return queryset if wanted is None else queryset.filter(wanted)

    def _wanted(self, request: HttpRequest) -> Q | None:
        match self.value():
            case "decide":
                return queues.to_decide(the_person(request))
            case "own":
                return queues.own_open(the_person(request))
            case "person":
                return queues.for_a_person()
            case "refused":
                return queues.refused_lately(timezone.now())
        return None


class Missing(admin.SimpleListFilter):
    """Whether Endl's list still has it."""

    title = "at Endl"
    parameter_name = "missing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Missing"), ("no", "Listed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.exclude(missing_since=None)
        return queryset.filter(missing_since=None) if self.value() == "no" else queryset
