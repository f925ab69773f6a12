"""Times as Endl writes them."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> float:
    """Seconds since 1970, for due times."""
    return time.time()


def written(moment: datetime) -> str:
    """A moment in UTC, to the second, with a Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp() -> str:
    """This moment as Endl writes it."""
    return written(datetime.now(UTC))


def read(text: object) -> datetime | None:
    """The moment that an ISO 8601 text names, UTC unless it says otherwise; None when it names none."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
