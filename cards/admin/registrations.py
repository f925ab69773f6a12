"""The pages of registrations: people on their way to being cardholders."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.delivery import bell, desk
from backoffice.delivery import pages as road
from backoffice.delivery.models import State
from backoffice.pages.forms import FormAdmin, OptionalReasonForm
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, link, name, when
from cards import registering, tasks
from cards.admin import unclear
from cards.admin.common import CustomerFilter, add_url, pk_in
from cards.forms import RegisterForm
from cards.models import CardholderRequest
from cards.scoping import Scoped

_CAME_TO_NOTHING = (State.REFUSED, State.CANCELLED, State.EXPIRED)


@admin.register(CardholderRequest)
class RegistrationAdmin(Scoped, FormAdmin):
    """Registrations, from the form to the cardholder."""

    scope_path = "customer"
    add_form_class = RegisterForm
    act_names = ("cancel", *unclear.ACT_NAMES)
    is_live = True
    list_display = ("shown_name", "shown_customer", "shown_email", "shown_state", "maker", "asked_at")
    list_filter = (
        "state",
        "needs_person",
        ("customer", CustomerFilter),
        ("created_at", admin.DateFieldListFilter),
        ("state_at", admin.DateFieldListFilter),
    )
    allowed_lookups = frozenset({"maker__id__exact"})
    list_select_related = ("customer", "maker")
    search_fields = ("first_name", "last_name", "email", "customer__name", "cardholder__endl_id")
    ordering = ("-created_at",)

    @display(description="Name", ordering="last_name")
    def shown_name(self, wish: CardholderRequest) -> Any:
        return name(str(wish))

    @display(description="Customer", ordering="customer__name")
    def shown_customer(self, wish: CardholderRequest) -> Any:
        return name(wish.customer.name)

    @display(description="E-mail", ordering="email")
    def shown_email(self, wish: CardholderRequest) -> Any:
        return name(wish.email)

    @display(description="State", ordering="state")
    def shown_state(self, wish: CardholderRequest) -> Any:
        return road.state_badge(wish)

    @display(description="Requested", ordering="created_at")
    def asked_at(self, wish: CardholderRequest) -> Any:
        return when(wish.created_at)

    def badge_of(self, obj: CardholderRequest) -> Any:
        return road.state_badge(obj)

    def lead_of(self, obj: CardholderRequest) -> str:
        return obj.meaning

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """A business to start from, or a registration that came to nothing."""
        again = self.get_queryset(request).filter(pk=pk_in(request, "again")).first()
        if again is None:
            return {"customer": pk_in(request, "customer")}
        return {
            "customer": again.customer_id,
            "first_name": again.first_name,
            "last_name": again.last_name,
            "email": again.email,
            "phone": again.phone,
        }

    def after_form(self, request: HttpRequest, made: Any) -> None:
        bell.ring(tasks.SEND_REGISTRATION, made.pk)

    def acts(self, request: HttpRequest, obj: CardholderRequest) -> Iterable[Act]:
        person = the_person(request)
        if desk.may_cancel(obj, person) or _cancels_late(request, obj):
            yield Act(
                "cancel",
                "Cancel request",
                partial(_cancel, obj, person),
                form=OptionalReasonForm,
                tone="danger",
            )
        if obj.state in _CAME_TO_NOTHING and self.has_add_permission(request):
            yield Act("again", "Register again with changes", href=add_url(CardholderRequest, again=obj.pk))
        yield from unclear.acts(obj, person)

    def panels(self, request: HttpRequest, obj: CardholderRequest) -> Iterable[Panel]:
        yield Panel("Registration", list(_facts(obj)))
        for panel in (road.outcome_panel(obj), road.unknown_panel(obj)):
            if panel is not None:
                yield panel
        yield road.sent_panel(obj)
        yield road.attempts_panel(obj)


def _cancels_late(request: HttpRequest, wish: CardholderRequest) -> bool:
    """A cancellation that was posted from a page no longer true: the operation says what happened."""
    return request.method == "POST" and wish.maker_id == the_person(request).pk


def _facts(wish: CardholderRequest) -> Iterable[Fact]:
    yield Fact("Name", name(str(wish)))
    yield Fact("Customer", link(wish.customer), wish.customer.endl_id)
    yield Fact("E-mail", name(wish.email))
    yield Fact("Phone", wish.phone)
    if wish.cardholder is not None:
        yield Fact("Cardholder", link(wish.cardholder), wish.cardholder.endl_id)
    yield Fact("Requested by", str(wish.maker))
    yield Fact("Requested at", when(wish.created_at))
    yield Fact("In this state since", when(wish.state_at))


def _cancel(wish: CardholderRequest, person: User, given: dict[str, Any]) -> str:
    registering.cancel_registration(request=wish, by=person, reason=given["reason"], now=timezone.now())
    return f"{wish}: the registration is cancelled."
