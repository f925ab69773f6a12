"""What compliance is alerted to: bursts of looks, refused tries, looks out of hours, very many in a day."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.conf import settings
from django.contrib.contenttypes.models import ContentType

from backoffice.access.models import User
from backoffice.delivery import alerts
from backoffice.delivery.alerts import Finding
from backoffice.hours import OfficeHours
from cards.budgets import BURST, DAY
from cards.models import CardReveal

Result = CardReveal.Result
MANY_REFUSED = 5


def watch(*, now: datetime) -> int:
    """Keep the alerts about looks of the last 24 hours. Returns how many were opened."""
    looks = list(
        CardReveal.objects.filter(purpose=CardReveal.Purpose.REVEAL, started_at__gt=now - DAY)
        .select_related("by")
        .order_by("started_at")
    )
    seen = [look for look in looks if look.result != Result.REFUSED]
    refused = [look for look in looks if look.result == Result.REFUSED]
    found = {
        "reveal burst": _bursts(seen, settings.REVEALS_PER_TEN_MINUTES, "looked at cards"),
        "reveals refused": _bursts(refused, MANY_REFUSED, "was refused a look at cards"),
        "reveals out of hours": _out_of_hours(seen, settings.OFFICE_HOURS),
        "reveals in a day": _very_many(seen),
    }
    return sum(alerts.keep(kind, findings, now=now) for kind, findings in found.items())


# The words give no counts: an alert that is open keeps its words while more is added. The ledger counts.


def _bursts(looks: Iterable[CardReveal], most: int, did: str) -> Iterator[Finding]:
    """Who did something `most` times or more within ten minutes."""
    for person, times in _by_person(looks):
        if max(sum(time <= other < time + BURST for other in times) for time in times) >= most:
            yield Finding(person, f"{person} {did} {most} times or more within ten minutes.")


def _out_of_hours(looks: Iterable[CardReveal], hours: OfficeHours) -> Iterator[Finding]:
    """Who looked when nobody is expected at a desk."""
    for person, _times in _by_person(look for look in looks if not hours.are_on(look.started_at)):
        yield Finding(person, f"{person} looked at cards outside office hours ({hours}).")


def _very_many(looks: list[CardReveal]) -> Iterator[Finding]:
    """Whether all together looked more often in a day than is usual here."""
    most = settings.REVEALS_ALERT_PER_DAY
    if len(looks) > most:
        kind = ContentType.objects.get_for_model(CardReveal)
        yield Finding(kind, f"Cards were looked at more than {most} times in 24 hours.")


def _by_person(looks: Iterable[CardReveal]) -> Iterable[tuple[User, list[datetime]]]:
    times: dict[User, list[datetime]] = defaultdict(list)
    for look in looks:
        times[look.by].append(look.started_at)
    return times.items()
