"""Whose turn it is: which waiting approvals a person can decide on now, and which wait for others."""

from collections import defaultdict
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.module_loading import import_string

from backoffice.access.models import User
from backoffice.approvals.limits import DAY
from backoffice.approvals.models import Approval, Decision, Limit

State = Approval.State
# Since when a person is waited for: the step may be younger than the request.
WAITS_SINCE = Coalesce("step_since", "created_at")


def mine(person: User, *, now: datetime) -> Q:
    """Those that wait for a decision which this person can make: the same as `reasons.why` says one by one.

    Whether the person sees the customer is for the caller to say.
    """
    decided = Decision.objects.filter(approval=OuterRef("pk"), person=person)
    return (
        Q(state=State.PENDING, permission__in=person.get_all_permissions())
        & ~Q(maker=person)
        & ~Q(Exists(decided))
        & _within_limits(person, now)
    )


def _within_limits(person: User, now: datetime) -> Q:
    beyond = Q(pk=None)
    limits = list(Limit.objects.filter(person=person))
    used = _used(person, now) if limits else {}
    for limit in limits:
        most = min(limit.per_decision, limit.per_day - used.get(limit.currency, Decimal(0)))
        beyond |= Q(currency=limit.currency, amount__gt=most)
    return ~beyond if limits else Q()


def _used(person: User, now: datetime) -> dict[str, Decimal]:
    approved = Decision.objects.filter(
        person=person, verdict=Decision.Verdict.APPROVE, made_at__gt=now - DAY, amount__isnull=False
    )
    used: dict[str, Decimal] = defaultdict(Decimal)
    for currency, amount in approved.values_list("currency", "amount"):
        used[currency] += amount or Decimal(0)
    return used


def mine_of_my_customers(person: User, *, now: datetime) -> QuerySet[Approval]:
    """Those that this person can decide on, for the customers that they work for."""
    customers = import_string(settings.CUSTOMERS_OF)(person)
    seen = Approval.objects.filter(customer_endl_id__in=customers.values("endl_id"))
    return seen.filter(mine(person, now=now))
