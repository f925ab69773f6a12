"""What a person has to look at: opened once, closed when its cause is gone."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model, QuerySet

from backoffice.delivery.models import Alert

log = logging.getLogger("backoffice.alerts")


@dataclass(frozen=True)
class Finding:
    """Something wrong with one object, in a sentence."""

    about: Model
    message: str

    @property
    def key(self) -> tuple[str, str]:
        return self.about._meta.label_lower, str(self.about.pk)


def open_alerts() -> QuerySet[Alert]:
    """The alerts whose cause is still there, the newest first."""
    return Alert.objects.filter(cleared_at=None)


def keep(kind: str, findings: Iterable[Finding], *, now: datetime) -> int:
    """Make the open alerts of a kind say what was found. Returns how many were opened.

    Args:
        kind: what was looked for, such as "late" or "I2".
        findings: everything that the look found, not only what is new.
        now: aware time of the look.
    """
    found = {finding.key: finding for finding in findings}
    standing = {(alert.object_type, alert.object_id): alert for alert in open_alerts().filter(kind=kind)}
    gone = [alert.pk for key, alert in standing.items() if key not in found]
    Alert.objects.filter(pk__in=gone).update(cleared_at=now)
    new = [finding for key, finding in found.items() if key not in standing]
    # Two looks at the same moment find the same: the second one's rows are ignored.
    Alert.objects.bulk_create([_alert(kind, finding, now) for finding in new], ignore_conflicts=True)
    for finding in new:
        log.error("alert %s: %s %s: %s", kind, *finding.key, finding.message)
    return len(new)


def _alert(kind: str, finding: Finding, now: datetime) -> Alert:
    object_type, object_id = finding.key
    return Alert(
        kind=kind,
        object_type=object_type,
        object_id=object_id,
        object_name=str(finding.about)[:200],
        customer_endl_id=str(getattr(finding.about, "customer_endl_id", "") or ""),
        message=finding.message,
        since=now,
    )
