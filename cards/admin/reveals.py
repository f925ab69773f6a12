"""The pages of reveals: who had card details opened, when and why."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, link, name, when
from cards.admin.masks import masked_of
from cards.models import CardReveal
from cards.scoping import Scoped


@admin.register(CardReveal)
class RevealAdmin(Scoped, ObjectAdmin):
    """Looks at card details. What was seen is not here, and nowhere else."""

    scope_path = "details__order__cardholder__customer"
    list_display = ("who", "shown_purpose", "holder", "shown_result", "at", "reason")
    list_filter = ("purpose", "result", ("started_at", admin.DateFieldListFilter))
    search_fields = (
        "by__username", "reason", "details__order__cardholder__last_name", "details__order__card__endl_id",
    )  # fmt: skip
    ordering = ("-started_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).select_related("by", "details__order__cardholder__customer")
        return rows.defer("details__envelope", "details__order__body", "details__order__cardholder__payload")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Who", ordering="by__username")
    def who(self, look: CardReveal) -> Any:
        return name(str(look.by))

    @display(description="What for", ordering="purpose")
    def shown_purpose(self, look: CardReveal) -> str:
        return look.get_purpose_display()

    @display(description="Cardholder")
    def holder(self, look: CardReveal) -> Any:
        return name(str(look.details.order.cardholder))

    @display(description="Result", ordering="result")
    def shown_result(self, look: CardReveal) -> Any:
        return badge(look.result, look.get_result_display())

    @display(description="When", ordering="started_at")
    def at(self, look: CardReveal) -> Any:
        return when(look.started_at)

    def badge_of(self, obj: CardReveal) -> Any:
        return badge(obj.result, obj.get_result_display())

    def panels(self, request: HttpRequest, obj: CardReveal) -> Iterable[Panel]:
        order = obj.details.order
        shown = link(order.card, masked_of(order.card)) if order.card is not None else "not known yet"
        yield Panel(
            "Look at card details",
            [
                Fact("Who", str(obj.by)),
                Fact("What for", obj.get_purpose_display()),
                Fact("Reason", obj.reason),
                Fact("Card", shown),
                Fact("Cardholder", link(order.cardholder)),
                Fact("Order", link(order)),
                Fact("When", when(obj.started_at)),
            ],
        )
