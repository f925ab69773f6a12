"""The pages of sealed details: that they are kept or destroyed, never what is in them."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, code, link, name, when
from cards.admin.retention import DESTROY, destroy_act
from cards.models import SealedDetails
from cards.scoping import Scoped


@admin.register(SealedDetails)
class SealedDetailsAdmin(Scoped, ObjectAdmin):
    """Which details are kept, sealed to which key, and when they went. The envelope is not loaded."""

    scope_path = "order__cardholder__customer"
    act_names = (DESTROY,)
    list_display = ("shown_order", "shown_key", "received", "shown_state", "destroyed", "destroyed_because")
    list_filter = (("received_at", admin.DateFieldListFilter), ("destroyed_at", admin.EmptyFieldListFilter))
    search_fields = ("order__cardholder__last_name", "order__card__endl_id", "key_fingerprint")
    ordering = ("-received_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).select_related("order__cardholder__customer")
        return rows.defer("envelope", "order__body", "order__cardholder__payload")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Order", ordering="order__cardholder__last_name")
    def shown_order(self, details: SealedDetails) -> Any:
        return name(str(details.order))

    @display(description="Key")
    def shown_key(self, details: SealedDetails) -> Any:
        return code(details.key_fingerprint[:16])

    @display(description="Received", ordering="received_at")
    def received(self, details: SealedDetails) -> Any:
        return when(details.received_at)

    @display(description="State", ordering="destroyed_at")
    def shown_state(self, details: SealedDetails) -> Any:
        return _state(details)

    @display(description="Destroyed", ordering="destroyed_at")
    def destroyed(self, details: SealedDetails) -> Any:
        return when(details.destroyed_at)

    def badge_of(self, obj: SealedDetails) -> Any:
        return _state(obj)

    def acts(self, request: HttpRequest, obj: SealedDetails) -> Iterable[Act]:
        return destroy_act(the_person(request), obj)

    def panels(self, request: HttpRequest, obj: SealedDetails) -> Iterable[Panel]:
        yield Panel(
            "Sealed details",
            [
                Fact("Order", link(obj.order)),
                Fact(
                    "Key fingerprint",
                    code(obj.key_fingerprint),
                    "" if obj.key_fingerprint else "Endl named none",
                ),
                Fact("Received", when(obj.received_at)),
                Fact("Last four read", when(obj.opened_at)),
                Fact("Quarantined", when(obj.quarantined_at)),
                Fact("Destroyed", when(obj.destroyed_at), obj.destroyed_because),
            ],
        )


def _state(details: SealedDetails) -> Any:
    if details.is_destroyed:
        return badge("destroyed", "Destroyed", tone="quiet")
    if details.quarantined_at is not None:
        return badge("quarantined", "Quarantined", tone="alarm")
    return badge("kept", "Kept, sealed", tone="good")
