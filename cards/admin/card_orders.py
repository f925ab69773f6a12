"""The pages of card orders: the form, the page to decide on, and the way to the card."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.approvals import blocked
from backoffice.approvals.admin.approvals import comment_act
from backoffice.approvals.forms import DecideForm
from backoffice.approvals.models import Approval, Decision
from backoffice.approvals.pages import dossier_panels
from backoffice.delivery import bell, desk
from backoffice.delivery import pages as road
from backoffice.delivery.models import State
from backoffice.pages.forms import FormAdmin, OptionalReasonForm
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, dollars, link, name, when
from cards import issuing, tasks
from cards.admin import unclear
from cards.admin.common import CustomerFilter, add_url, pk_in
from cards.admin.masks import masked_of
from cards.forms import IssueForm
from cards.models import CardOrder
from cards.scoping import Scoped

_CAME_TO_NOTHING = (State.REFUSED, State.REJECTED, State.CANCELLED, State.EXPIRED)


@admin.register(CardOrder)
class CardOrderAdmin(Scoped, FormAdmin):
    """Card orders, from the form to the card."""

    scope_path = "cardholder__customer"
    add_form_class = IssueForm
    act_names = ("decide", "comment", "cancel", *unclear.ACT_NAMES)
    is_live = True
    list_display = (
        "shown_purpose", "shown_amount", "shown_holder", "shown_customer", "shown_state", "maker", "asked_at",
    )  # fmt: skip
    list_filter = (
        "state",
        "needs_person",
        ("cardholder__customer", CustomerFilter),
        ("created_at", admin.DateFieldListFilter),
        ("state_at", admin.DateFieldListFilter),
    )
    allowed_lookups = frozenset({"maker__id__exact", "cardholder__id__exact"})
    list_select_related = ("cardholder__customer", "maker")
    search_fields = (
        "purpose", "cardholder__first_name", "cardholder__last_name", "cardholder__email",
        "cardholder__endl_id", "card__endl_id", "idempotency_key",
    )  # fmt: skip
    ordering = ("-created_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("cardholder__payload")

    @display(description="Purpose", ordering="purpose")
    def shown_purpose(self, order: CardOrder) -> Any:
        return name(order.purpose or str(order))

    @display(description="Amount", ordering="amount_cents")
    def shown_amount(self, order: CardOrder) -> Any:
        return dollars(order.amount_cents)

    @display(description="Cardholder", ordering="cardholder__last_name")
    def shown_holder(self, order: CardOrder) -> Any:
        return name(str(order.cardholder))

    @display(description="Customer", ordering="cardholder__customer__name")
    def shown_customer(self, order: CardOrder) -> Any:
        return name(order.cardholder.customer.name)

    @display(description="State", ordering="state")
    def shown_state(self, order: CardOrder) -> Any:
        return road.state_badge(order)

    @display(description="Ordered", ordering="created_at")
    def asked_at(self, order: CardOrder) -> Any:
        return when(order.created_at)

    def badge_of(self, obj: CardOrder) -> Any:
        return road.state_badge(obj)

    def lead_of(self, obj: CardOrder) -> str:
        return obj.meaning

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """A cardholder to start from, or an earlier order. An amount in the address is not believed."""
        again = self.get_queryset(request).filter(pk=pk_in(request, "again")).first()
        if again is None:
            return {"cardholder": pk_in(request, "cardholder")}
        amount = f"{again.amount_cents // 100}.{again.amount_cents % 100:02d}"
        return {"cardholder": again.cardholder_id, "amount": amount, "purpose": again.purpose}

    def after_form(self, request: HttpRequest, made: Any) -> None:
        if made.state == State.APPROVED:
            bell.ring(tasks.SEND_ORDER, made.pk)

    def acts(self, request: HttpRequest, obj: CardOrder) -> Iterable[Act]:
        person = the_person(request)
        assert obj.approval is not None
        if obj.approval.needed:
            yield Act(
                "decide",
                "Decide",
                partial(self.decide, obj, person),
                form=DecideForm,
                why_not=blocked.why_blocked(obj.approval, person, now=timezone.now()),
                is_embedded=True,
                hides_when_off=obj.approval.state != Approval.State.PENDING,
                lead="You agree to exactly what this page shows, to the byte.",
            )
            yield comment_act(obj.approval, person)
        if desk.may_cancel(obj, person) or _cancels_late(request, obj):
            yield Act(
                "cancel",
                "Cancel request",
                partial(_cancel, obj, person),
                form=OptionalReasonForm,
                tone="danger",
            )
        if self.has_add_permission(request) and (label := _again_label(obj)):
            yield Act("again", label, href=add_url(CardOrder, again=obj.pk))
        yield from unclear.acts(obj, person)

    def panels(self, request: HttpRequest, obj: CardOrder) -> Iterable[Panel]:
        yield Panel("Card order", list(_facts(obj)))
        for panel in (
            _lost_panel(obj),
            road.outcome_panel(obj),
            road.unknown_panel(obj),
            road.decisions_panel(obj.approval),
        ):
            if panel is not None:
                yield panel
        yield road.sent_panel(obj)
        if obj.approval is not None and obj.approval.needed:
            yield from dossier_panels(obj.approval, the_person(request), now=timezone.now(), is_beside=True)
        yield road.attempts_panel(obj)

    def decide(self, order: CardOrder, person: User, given: dict[str, Any]) -> str:
        """Approve or reject by the operation, and ring for the sender: the one door, for every page."""
        now = timezone.now()
        if given["verdict"] == Decision.Verdict.REJECT:
            issuing.reject_order(
                request=order, by=person, seen=given["seen"], reason=given["reason"], now=now
            )
            return f"{order} is rejected."
        made = issuing.approve_order(
            request=order, by=person, seen=given["seen"], reason=given["reason"], now=now
        )
        if made.state == State.APPROVED:
            bell.ring(tasks.SEND_ORDER, order.pk)
            return f"{order} is approved; it is sent within seconds."
        return "Your approval is noted; another one is needed."


def _cancels_late(request: HttpRequest, order: CardOrder) -> bool:
    """A cancellation that was posted from a page no longer true: the operation says what happened."""
    return request.method == "POST" and order.maker_id == the_person(request).pk


def _again_label(order: CardOrder) -> str:
    if order.state == State.DETAILS_LOST:
        return "Request another card"
    return "Order again with changes" if order.state in _CAME_TO_NOTHING else ""


def _facts(order: CardOrder) -> Iterable[Fact]:
    holder = order.cardholder
    yield Fact("Amount", dollars(order.amount_cents))
    yield Fact("Cardholder", link(holder), holder.endl_id)
    yield Fact("Customer", link(holder.customer), holder.customer.endl_id)
    yield Fact("Purpose", order.purpose)
    if order.card is not None:
        yield Fact("Card", link(order.card, masked_of(order.card)), order.card.endl_id)
    yield Fact("Ordered by", str(order.maker))
    yield Fact("Ordered at", when(order.created_at))
    yield Fact("In this state since", when(order.state_at))


def _lost_panel(order: CardOrder) -> Panel | None:
    if order.state != State.DETAILS_LOST:
        return None
    found = (
        "The card was found again in Endl's list and is linked here."
        if order.card is not None
        else "The card is not found in Endl's list yet; each sync looks for it."
    )
    facts = [
        Fact("What happened", "Endl issued the card, but its sealed number never reached this office."),
        Fact("The card", found),
        Fact(
            "What to do", "Have this card cancelled by your Endl contact, then request another one if needed."
        ),
    ]
    return Panel("The details are lost", facts)


def _cancel(order: CardOrder, person: User, given: dict[str, Any]) -> str:
    issuing.cancel_order(request=order, by=person, reason=given["reason"], now=timezone.now())
    return f"{order} is cancelled."
