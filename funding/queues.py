"""What waits for whom among the requests for deposits: counted on the home page, filtered by in the list."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from backoffice.access.models import User
from backoffice.approvals.models import Decision
from backoffice.delivery.models import ENDS, State

RECENTLY = timedelta(days=7)


def to_decide(person: User) -> Q:
    """Those that wait for a decision which this person may still make: not their own, not decided by them."""
    decided = Decision.objects.filter(approval=OuterRef("approval"), person=person)
    return Q(~Exists(decided), ~Q(maker=person), state=State.REQUESTED)


def own_open(person: User) -> Q:
    """Those that this person made and that have not come to an end."""
    return Q(maker=person) & ~Q(state__in=ENDS)


def for_a_person() -> Q:
    """Those that go no further by themselves: somebody has to find out what Endl says."""
    return Q(needs_person=True)


def refused_lately(now: datetime) -> Q:
    """Those that Endl refused within the last week."""
    return Q(state=State.REFUSED, state_at__gte=now - RECENTLY)
