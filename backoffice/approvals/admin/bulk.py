"""Approvals of many: what was chosen, confirmed by its content, and what became of each."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from unfold.decorators import display

from backoffice.approvals import bulk
from backoffice.approvals.forms import ConfirmManyForm, GoOnForm
from backoffice.approvals.models import BulkRow, BulkRun
from backoffice.audit.trail import Refusal
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import page_of, url_of, when

State = BulkRow.State


@admin.register(BulkRun)
class BulkRunAdmin(ObjectAdmin):
    """A person's own approvals of many; who reads the trail sees everybody's."""

    list_display = ("chosen", "person", "made", "confirmed", "count")
    list_select_related = ("person",)
    ordering = ("-made_at",)
    empty_words = "Tick requests in the queue to approve many at once."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def scoped(self, request: HttpRequest, rows: QuerySet[BulkRun]) -> QuerySet[BulkRun]:
        rows = rows.annotate(chosen_count=Count("rows"))
        return (
            rows
            if the_person(request).has_perm("approvals.view_decision")
            else rows.filter(person=the_person(request))
        )

    @display(description="Chosen", ordering="made_at")
    def made(self, run: BulkRun) -> Any:
        return when(run.made_at)

    @display(description="Confirmed", ordering="confirmed_at")
    def confirmed(self, run: BulkRun) -> Any:
        return when(run.confirmed_at)

    @display(description="Requests")
    def count(self, run: Any) -> int:
        return int(run.chosen_count)

    def get_urls(self) -> list[URLPattern]:
        decide = path(
            "<path:object_id>/decide/",
            self.admin_site.admin_view(self.decide_view),
            name="approvals_bulkrun_decide",
        )
        return [decide, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        run = self.object_or_404(request, object_id)
        return self.run_page(request, run, _form_of(run, request))

    def decide_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Confirm the choice, or go on with it; either way decide on as many as one answer takes."""
        run = self.object_or_404(request, object_id)
        if request.method != "POST":
            return redirect(page_of(run))
        form = _form_of(run, request, request.POST)
        if form is None:
            if run.person_id != the_person(request).pk:
                raise PermissionDenied
            return redirect(page_of(run))
        if not form.is_valid():
            return self.run_page(request, run, form)
        try:
            _perform(run, request, form.cleaned_data)
        except Refusal as refusal:
            messages.error(request, refusal.sentence)
        return redirect(page_of(run))

    def run_page(self, request: HttpRequest, run: BulkRun, form: Form | None) -> HttpResponse:
        """What was chosen and, once it is confirmed, what became of each."""
        rows = list(run.rows.all())
        of = {state: [row for row in rows if row.state == state] for state in State}
        waiting = of[State.WAITING]
        return self.render(
            request,
            "office/approvals/bulk.html",
            title="Approval of many",
            heading=_heading(run, waiting),
            run=run,
            form=form,
            form_url=url_of(run, "decide"),
            total=len(rows) - len(of[State.LEFT_OUT]),
            settled=len(of[State.DONE]) + len(of[State.REFUSED]),
            waiting=waiting,
            done=of[State.DONE],
            refused=of[State.REFUSED],
            left_out=of[State.LEFT_OUT],
            looks=sum(row.grade == BulkRow.Grade.LOOK for row in waiting),
            sums=bulk.sums(waiting),
            groups=[
                ("Left out", of[State.LEFT_OUT], ""),
                ("Not approved", of[State.REFUSED], ""),
                ("Waiting" if run.confirmed_at else "Chosen", waiting, ""),
                ("Approved by you", of[State.DONE], ""),
            ],
        )


def _form_of(run: BulkRun, request: HttpRequest, data: Any = None) -> Form | None:
    """The form that the choice waits for; None where nothing is left, or it is somebody else's."""
    if run.person_id != the_person(request).pk or not run.rows.filter(state=State.WAITING).exists():
        return None
    form = GoOnForm if run.confirmed_at else ConfirmManyForm
    return form(data, request=request, about=run)


def _perform(run: BulkRun, request: HttpRequest, given: dict[str, Any]) -> None:
    person = the_person(request)
    if run.confirmed_at is None:
        run = bulk.confirm(
            run=run,
            leaves_looks=bool(given.get("leave_out_looks")),
            reason=given.get("reason", ""),
            by=person,
            now=timezone.now(),
        )
    left = bulk.go_on(run, by=person)
    if not left:
        done = run.rows.filter(state=State.DONE).count()
        messages.success(request, f"{done} approved by you. What was not is listed below, with the reason.")


def _heading(run: BulkRun, waiting: list[BulkRow]) -> str:
    if run.confirmed_at is None:
        return f"Approve {len(waiting)} at once?"
    return f"Approving: {len(waiting)} to go" if waiting else "What became of each"
