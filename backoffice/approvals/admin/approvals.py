"""What waits for a decision, and what was decided: the queue with its dossiers, and the page of each."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html

from backoffice.access.models import User
from backoffice.approvals import blocked, bulk, comments, deciding, dossiers, turns
from backoffice.approvals.admin.queue import ON_A_PAGE, TURNS, Asked, Queue, asked, names_of
from backoffice.approvals.books import all_books
from backoffice.approvals.forms import CommentForm, DecideForm
from backoffice.approvals.models import Approval, BulkRun, Dossier
from backoffice.approvals.pages import dossier_panels
from backoffice.audit.trail import Refusal
from backoffice.delivery.admin import kinds_of_requests
from backoffice.delivery.pages import decisions_panel
from backoffice.navigation import visible
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, code, link, name, page_of, when


@admin.register(Approval)
class ApprovalAdmin(ObjectAdmin):
    """The approvals of requests that the person may open."""

    act_names = ("comment",)
    search_fields: ClassVar[tuple[str, ...]] = ("summary", "customer_endl_id", "maker__username")
    ordering = ("-created_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def scoped(self, request: HttpRequest, rows: QuerySet[Approval]) -> QuerySet[Approval]:
        mine, pages = Q(pk=None), {}
        for kind, model in kinds_of_requests().items():
            seen = visible(model, request)
            mine |= Q(pk__in=seen.exclude(approval=None).values("approval"))
            pages[f"{kind}_pk"] = Subquery(seen.filter(approval=OuterRef("pk")).values("pk")[:1])
        return rows.filter(mine).annotate(**pages)

    def waits_for(self, request: HttpRequest) -> Q:
        """What the sidebar counts: only what this person can decide."""
        return turns.mine(the_person(request), now=timezone.now())

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        one = "<path:object_id>"
        return [
            path("bulk/choose/", view(self.choose_view), name="approvals_approval_choose"),
            path(f"{one}/decide/", view(self.decide_view), name="approvals_approval_decide"),
            path(f"{one}/dossier/", view(self.dossier_view), name="approvals_approval_dossier"),
            path(f"{one}/dossier/<int:decision>/", view(self.dossier_view), name="approvals_approval_frozen"),
            *super().get_urls(),
        ]

    # --- The queue ---------------------------------------------------------------------------------

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        if not self.has_view_permission(request):
            raise PermissionDenied
        return self.queue_page(request, asked(request.GET))

    def queue_page(self, request: HttpRequest, wanted: Asked, form: DecideForm | None = None) -> HttpResponse:
        """The list and, beside it, the chosen one; `form` is one that came back with something to mend."""
        person, now = the_person(request), timezone.now()
        queue = Queue(self.get_queryset(request), person, wanted, now=now)
        rows, tabs = queue.listed(), queue.tabs()
        count = next(tab.count for tab in tabs if tab.turn == wanted.turn)
        if wanted.state:
            count = queue.ordered().count()
        chosen = self._chosen(request, wanted, rows)
        return self.render(
            request,
            "office/approvals/queue.html",
            title="Approvals",
            asked=wanted,
            tabs=[(tab, wanted.url(turn=tab.turn, state="", page=1, at=None)) for tab in tabs],
            rows=[(row, wanted.url(at=row.pk)) for row in rows],
            names=names_of(rows),
            count=count,
            pages=_pages(wanted, count),
            kinds=[book.kind for book in all_books()],
            states=Approval.State.choices,
            most=bulk.MOST,
            chosen=chosen,
            is_chosen_by_hand=wanted.at is not None,
            list_url=wanted.url(at=None),
            **(self._pane(request, chosen, wanted, form) if chosen else {}),
        )

    def _chosen(self, request: HttpRequest, wanted: Asked, rows: list[Approval]) -> Approval | None:
        if wanted.at is None:
            return rows[0] if rows else None
        listed = next((row for row in rows if row.pk == wanted.at), None)
        return listed or self.object_or_404(request, str(wanted.at))

    def _pane(
        self, request: HttpRequest, chosen: Approval, wanted: Asked, form: DecideForm | None
    ) -> dict[str, Any]:
        person, now = the_person(request), timezone.now()
        why_not = blocked.why_blocked(chosen, person, now=now)
        query = wanted.url(at=chosen.pk)
        return {
            "dossier": dossiers.build(chosen, now=now),
            "chosen_name": names_of([chosen]).get(chosen.customer_endl_id, ""),
            "request_link": link(_request_of(chosen), "Open the request itself"),
            "why_not": why_not,
            "decide_form": None if why_not else form or _decide_form(request, chosen),
            "decide_url": reverse("admin:approvals_approval_decide", args=(chosen.pk,)) + query,
            "comment_form": _comment_form(request, chosen),
            "comment_url": reverse("admin:approvals_approval_comment", args=(chosen.pk,)) + query,
            "downloads": [_download(chosen)],
        }

    def decide_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Decide on the chosen one, by the operation of its own page; then the next one opens."""
        approval, wanted = self.object_or_404(request, object_id), asked(request.GET)
        here = _queue_url(wanted, at=approval.pk)
        if request.method != "POST":
            return redirect(here)
        following = Queue(self.get_queryset(request), the_person(request), wanted, now=timezone.now()).after(
            approval.pk
        )
        try:
            wish = deciding.request_of(approval)
            form = DecideForm(request.POST, request=request, about=wish)
            if not form.is_valid():
                approval.refresh_from_db()
                return self._mend(request, approval, wanted, form)
            given = form.cleaned_data
            sentence = deciding.decide(
                approval,
                by=the_person(request),
                verdict=given["verdict"],
                seen=given["seen"],
                reason=given["reason"],
            )
        except Refusal as refusal:
            messages.error(request, refusal.sentence)
            newer = Approval.objects.filter(replaces=approval.pk).values_list("pk", flat=True).first()
            return redirect(_queue_url(wanted, at=newer or approval.pk))
        messages.success(request, f"{sentence} {_what_next(following)}")
        return redirect(_queue_url(wanted, turn="mine", state="", page=1, at=following))

    def _mend(
        self, request: HttpRequest, approval: Approval, wanted: Asked, form: DecideForm
    ) -> HttpResponse:
        """The queue again, with what was typed; a form for what is decided by now says who was first."""
        why_not = blocked.why_blocked(approval, the_person(request), now=timezone.now())
        if why_not:
            messages.error(request, why_not)
            return redirect(_queue_url(wanted, at=approval.pk))
        return self.queue_page(request, asked({**request.GET.dict(), "at": str(approval.pk)}), form)

    # --- Choosing many -----------------------------------------------------------------------------

    def choose_view(self, request: HttpRequest) -> HttpResponse:
        """Freeze what was ticked, the page, or the whole filter; the next page asks to confirm it."""
        if request.method != "POST":
            return redirect("admin:approvals_approval_changelist")
        if not self.has_view_permission(request) or not request.user.has_perm("approvals.view_bulkrun"):
            raise PermissionDenied
        wanted, person, now = asked(request.GET), the_person(request), timezone.now()
        scope = request.POST.get("choose", "ticked")
        if scope == "all":
            queue = Queue(self.get_queryset(request), person, _mine(wanted), now=now)
            picks = [bulk.Pick(row, row.facts_hash) for row in queue.ordered()[: bulk.MOST]]
            chosen = f"All that were mine to decide: {wanted.filters or 'no filter'}"
        else:
            picks = self._picks(request, "shown" if scope == "page" else "pick")
            chosen = "One page of the queue" if scope == "page" else "What was ticked"
        try:
            run: BulkRun = bulk.choose(picks=picks, chosen=chosen, by=person, now=now)
        except Refusal as refusal:
            messages.error(request, refusal.sentence)
            return redirect(_queue_url(wanted))
        return redirect(page_of(run))

    def _picks(self, request: HttpRequest, field: str) -> list[bulk.Pick]:
        """The approvals that a page named, each with the hash it showed, of those that this person sees."""
        seen: dict[int, str] = {}
        for value in request.POST.getlist(field)[: bulk.MOST + 1]:
            key, _, shown = value.partition(":")
            if key.isascii() and key.isdigit() and len(key) < 11:
                seen.setdefault(int(key), shown[:64])
        rows = self.get_queryset(request).filter(pk__in=seen).in_bulk()
        return [bulk.Pick(rows[key], shown) for key, shown in seen.items() if key in rows]

    # --- The page of one ---------------------------------------------------------------------------

    def badge_of(self, obj: Approval) -> Any:
        return badge(obj.state, obj.get_state_display())

    def lead_of(self, obj: Approval) -> Any:
        return format_html("The request itself, with its buttons: {}", link(_request_of(obj), obj.summary))

    def acts(self, request: HttpRequest, obj: Approval) -> Iterable[Act]:
        in_queue = reverse("admin:approvals_approval_changelist") + Asked(at=obj.pk).url()
        yield Act("queue", "Open in the queue", href=in_queue)
        yield comment_act(obj, the_person(request))

    def after(self, request: HttpRequest, obj: Any, act: Act) -> str:
        """Back to the queue for who came from there."""
        if request.GET.get("turn") in TURNS:
            return _queue_url(asked(request.GET), at=obj.pk)
        return page_of(obj)

    def panels(self, request: HttpRequest, obj: Approval) -> Iterable[Panel]:
        why_not = blocked.why_blocked(obj, the_person(request), now=timezone.now())
        yield Panel(
            "What is asked for",
            [
                Fact("Kind", obj.kind.replace("_", " ").capitalize()),
                Fact("Requested by", name(str(obj.maker))),
                Fact("Requested at", when(obj.created_at)),
                Fact("Customer", code(obj.customer_endl_id)),
                Fact("Decisions needed", obj.needed),
                Fact("You", why_not or "You can decide on it, here in the queue or on the request's page."),
            ],
        )
        if (panel := decisions_panel(obj)) is not None:
            yield panel
        yield from dossier_panels(obj, the_person(request), now=timezone.now())
        facts = [
            Fact(key.replace("_", " ").capitalize(), code(str(value)))
            for key, value in sorted(obj.facts.items())
        ]
        yield Panel("What an approval binds to", [*facts, Fact("Hash of all this", code(obj.facts_hash))])

    def dossier_view(self, request: HttpRequest, object_id: str, decision: int | None = None) -> HttpResponse:
        """The dossier on a page to print, or as JSON (`?form=json`): as it is, or as a decision kept it."""
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        approval = self.object_or_404(request, object_id)
        content = (
            dossiers.build(approval, now=timezone.now()) if decision is None else _kept(approval, decision)
        )
        if request.GET.get("form") == "json":
            file = f"dossier-{approval.pk}{'' if decision is None else f'-{decision}'}.json"
            return JsonResponse(
                content,
                json_dumps_params={"indent": 2, "ensure_ascii": False},
                headers={"Content-Disposition": f'attachment; filename="{file}"'},
            )
        return self.render(
            request,
            "office/approvals/dossier_page.html",
            title=f"Dossier: {approval}",
            original=approval,
            dossier=content,
            is_frozen=decision is not None,
        )


def comment_act(approval: Approval, person: User) -> Act:
    """The button that writes a comment; left out for who cannot."""
    return Act(
        "comment",
        "Write a comment",
        partial(_comment, approval, person),
        form=CommentForm,
        why_not=comments.why_not(approval, person),
        hides_when_off=True,
        lead="It decides nothing and stays for good. Whoever sees the request reads it.",
    )


def _comment(approval: Approval, person: User, given: dict[str, Any]) -> str:
    comments.comment(approval=approval, text=given["text"], by=person, now=timezone.now())
    return "Your comment is there for everybody who sees the request."


def _comment_form(request: HttpRequest, approval: Approval) -> CommentForm | None:
    if comments.why_not(approval, the_person(request)):
        return None
    return CommentForm(request=request, about=approval)


def _decide_form(request: HttpRequest, approval: Approval) -> DecideForm | None:
    try:
        return DecideForm(request=request, about=deciding.request_of(approval))
    except deciding.Gone:
        return None


def _kept(approval: Approval, decision: int) -> dossiers.Content:
    kept = Dossier.objects.filter(decision=decision, decision__approval=approval).first()
    if kept is None:
        raise Http404
    content: dossiers.Content = kept.content
    return content


def _download(approval: Approval) -> tuple[str, str]:
    return "Print or download", reverse("admin:approvals_approval_dossier", args=(approval.pk,))


def _queue_url(wanted: Asked, **changes: Any) -> str:
    return reverse("admin:approvals_approval_changelist") + wanted.url(**changes)


def _mine(wanted: Asked) -> Asked:
    return Asked(turn="mine", kind=wanted.kind, text=wanted.text)


def _what_next(following: int | None) -> str:
    return "Here is the next one." if following else "Nothing else waits for you."


def _pages(wanted: Asked, count: int) -> list[tuple[int, str]]:
    last = max(1, -(-count // ON_A_PAGE))
    near = sorted({1, last, *range(max(1, wanted.page - 2), min(last, wanted.page + 2) + 1)})
    return [(page, wanted.url(page=page, at=None)) for page in near] if last > 1 else []


def _request_of(approval: Approval) -> Any:
    """The request of an approval from `scoped`: only its kind and id, which is all that a link needs."""
    model = kinds_of_requests().get(approval.kind)
    pk = getattr(approval, f"{approval.kind}_pk", None)
    if model is None or pk is None:
        return None
    request: Any = model()
    request.pk = pk
    return request
