"""The home page: what waits for this person, how things went, and how the line to Endl is."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import line
from backoffice.delivery.line import Health
from backoffice.mirror.models import Read
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Fact, Panel, code, when

_FIRST_STEPS: dict[str, tuple[str, ...]] = {
    roles.MANAGER: (
        "Open Customers and choose a business, such as Aurora.",
        "Press “Register cardholder” and fill in a name and an e-mail address.",
        "Sign in as compliance in another browser and approve the cardholder.",
        "Press “Issue card” for an amount below 1,000 USD: no approval is needed.",
        "Watch the order turn to Issued, open the card, and press “Reveal”.",
    ),
    roles.FINANCE_MAKER: (
        "Press “Request deposit”, choose a wallet and an amount.",
        "Look at the request: nothing is sent until another person approves it.",
        "Sign in as checker in another browser and approve it.",
        "Watch it go from Submitted to Completed on its page.",
    ),
    roles.FINANCE_CHECKER: (
        "Open a deposit that waits for you and read what would be sent, to the byte.",
        "Approve it, or reject it with a reason; practice mode asks for your password first.",
        "Try to decide on the same request again: the office says who was first.",
    ),
    roles.COMPLIANCE: (
        "Open Cardholders and choose one that is not reviewed.",
        "Approve or reject: until then no card can be issued to that person.",
        "Look at Reveals to see who opened which card's details, and why.",
    ),
    roles.AUDITOR: (
        "Open the Audit trail and filter by Refused to see what people tried and could not do.",
        "Open any deposit request and press “History”.",
        "You can look at everything and change nothing.",
    ),
    roles.ADMINISTRATOR: (
        "Open People and add a person; then give them a role on their page.",
        "Open Assignments to say for which customers they work.",
        "Open Line to Endl to see what the connection can do.",
        "Try to give yourself a role: the office refuses it, and that stays on record.",
    ),
}


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the page what this person sees there."""
    person = the_person(request)
    panels = [panel for name in settings.HOME_PANELS for panel in import_string(name)(person)]
    panels += house_panels(person)
    held = person.role_names
    return context | {
        "greeting": f"Good {_time_of_day()}, {person.first_name or person.get_username()}",
        "roles": held,
        "tiles": [panel for panel in panels if _is_tiles(panel)],
        "pictures": [panel for panel in panels if not _is_tiles(panel)],
        "quick_actions": quick_actions(person),
        "first_steps": [step for role in held for step in _FIRST_STEPS.get(role, ())]
        if settings.PRACTICE
        else [],
        "line": line_state(line.health()),
        "line_facts": where_it_leads(),
        "may_see_line": person.has_perm("delivery.view_pause"),
    }


def house_panels(person: User) -> list[Panel]:
    """What the house itself waits for: people without a role, alerts, what people were refused."""
    facts = [*_of_people(person), *_of_the_watch(person)]
    return [Panel("The house", facts)] if facts else []


def _of_people(person: User) -> Iterator[Fact]:
    if not person.has_perm("access.change_user"):
        return
    here = User.objects.filter(is_active=True)
    page = reverse("admin:access_user_changelist")
    yield Fact("People who can sign in", _number(here.count(), f"{page}?is_active__exact=1"))
    yield Fact("Without a role", _number(here.filter(groups=None).count(), f"{page}?groups__isnull=1"))
    waiting = here.filter(has_temporary_password=True).count()
    yield Fact("Have not signed in yet", _number(waiting, f"{page}?has_temporary_password__exact=1"))


def _of_the_watch(person: User) -> Iterator[Fact]:
    if person.has_perm("audit.view_entry"):
        refused = Entry.objects.filter(
            result=Entry.Result.REFUSED, at__gte=timezone.now() - timedelta(days=7)
        )
        url = f"{reverse('admin:audit_entry_changelist')}?result__exact=refused"
        yield Fact("Refused in the last 7 days", _number(refused.count(), url))


def _number(count: int, url: str) -> SafeString:
    return format_html('<a class="link" href="{}">{}</a>', url, count)


def quick_actions(person: User) -> list[dict[str, str]]:
    """The buttons of what this person may begin."""
    return [
        {"label": label, "url": reverse(url_name), "icon": icon}
        for label, url_name, permission, icon in settings.QUICK_ACTIONS
        if person.has_perm(permission)
    ]


def line_state(health: Health) -> dict[str, Any]:
    """How the line is, in a sentence with its colour, and the facts under it."""
    slow_until = health.line.slow_until
    is_slow = slow_until is not None and slow_until > timezone.now()
    if health.pauses:
        tone, sentence = "off", "Paused: nothing is sent until it works again."
    elif is_slow:
        tone, sentence = "slow", "Slowed down: Endl asked everybody to wait."
    elif health.line.trouble:
        tone, sentence = "slow", "The last call did not work."
    elif health.line.answered_at is None:
        tone, sentence = "slow", "Endl has not been asked anything yet."
    else:
        tone, sentence = "", "Endl answers."
    state = {"off": "paused", "slow": "slow"}.get(tone, "well")
    return {
        "tone": tone,
        "state": state,
        "sentence": sentence,
        "facts": list(_line_facts(health, is_slow=is_slow)),
    }


def _line_facts(health: Health, *, is_slow: bool) -> list[Fact]:
    facts = [
        Fact(f"Paused: {pause.get_scope_display().lower()}", pause.message, pause.remedy)
        for pause in health.pauses
    ]
    if is_slow:
        facts.append(Fact("Slow until", when(health.line.slow_until)))
    facts.append(Fact("Last answer", when(health.line.answered_at)))
    if health.line.trouble:
        facts.append(Fact("Last trouble", health.line.trouble))
    off = list(Read.objects.exclude(off_since=None).values_list("name", flat=True))
    if off:
        facts.append(
            Fact("Switched off", ", ".join(name.replace("_", " ") for name in off), "Endl has no such read.")
        )
    return facts


def where_it_leads() -> list[Fact]:
    """Which Endl this office talks to."""
    environment = "Practice" if settings.PRACTICE else "Production"
    return [Fact("Address", code(settings.ENDL_BASE_URL)), Fact("Environment", environment)]


def _is_tiles(panel: Panel) -> bool:
    """Facts alone are numbers to be seen at a glance; tables and templates are pictures."""
    return bool(panel.facts) and panel.table is None and not panel.template


def _time_of_day() -> str:
    hour = timezone.localtime().hour
    return "morning" if 4 <= hour < 12 else "afternoon" if hour < 18 else "evening"
