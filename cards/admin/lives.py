"""What became of a card: its life on one line, and who has seen its details."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from backoffice.pages.parts import Panel, Table, badge, name, when
from cards.admin.masks import details_of
from cards.models import Card, CardReveal, SealedDetails

ENDL, HERE = "says Endl", "says this office"
_NOT_YET = "not yet"
Purpose, Result = CardReveal.Purpose, CardReveal.Result


@dataclass(frozen=True)
class Step:
    """One station of a card's life. Without a time it has not come, or nobody said when it did."""

    label: str
    at: datetime | None = None
    source: str = ""
    note: str = ""
    has_come: bool = True


def life_of(card: Card) -> Panel:
    """The card's life as a line of stations, each with its time and who says so."""
    return Panel("Its life", template="office/cards/life.html", context={"steps": list(_steps(card))})


def _steps(card: Card) -> Iterable[Step]:
    details = details_of(card)
    if card.created_at is not None:
        yield Step("Issued", card.created_at, ENDL)
    else:
        yield Step("Issued", card.first_seen_at, HERE, "when it was first seen: Endl gave no time")
    if details is not None:
        yield Step("Details received", details.received_at, HERE)
        yield _revealed(details)
    yield _end_at_endl(card)
    if details is not None:
        yield _destroyed(details)


def _revealed(details: SealedDetails) -> Step:
    looks = details.reveals.filter(purpose=Purpose.REVEAL, result=Result.DONE).order_by("started_at")
    times = list(looks.values_list("started_at", flat=True))
    if not times:
        return Step("Revealed", None, HERE, _NOT_YET, has_come=False)
    again = f"{len(times)} times, last {_short(times[-1])}" if len(times) > 1 else "once"
    return Step("Revealed", times[0], HERE, again)


def _end_at_endl(card: Card) -> Step:
    if card.missing_since is not None:
        return Step("Gone at Endl", card.missing_since, HERE, "the last list no longer had it")
    if card.has_ended:
        return Step(card.status.capitalize(), card.changed_at, ENDL, "when sync heard of it")
    if card.status in card.KNOWN_STATUSES:
        return Step("Used, expired or cancelled", None, ENDL, f"{_NOT_YET}: {card.status}", has_come=False)
    said = f"“{card.status}”, which is not recognised" if card.status else "nothing"
    return Step("Used, expired or cancelled", None, ENDL, f"not known: Endl says {said}", has_come=False)


def _destroyed(details: SealedDetails) -> Step:
    if details.destroyed_at is not None:
        return Step("Details destroyed", details.destroyed_at, HERE, f"because {details.destroyed_because}")
    latest = details.received_at + timedelta(hours=settings.DETAILS_HOURS)
    return Step(
        "Details destroyed", None, HERE, f"{_NOT_YET}; by {_short(latest)} at the latest", has_come=False
    )


def _short(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M %Z}"


# --- Seen by ------------------------------------------------------------------------------------------


def seen_by(details: SealedDetails) -> Panel:
    """Everybody who had the details opened or tried to, the newest first."""
    rows = [
        (
            name(str(look.by)),
            look.get_purpose_display(),
            why(look),
            when(look.started_at),
            how_long(look),
            what_more(look),
            shown_result(look),
        )
        for look in details.reveals.select_related("by")
    ]
    return Panel(
        "Seen by",
        table=Table(("Who", "What for", "Why", "When", "How long", "And", "Result"), rows),
        empty="Nobody has opened the details.",
    )


def why(look: CardReveal) -> str:
    """The reason: its kind, and what the person wrote."""
    kind = look.get_kind_display() if look.kind else ""
    return f"{kind}: {look.reason}" if kind else look.reason


def how_long(look: CardReveal) -> str:
    """How long the values could be seen."""
    seconds = look.seconds_shown
    if seconds is None:
        return "—"
    if look.hidden_at is None:
        # No word came of when they were hidden: the time that was given, at the most.
        return f"{seconds} s at most"
    return f"{seconds} s" if seconds else "under 1 s"


def what_more(look: CardReveal) -> str:
    """What happened in the look beyond the number being shown."""
    more = ["CVV shown"] if look.cvv_shown_at else []
    more += ["made longer"] if look.extended_at else []
    copied = dict.fromkeys(look.copied_fields)
    more += [f"copied {', '.join('CVV' if field == 'cvv' else field for field in copied)}"] if copied else []
    return ", ".join(more) or "—"


def shown_result(look: CardReveal) -> Any:
    """The result as a badge."""
    if look.result == Result.REFUSED:
        return badge(look.result, f"Refused: {look.refused_because}", tone="bad")
    return badge(look.result, look.get_result_display())
