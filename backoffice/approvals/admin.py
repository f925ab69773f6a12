"""What waits for a decision, and what was decided. Deciding happens on the page of the request itself."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from unfold.decorators import display

from backoffice.approvals import decisions
from backoffice.approvals.models import Approval, Decision
from backoffice.delivery.admin import kinds_of_requests
from backoffice.delivery.pages import decisions_panel
from backoffice.navigation import visible
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Fact, Panel, badge, code, link, name, when

# Beyond that an undecided request deserves a look.
_OLD = timedelta(hours=24)


class WhoseTurn(admin.SimpleListFilter):
    """Whether a waiting approval is for the person who looks, or for others."""

    title = "whose turn it is"
    parameter_name = "turn"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("mine", "Mine to decide"), ("others", "Waiting for others")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Approval]) -> QuerySet[Approval]:
        if self.value() not in ("mine", "others"):
            return queryset
        person = the_person(request)
        waiting = queryset.filter(state=Approval.State.PENDING)
        decided = Decision.objects.filter(person=person).values("approval")
        mine = Q(permission__in=person.get_all_permissions()) & ~Q(maker=person) & ~Q(pk__in=decided)
        return waiting.filter(mine if self.value() == "mine" else ~mine)


@admin.register(Approval)
class ApprovalAdmin(ObjectAdmin):
    """The approvals of requests that the person may open."""

    list_display = ("shown_summary", "shown_kind", "shown_state", "maker", "customer", "asked", "age")
    list_filter = (WhoseTurn, "state", "kind", ("created_at", admin.DateFieldListFilter))
    list_select_related = ("maker",)
    list_display_links = None
    search_fields = ("summary", "customer_endl_id", "maker__username")
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

    @display(description="Request", ordering="summary")
    def shown_summary(self, approval: Approval) -> Any:
        return link(_request_of(approval), approval.summary)

    @display(description="Kind", ordering="kind")
    def shown_kind(self, approval: Approval) -> str:
        return approval.kind.replace("_", " ").capitalize()

    @display(description="State", ordering="state")
    def shown_state(self, approval: Approval) -> Any:
        return badge(approval.state, approval.get_state_display())

    @display(description="Customer", ordering="customer_endl_id")
    def customer(self, approval: Approval) -> Any:
        return code(approval.customer_endl_id)

    @display(description="Requested", ordering="created_at")
    def asked(self, approval: Approval) -> Any:
        return when(approval.created_at)

    @display(description="Waiting for")
    def age(self, approval: Approval) -> Any:
        if approval.state != Approval.State.PENDING:
            return "—"
        waited = timezone.now() - approval.created_at
        if waited < timedelta(minutes=1):
            return "Just asked"
        age = timesince(approval.created_at, depth=1)
        return badge("waiting", age) if waited > _OLD else age

    def badge_of(self, obj: Approval) -> Any:
        return self.shown_state(obj)

    def lead_of(self, obj: Approval) -> Any:
        return format_html("The request itself, with its buttons: {}", link(_request_of(obj), obj.summary))

    def panels(self, request: HttpRequest, obj: Approval) -> Iterable[Panel]:
        yield Panel(
            "What is asked for",
            [
                Fact("Kind", self.shown_kind(obj)),
                Fact("Requested by", name(str(obj.maker))),
                Fact("Requested at", when(obj.created_at)),
                Fact("Customer", code(obj.customer_endl_id)),
                Fact("Decisions needed", obj.needed),
                Fact(
                    "You",
                    decisions.why_not(obj, the_person(request))
                    or "You can decide on it, on the request's page.",
                ),
            ],
        )
        if (panel := decisions_panel(obj)) is not None:
            yield panel
        facts = [
            Fact(key.replace("_", " ").capitalize(), code(str(value)))
            for key, value in sorted(obj.facts.items())
        ]
        yield Panel("What an approval binds to", [*facts, Fact("Hash of all this", code(obj.facts_hash))])


@admin.register(Decision)
class DecisionAdmin(ObjectAdmin):
    """Who decided what."""

    list_display = ("approval", "shown_verdict", "person", "maker", "reason", "made")
    list_filter = ("verdict", ("made_at", admin.DateFieldListFilter))
    list_select_related = ("approval", "person", "maker")
    search_fields = ("approval__summary", "person__username", "reason")
    ordering = ("-made_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def scoped(self, request: HttpRequest, rows: QuerySet[Decision]) -> QuerySet[Decision]:
        return rows.filter(approval__in=visible(Approval, request).values("pk"))

    @display(description="Decision", ordering="verdict")
    def shown_verdict(self, decision: Decision) -> Any:
        tone = {"approve": "good", "reject": "bad"}.get(decision.verdict, "odd")
        return badge(decision.verdict, decision.get_verdict_display(), tone=tone)

    @display(description="At", ordering="made_at")
    def made(self, decision: Decision) -> Any:
        return when(decision.made_at)

    def badge_of(self, obj: Decision) -> Any:
        return self.shown_verdict(obj)

    def panels(self, request: HttpRequest, obj: Decision) -> Iterable[Panel]:
        yield Panel(
            "Decision",
            [
                Fact("About", link(obj.approval)),
                Fact("Decided by", name(str(obj.person))),
                Fact("Requested by", name(str(obj.maker))),
                Fact("At", when(obj.made_at)),
                Fact("Reason", obj.reason),
                Fact("Hash that was on the screen", code(obj.seen_hash)),
            ],
        )


def _request_of(approval: Approval) -> Any:
    """The request of an approval from `scoped`: only its kind and id, which is all that a link needs."""
    model = kinds_of_requests().get(approval.kind)
    pk = getattr(approval, f"{approval.kind}_pk", None)
    if model is None or pk is None:
        return None
    request: Any = model()
    request.pk = pk
    return request
