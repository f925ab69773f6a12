"""Who decided what, and what there was to see then."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from unfold.decorators import display

from backoffice.approvals.models import Approval, Decision
from backoffice.money import plain
from backoffice.navigation import visible
from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, code, link, money, name, when


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
                *_what_counted(obj),
            ],
        )
        if hasattr(obj, "dossier"):
            yield Panel(
                "What there was to see",
                [Fact("Kept", when(obj.made_at), "exactly as it stood when this was decided")],
                more=("Open it", reverse("admin:approvals_approval_frozen", args=(obj.approval_id, obj.pk))),
            )


def _what_counted(decision: Decision) -> Iterable[Fact]:
    if decision.roles:
        yield Fact("Decided as", ", ".join(decision.roles), f"step {decision.step}")
    if decision.limit_per_decision is None or decision.limit_per_day is None:
        return
    yield Fact("Limit per decision then", money(plain(decision.limit_per_decision), decision.currency))
    yield Fact("Limit in 24 hours then", money(plain(decision.limit_per_day), decision.currency))
    if decision.used_before is not None:
        yield Fact("Used of it before", money(plain(decision.used_before), decision.currency))
