"""The proof of retention: what was destroyed when and why, and that nothing is kept past its time."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, QuerySet

from backoffice import vault
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import Actor, operation, record
from backoffice.delivery import alerts, raw
from backoffice.delivery.models import RawAnswer
from cards import retention, scope
from cards.models import CardOrder, RetentionReport, SealedDetails

ALERT = "retention"
SAMPLE = 20
# What is due is destroyed hourly; a worker that was away for one turn is no breach.
GRACE = timedelta(hours=2)
_IN_AN_ANSWER = b"ncryptedDetails"


def make_report(*, by: Actor, now: datetime) -> RetentionReport:
    """Look at everything, try to get at what is destroyed, and put what was found on record.

    Something that is overdue, or that could still be had, is an alert until a report finds it gone.
    """
    tried = list(SealedDetails.objects.exclude(destroyed_at=None).order_by("?")[:SAMPLE])
    before = retention.oldest(now) - GRACE
    with transaction.atomic():
        report = RetentionReport.objects.create(
            made_at=now,
            by=by if isinstance(by, str) else by.get_username(),
            kept=SealedDetails.objects.filter(destroyed_at=None).count(),
            destroyed=SealedDetails.objects.exclude(destroyed_at=None).count(),
            reasons=_reasons(_since(now), now),
            overdue_details=retention.overdue(now=now, grace=GRACE).count(),
            overdue_answers=RawAnswer.objects.filter(received_at__lte=before).count(),
            overdue_files=len(raw.old_files(before=before)),
            tried=len(tried),
            opened=sum(can_be_had(details) for details in tried),
        )
        record("retention.report", report, by=by, new=told(report), result=_result(report))
    breach = [] if report.is_well else [alerts.Finding(report, sentence(report))]
    alerts.keep(ALERT, breach, now=now)
    return report


@operation("retention.report")
def ask_for_report(*, by: User, now: datetime) -> RetentionReport:
    """Make a report because a person wants one. Raises NotAllowed."""
    scope.check(by, "cards.add_retentionreport")
    return make_report(by=by, now=now)


def can_be_had(details: SealedDetails) -> bool:
    """Whether anything that this office holds still leads to details that are marked destroyed."""
    if details.envelope is not None:
        return True
    answers = RawAnswer.objects.filter(attempt__kind=CardOrder.kind, attempt__request_id=details.order_id)
    if any(_holds_envelope(row) for row in answers.select_related("attempt")):
        return True
    return bool(raw.spooled_of(CardOrder.kind, details.order_id))


def _holds_envelope(row: RawAnswer) -> bool:
    try:
        return _IN_AN_ANSWER in raw.unpack(row).body
    except vault.CannotUnseal:
        return False


def latest() -> RetentionReport | None:
    """The newest report, if there is one."""
    return RetentionReport.objects.first()


def destroyed_lately(since: datetime) -> QuerySet[SealedDetails]:
    """What was destroyed after a moment, the newest first."""
    return SealedDetails.objects.filter(destroyed_at__gt=since).order_by("-destroyed_at")


def sentence(report: RetentionReport) -> str:
    """What a report found, in one sentence."""
    if report.is_well:
        return f"Nothing is kept past its time; {report.destroyed} destroyed, {report.kept} kept."
    parts = [
        (report.overdue_details, "envelopes"),
        (report.overdue_answers, "raw answers"),
        (report.overdue_files, "spooled files"),
    ]
    late = ", ".join(f"{count} {noun}" for count, noun in parts if count)
    found = f"{late} are kept past their time." if late else ""
    opened = f"{report.opened} of {report.tried} destroyed ones could still be had." if report.opened else ""
    return " ".join(filter(None, (found, opened)))


def told(report: RetentionReport) -> dict[str, int]:
    """The counts of a report, for the trail."""
    names = ("kept", "destroyed", "overdue_details", "overdue_answers", "overdue_files", "tried", "opened")
    return {name: getattr(report, name) for name in names}


def _result(report: RetentionReport) -> Entry.Result:
    return Entry.Result.DONE if report.is_well else Entry.Result.FAILED


def _since(now: datetime) -> datetime:
    before = latest()
    return before.made_at if before is not None else now - timedelta(days=36_500)


def _reasons(since: datetime, now: datetime) -> list[list[object]]:
    """How often what was the reason, the most frequent first. People's own words count as one."""
    rows = destroyed_lately(since).filter(destroyed_at__lte=now).order_by()
    counted: dict[str, int] = {}
    for row in rows.values("destroyed_because").annotate(count=Count("pk")):
        reason = row["destroyed_because"]
        kind = "a person destroyed them" if " destroyed them: " in reason else reason
        counted[kind] = counted.get(kind, 0) + row["count"]
    return [[reason, count] for reason, count in sorted(counted.items(), key=lambda each: -each[1])]
