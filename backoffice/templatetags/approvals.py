"""What the templates of approvals cannot say by themselves. A dossier is plain data: times are text in it."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from backoffice import money as exact
from backoffice.approvals.models import Approval
from backoffice.pages import parts

register = template.Library()
_TONES = {"pass": "good", "look": "wait", "stop": "bad"}
_WORDS = {"pass": "Pass", "look": "Look", "stop": "Stop"}
# How an age is coloured: nobody minds four hours, a day is too long.
_SOON, _LATE = timedelta(hours=4), timedelta(hours=24)


@register.filter
def moment(text: str) -> SafeString:
    """A time that was kept as text."""
    return parts.when(datetime.fromisoformat(text))


@register.filter
def money(amount: Decimal | str | None, currency: str) -> SafeString:
    """An amount with its currency; a dash where there is none."""
    shown = amount if isinstance(amount, str) else "" if amount is None else exact.plain(amount)
    return parts.money(shown, currency)


@register.filter
def grade(word: str) -> SafeString:
    """How a check went, as a badge."""
    return parts.badge(word, _WORDS.get(word, word), tone=_TONES.get(word, "odd"))


@register.filter
def verdict(word: str) -> SafeString:
    """A decision as a badge."""
    shown = {"approve": ("approved", "Approved"), "reject": ("rejected", "Rejected")}
    return parts.badge(*shown.get(word, (word, "")))


@register.filter
def age(since: datetime | None) -> Any:
    """How long something has waited, coloured by how long that is."""
    if since is None:
        return parts.NOTHING
    waited = timezone.now() - since
    tone = "good" if waited < _SOON else "wait" if waited < _LATE else "bad"
    shown = "just now" if waited < timedelta(minutes=1) else timesince(since, depth=1)
    return parts.badge("waiting", shown, tone=tone)


@register.filter
def kind(word: str) -> str:
    """A kind of request in words."""
    return word.replace("_", " ").capitalize()


@register.filter
def took(duration: timedelta | None) -> str:
    """A length of time, as short as it can be said."""
    if duration is None:
        return parts.NOTHING
    seconds = int(duration.total_seconds())
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {word}"
    return f"{seconds} s"


@register.filter
def percent(share: float) -> str:
    """A part of the whole, as whole percent."""
    return f"{share * 100:.0f} %"


@register.filter
def state(word: str, label: str) -> SafeString:
    """A state as a badge."""
    return parts.badge(word, label)


@register.filter
def at(names: dict[str, str], key: str) -> str:
    """What stands in a table at a key; blank where nothing does."""
    return names.get(key, "")


@register.filter
def waits_since(approval: Approval) -> datetime:
    """Since when an approval waits for the people of its step."""
    return approval.step_since or approval.created_at
