"""What the home page says of approvals: what this person can decide now, and how long it has waited."""

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince

from backoffice.access.models import User
from backoffice.approvals import changes, limits, turns
from backoffice.pages.parts import Fact, Panel


def panels(person: User) -> list[Panel]:
    """The tiles of what waits for this person's decision."""
    facts = [*_requests(person), *_changes(person)]
    return [Panel("Decisions", facts)] if facts else []


def _requests(person: User) -> list[Fact]:
    held = person.get_all_permissions()
    if "approvals.view_approval" not in held or not any("approvals.decide_" in each for each in held):
        return []
    now = timezone.now()
    since = list(turns.mine_of_my_customers(person, now=now).values_list(turns.WAITS_SINCE, flat=True))
    hint = f"the oldest waits for {timesince(min(since), now, depth=1)}" if since else "nothing waits for you"
    page = reverse("admin:approvals_approval_changelist")
    return [Fact("Mine to decide", _number(len(since), f"{page}?turn=mine"), hint)]


def _changes(person: User) -> list[Fact]:
    found = []
    if person.has_perm(changes.PERMISSION):
        count = changes.waiting().exclude(maker=person).count()
        page = reverse("admin:approvals_rulesetchange_changelist")
        found.append(Fact("Changes of rules to decide", _number(count, page)))
    if person.has_perm(limits.PERMISSION):
        count = limits.waiting().exclude(maker=person).exclude(person=person).count()
        page = reverse("admin:approvals_limitchange_changelist")
        found.append(Fact("Raises of limits to decide", _number(count, page)))
    return found


def _number(count: int, url: str) -> str:
    return format_html('<a class="link" href="{}">{}</a>', url, count)
