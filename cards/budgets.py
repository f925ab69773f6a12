"""How often card details may be looked at: a number of times per card, and per person and stretch of time."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from backoffice.access.models import User
from backoffice.audit.trail import Refusal
from cards.models import CardReveal, SealedDetails

Result = CardReveal.Result
BURST = timedelta(minutes=10)
DAY = timedelta(days=1)


class TooManyLooks(Refusal):
    """The card's looks, or the person's, are used up."""


def spend(*, details: SealedDetails, by: User, now: datetime) -> None:
    """Refuse one look too many. Raises TooManyLooks.

    To be called in the transaction that writes the look, with the card's details locked.
    """
    # Two looks of one person at two cards wait for each other here, so that both count. No lock, no look.
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    if sentence := why_not(details=details, by=by, now=now):
        raise TooManyLooks(sentence)


def why_not(*, details: SealedDetails, by: User, now: datetime) -> str:
    """Say why this person may not look at this card now; blank when they may."""
    if left_of(details) < 1:
        return f"This card was looked at {settings.REVEALS_PER_CARD} times, which is as often as it may be."
    looks = looks_of(by).filter(started_at__gt=now - DAY).order_by("-started_at")
    times = list(looks.values_list("started_at", flat=True)[: settings.REVEALS_PER_DAY])
    if len(times) >= settings.REVEALS_PER_DAY:
        return f"You looked at cards {settings.REVEALS_PER_DAY} times in 24 hours. {_again(times[-1:], DAY)}"
    recent = [time for time in times if time > now - BURST]
    if len(recent) >= settings.REVEALS_PER_TEN_MINUTES:
        oldest = recent[: settings.REVEALS_PER_TEN_MINUTES][-1:]
        return (
            f"You looked at cards {settings.REVEALS_PER_TEN_MINUTES} times in ten minutes. "
            f"{_again(oldest, BURST)}"
        )
    return ""


def left_of(details: SealedDetails) -> int:
    """How many looks at a card are left. A look that began counts, whatever the browser then saw."""
    used = details.reveals.filter(
        purpose=CardReveal.Purpose.REVEAL, result__in=(Result.STARTED, Result.DONE)
    ).count()
    return max(0, int(settings.REVEALS_PER_CARD) - used)


def looks_of(person: User) -> QuerySet[CardReveal]:
    """What counts against a person: every look that began, at any card."""
    return CardReveal.objects.filter(by=person, purpose=CardReveal.Purpose.REVEAL).exclude(
        result=Result.REFUSED
    )


def _again(oldest: list[datetime], span: timedelta) -> str:
    """When the oldest look that counts no longer does."""
    if not oldest:
        return "Ask an administrator."
    return f"You can look again at {timezone.localtime(oldest[0] + span):%H:%M:%S %Z on %Y-%m-%d}."
