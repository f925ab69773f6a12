"""The hours in which people are expected at their desks, such as "Mon-Fri 07:00-20:00"."""

import re
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FORM = re.compile(r"(\w{3})-(\w{3}) ([0-9]{2}:[0-9]{2})-([0-9]{2}:[0-9]{2})", re.ASCII)


@dataclass(frozen=True)
class OfficeHours:
    """Days of the week (Monday is 0) and times of day, in one zone."""

    days: frozenset[int]
    opens: time
    closes: time
    zone: ZoneInfo

    def are_on(self, moment: datetime) -> bool:
        """Whether an aware time lies within the hours."""
        local = moment.astimezone(self.zone)
        return local.weekday() in self.days and self.opens <= local.time() < self.closes

    def __str__(self) -> str:
        return f"{self.opens:%H:%M} to {self.closes:%H:%M} {self.zone}"


def office_hours(text: str, zone: str) -> OfficeHours:
    """Read OFFICE_HOURS and OFFICE_TIME_ZONE. Raises ImproperlyConfigured with what is wanted."""
    found = _FORM.fullmatch(text)
    try:
        if found is None:
            raise ValueError(text)
        first, last = (_DAYS.index(found[place]) for place in (1, 2))
        opens, closes = (time.fromisoformat(found[place]) for place in (3, 4))
    except ValueError:
        raise ImproperlyConfigured(
            f"OFFICE_HOURS is “{text}”; write days and hours, such as Mon-Fri 07:00-20:00."
        ) from None
    try:
        where = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ImproperlyConfigured(
            f"OFFICE_TIME_ZONE is “{zone}”; write a zone such as Europe/Berlin."
        ) from None
    span = range(first, last + 1 if last >= first else last + 8)
    return OfficeHours(frozenset(day % 7 for day in span), opens, closes, where)
