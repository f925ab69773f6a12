"""The ledger: who had card details opened, whose, when, why and for how long; who tried to, too."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, code, link, name, when
from cards.admin.common import CustomerFilter
from cards.admin.lives import how_long, shown_result, what_more, why
from cards.admin.masks import masked_of
from cards.models import CardReveal
from cards.scoping import Scoped


@admin.register(CardReveal)
class RevealAdmin(Scoped, ObjectAdmin):
    """Looks at card details, and refused tries. What was seen is not here, and nowhere else."""

    scope_path = "details__order__cardholder__customer"
    list_display = (
        "who", "shown_card", "holder", "customer", "shown_reason", "at", "lasted", "more", "address",
        "shown_result",
    )  # fmt: skip
    list_filter = (
        "purpose",
        "result",
        "kind",
        "ending",
        ("details__order__cardholder__customer", CustomerFilter),
        ("started_at", admin.DateFieldListFilter),
    )
    allowed_lookups = frozenset({"by__id__exact"})
    search_fields = (
        "by__username", "by__first_name", "by__last_name", "reason", "address",
        "details__order__cardholder__first_name", "details__order__cardholder__last_name",
        "details__order__card__endl_id", "details__last4",
    )  # fmt: skip
    ordering = ("-started_at",)
    empty_words = "Nobody has looked at card details yet."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        whose = ("details__order__cardholder__customer", "details__order__card", "by")
        rows = super().get_queryset(request).select_related(*whose)
        return rows.defer(
            "details__envelope", "details__order__body", "details__order__cardholder__payload",
            "details__order__card__payload",
        )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Who", ordering="by__username")
    def who(self, look: CardReveal) -> Any:
        return name(str(look.by))

    @display(description="Card", ordering="details__last4")
    def shown_card(self, look: CardReveal) -> str:
        return _masked(look)

    @display(description="Cardholder", ordering="details__order__cardholder__last_name")
    def holder(self, look: CardReveal) -> Any:
        return name(str(look.details.order.cardholder))

    @display(description="Customer", ordering="details__order__cardholder__customer__name")
    def customer(self, look: CardReveal) -> Any:
        return name(look.details.order.cardholder.customer.name)

    @display(description="Why", ordering="kind")
    def shown_reason(self, look: CardReveal) -> Any:
        return name(why(look))

    @display(description="When", ordering="started_at")
    def at(self, look: CardReveal) -> Any:
        return when(look.started_at)

    @display(description="How long")
    def lasted(self, look: CardReveal) -> str:
        return how_long(look)

    @display(description="And")
    def more(self, look: CardReveal) -> str:
        return what_more(look)

    @display(description="Result", ordering="result")
    def shown_result(self, look: CardReveal) -> Any:
        return badge(look.result, look.get_result_display(), tone=_tone(look))

    def badge_of(self, obj: CardReveal) -> Any:
        return badge(obj.result, obj.get_result_display(), tone=_tone(obj))

    def panels(self, request: HttpRequest, obj: CardReveal) -> Iterable[Panel]:
        order = obj.details.order
        yield Panel(
            "Look at card details",
            [
                Fact("Who", name(str(obj.by)), obj.by.username),
                Fact("What for", obj.get_purpose_display()),
                Fact("Why", name(why(obj))),
                Fact("Card", link(order.card, _masked(obj)) if order.card is not None else "not known yet"),
                Fact("Cardholder", link(order.cardholder)),
                Fact("Customer", link(order.cardholder.customer)),
                Fact("Order", link(order)),
                Fact("Result", shown_result(obj)),
            ],
        )
        yield Panel(
            "How it went",
            [
                Fact("When", when(obj.started_at)),
                Fact("How long", how_long(obj), obj.get_ending_display()),
                Fact("Made longer", when(obj.extended_at)),
                Fact("CVV shown", when(obj.cvv_shown_at)),
                Fact("Copied", ", ".join("CVV" if each == "cvv" else each for each in obj.copied_fields)),
                Fact("From where", code(obj.address)),
                Fact("Session", code(obj.session), "a hash: the same for all acts of one sign-in"),
            ],
        )


def _masked(look: CardReveal) -> str:
    """The masked number, where the card is known and its last four are."""
    card = look.details.order.card
    return masked_of(card) if card is not None else "not known yet"


def _tone(look: CardReveal) -> str:
    return "bad" if look.result == CardReveal.Result.REFUSED else ""
