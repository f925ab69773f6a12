"""The pages of reviews: every word of compliance, as it was given."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, link, name, when
from cards.admin.common import CustomerFilter
from cards.models import CardholderReview
from cards.scoping import Scoped

_SHOWN = {"approved": "Approved", "rejected": "Rejected"}


@admin.register(CardholderReview)
class ReviewAdmin(Scoped, ObjectAdmin):
    """Reviews are made on a cardholder's page and stay as they are."""

    scope_path = "cardholder__customer"
    list_display = ("holder", "customer", "shown_verdict", "by", "at", "reason")
    list_filter = (
        "verdict", ("cardholder__customer", CustomerFilter), ("made_at", admin.DateFieldListFilter),
    )  # fmt: skip
    list_select_related = ("cardholder__customer", "by")
    search_fields = ("cardholder__first_name", "cardholder__last_name", "cardholder__endl_id", "by__username")
    ordering = ("-made_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Cardholder", ordering="cardholder__last_name")
    def holder(self, made: CardholderReview) -> Any:
        return name(str(made.cardholder))

    @display(description="Customer", ordering="cardholder__customer__name")
    def customer(self, made: CardholderReview) -> Any:
        return name(made.cardholder.customer.name)

    @display(description="Verdict", ordering="verdict")
    def shown_verdict(self, made: CardholderReview) -> Any:
        return badge(made.verdict, _SHOWN[made.verdict])

    @display(description="When", ordering="made_at")
    def at(self, made: CardholderReview) -> Any:
        return when(made.made_at)

    def badge_of(self, obj: CardholderReview) -> Any:
        return badge(obj.verdict, _SHOWN[obj.verdict])

    def panels(self, request: HttpRequest, obj: CardholderReview) -> Iterable[Panel]:
        yield Panel(
            "Review",
            [
                Fact("Cardholder", link(obj.cardholder), obj.cardholder.endl_id),
                Fact("Verdict", _SHOWN[obj.verdict]),
                Fact("Reason", obj.reason),
                Fact("Reviewed by", str(obj.by)),
                Fact("Registered by", str(obj.registered_by or "nobody here: found at Endl by sync")),
                Fact("When", when(obj.made_at)),
            ],
        )
