"""The figures of decisions: one page, for a range of days."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils import timezone
from unfold.widgets import UnfoldAdminDateWidget

from backoffice.approvals import figures
from backoffice.approvals.models import DecisionFigures
from backoffice.pages.admin import OfficeAdmin
from backoffice.pages.objects import the_person

_DAYS, _MOST_DAYS = 30, 366


class DaysForm(forms.Form):
    """From which day to which, both included."""

    since = forms.DateField(label="From", widget=UnfoldAdminDateWidget(attrs={"type": "date"}))
    until = forms.DateField(label="To", widget=UnfoldAdminDateWidget(attrs={"type": "date"}))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        if since and until and not since <= until <= since + timedelta(days=_MOST_DAYS):
            raise forms.ValidationError(f"Give a range that begins first, of up to {_MOST_DAYS} days.")
        return given


@admin.register(DecisionFigures)
class FiguresAdmin(OfficeAdmin):
    """How decisions are made. Whoever may look sees every customer's: the figures name no customer."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        person = the_person(request)
        return person.has_perm("approvals.view_decisionfigures") and person.has_perm(
            "cards.view_every_customer"
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return DecisionFigures.objects.none()

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        raise Http404

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        if not self.has_view_permission(request):
            raise PermissionDenied
        today = timezone.localdate()
        first = {"since": today - timedelta(days=_DAYS - 1), "until": today}
        form = DaysForm(request.GET) if {"since", "until"} & set(request.GET) else DaysForm(first)
        days = form.cleaned_data if form.is_valid() else first
        return self.render(
            request,
            "office/approvals/figures.html",
            title="Figures of decisions",
            form=form,
            days=days,
            figures=figures.of_days(_begin(days["since"]), _begin(days["until"] + timedelta(days=1))),
            zone=timezone.get_current_timezone_name(),
        )


def _begin(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=timezone.get_current_timezone())
