"""What the home page says of money."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from backoffice.access.models import User
from backoffice.delivery.models import State
from backoffice.pages.parts import Fact, Panel
from cards import scope
from funding import activity, queues
from funding.models import DepositRequest, WebhookEvent, Withdrawal


def panels(person: User) -> list[Panel]:
    """The panels of this application, for this person."""
    facts = [*_of_requests(person, timezone.now()), *_of_withdrawals(person), *_of_events(person)]
    waiting = [Panel("Money", facts)] if facts else []
    return [*waiting, *activity.panels(person, now=timezone.now())]


def _of_requests(person: User, now: datetime) -> Iterator[Fact]:
    if not person.has_perm("funding.view_depositrequest"):
        return
    mine = scope.limit(DepositRequest.objects.all(), person, "wallet__customer")
    counts = mine.aggregate(
        decide=_count(queues.to_decide(person)),
        own=_count(queues.own_open(person)),
        unknown=_count(Q(state=State.UNKNOWN)),
        person=_count(queues.for_a_person()),
        refused=_count(queues.refused_lately(now)),
    )
    page = reverse("admin:funding_depositrequest_changelist")
    if person.has_perm("approvals.decide_deposits"):
        yield Fact("Deposits waiting for my decision", _link(counts["decide"], f"{page}?queue=decide"))
    if person.has_perm("funding.add_depositrequest"):
        yield Fact("My open requests", _link(counts["own"], f"{page}?queue=own"))
    yield Fact("Unknown outcomes", _link(counts["unknown"], f"{page}?state__exact=unknown"))
    yield Fact("Needing a person", _link(counts["person"], f"{page}?queue=person"))
    yield Fact("Refused in the last 7 days", _link(counts["refused"], f"{page}?queue=refused"))


def _of_withdrawals(person: User) -> Iterator[Fact]:
    if person.has_perm("funding.view_withdrawal"):
        pending = scope.limit(Withdrawal.objects.filter(status="pending"), person, "customer").count()
        page = reverse("admin:funding_withdrawal_changelist")
        yield Fact("Pending withdrawals", _link(pending, f"{page}?status=pending"))


def _of_events(person: User) -> Iterator[Fact]:
    if person.has_perm("funding.view_webhookevent"):
        failed = WebhookEvent.objects.filter(state=WebhookEvent.State.FAILED)
        if not scope.sees_all(person):
            failed = failed.filter(customer_endl_id__in=scope.customers_for(person).values("endl_id"))
        page = reverse("admin:funding_webhookevent_changelist")
        yield Fact("Failed webhook events", _link(failed.count(), f"{page}?state__exact=failed"))


def _count(which: Q) -> Count:
    return Count("pk", filter=which)


def _link(count: int, url: str) -> SafeString:
    return format_html('<a class="link" href="{}">{}</a>', url, count)
