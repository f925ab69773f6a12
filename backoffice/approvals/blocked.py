"""Why a button is off, in one text: the reasons, who can press it instead, and since when it waits."""

from datetime import datetime

from django.utils import timezone
from django.utils.timesince import timesince

from backoffice.access.models import User
from backoffice.approvals import reasons
from backoffice.approvals.models import Approval


def why_blocked(approval: Approval, person: User, *, now: datetime) -> str:
    """The whole text; blank when this person can decide."""
    why = reasons.why(approval, person, now=now)
    if why.can or why.since is None:
        return why.sentence
    since = timezone.localtime(why.since)
    waits = f"It waits for {why.waits_for}" if why.waits_for else "It waits"
    return f"{why.sentence} {waits}, since {since:%Y-%m-%d %H:%M %Z} ({_how_long(why.since, now)})."


def _how_long(since: datetime, now: datetime) -> str:
    return f"for {timesince(since, now, depth=1)}".replace("\xa0", " ")
