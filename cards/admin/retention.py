"""The pages of retention: the reports that prove it, and the button that destroys details at once."""

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.navigation import visible
from backoffice.pages.forms import ReasonForm
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, link, page_of, when
from cards import retention, retention_report
from cards.models import RetentionReport, SealedDetails

DESTROY = "destroy-details"
_FIRST_FEW = 50


class DestroyForm(ReasonForm):
    """Asks why, and for the second factor: what is destroyed cannot be had again."""

    needs_step_up = True


def destroy_act(person: User, details: SealedDetails | None) -> Iterable[Act]:
    """The button for who may press it; off where there is nothing left to destroy."""
    if details is not None and person.has_perm(retention.PERMISSION):
        yield Act(
            DESTROY,
            "Destroy details now",
            partial(_destroy_now, person, details),
            form=DestroyForm,
            why_not="The details are destroyed." if details.is_destroyed else "",
            hides_when_off=True,
            tone="danger",
            lead="Number and security code are then gone: Endl sends them once. Last four and expiry stay.",
        )


def _destroy_now(person: User, details: SealedDetails, given: dict[str, Any]) -> str:
    retention.destroy_now(details=details, reason=given["reason"], by=person, now=timezone.now())
    return "The details are destroyed."


@admin.register(RetentionReport)
class RetentionReportAdmin(ObjectAdmin):
    """Reports: one a day by itself, more when somebody wants one."""

    act_names = ("report",)
    list_display = ("made", "by", "destroyed", "kept", "shown_overdue", "shown_tried", "shown_result")
    list_filter = (("made_at", admin.DateFieldListFilter),)
    ordering = ("-made_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="When", ordering="made_at")
    def made(self, report: RetentionReport) -> Any:
        return when(report.made_at)

    @display(description="Overdue")
    def shown_overdue(self, report: RetentionReport) -> int:
        return report.overdue

    @display(description="Could be had, of those tried")
    def shown_tried(self, report: RetentionReport) -> str:
        return f"{report.opened} of {report.tried}"

    @display(description="Result")
    def shown_result(self, report: RetentionReport) -> Any:
        return _result(report)

    def badge_of(self, obj: RetentionReport) -> Any:
        return _result(obj)

    def lead_of(self, obj: RetentionReport) -> str:
        return retention_report.sentence(obj)

    def acts(self, request: HttpRequest, obj: RetentionReport) -> Iterable[Act]:
        person = the_person(request)
        if person.has_perm("cards.add_retentionreport"):
            yield Act("report", "Report anew", partial(_report_anew, person))

    def after(self, request: HttpRequest, obj: Any, act: Act) -> str:
        return page_of(retention_report.latest() or obj)

    def panels(self, request: HttpRequest, obj: RetentionReport) -> Iterable[Panel]:
        yield Panel("What was found", list(_facts(obj)))
        yield Panel("When details are destroyed", list(_rules()))
        yield Panel(
            "Why they went, since the report before",
            table=Table(("Reason", "How many"), [tuple(each) for each in obj.reasons], numeric=(1,)),
            empty="Nothing was destroyed since the report before.",
        )
        yield _destroyed(request, obj)


def _facts(report: RetentionReport) -> Iterable[Fact]:
    yield Fact("When", when(report.made_at))
    yield Fact("By", report.by)
    yield Fact("Envelopes destroyed so far", report.destroyed)
    yield Fact("Envelopes kept", report.kept)
    yield Fact("Envelopes past their time", report.overdue_details)
    yield Fact("Raw answers past their time", report.overdue_answers)
    yield Fact("Spooled files past their time", report.overdue_files)
    hint = "Destroyed details chosen at random; every place that could hold them was looked at."
    yield Fact("Tried to get at", f"{report.tried}, of which {report.opened} could be had", hint)


def _rules() -> Iterable[Fact]:
    """The settings as they are now."""
    on, off = badge("on", tone="good"), badge("off", tone="alarm")
    yield Fact("After", f"{settings.DETAILS_HOURS} hours", "DETAILS_HOURS")
    yield Fact("When the card is no longer active", on if settings.DESTROY_WHEN_NOT_ACTIVE else off)
    looks = f"After {settings.REVEALS_PER_CARD} looks"
    yield Fact(looks, on if settings.DESTROY_WHEN_LOOKS_ARE_USED_UP else off)


def _destroyed(request: HttpRequest, report: RetentionReport) -> Panel:
    since = report.made_at - timedelta(days=30)
    shown = retention_report.destroyed_lately(since).filter(
        destroyed_at__lte=report.made_at, pk__in=visible(SealedDetails, request).values("pk")
    )
    rows = [
        (link(details), when(details.received_at), when(details.destroyed_at), details.destroyed_because)
        for details in shown.defer("envelope")[:_FIRST_FEW]
    ]
    return Panel(
        f"Destroyed in the 30 days before (the last {_FIRST_FEW})",
        table=Table(("Details", "Received", "Destroyed", "Why"), rows),
        empty="Nothing that you may see was destroyed.",
    )


def _report_anew(person: User, _given: dict[str, Any]) -> str:
    return retention_report.sentence(retention_report.ask_for_report(by=person, now=timezone.now()))


def _result(report: RetentionReport) -> Any:
    return badge("well", "Nothing overdue", tone="good") if report.is_well else badge("overdue", tone="alarm")
