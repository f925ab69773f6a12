"""The pages of cardholders: who they are, whether compliance has agreed, and what they hold."""

import unicodedata
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.audit.trail import record
from backoffice.delivery import pages as road
from backoffice.mirror.admin import MirrorAdmin
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, dollars, endl_status, link, name, when
from cards import issuing, review
from cards.admin.common import FIRST_FEW, CustomerFilter, add_url, confirmed_at, list_url
from cards.admin.masks import masked_of
from cards.forms import ReviewForm
from cards.models import Card, Cardholder, CardOrder
from cards.scoping import Scoped
from cards.sync import CARDHOLDERS


@admin.register(Cardholder)
class CardholderAdmin(Scoped, MirrorAdmin):
    """Cardholders, as Endl last told them, with compliance's word."""

    scope_path = "customer"
    pull_kind = CARDHOLDERS
    act_names = ("review",)
    list_display = (
        "shown_name", "shown_customer", "shown_email", "shown_status", "shown_review", "card_count",
        "last_confirmed",
    )  # fmt: skip
    list_filter = ("review_state", "status", ("customer", CustomerFilter))
    list_select_related = ("customer",)
    search_fields = ("first_name", "last_name", "email", "endl_id")
    ordering = ("last_name", "first_name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        held = Card.objects.filter(cardholder=OuterRef("pk")).order_by().values("cardholder")
        rows: QuerySet[Any] = super().get_queryset(request).defer("payload")
        counted: QuerySet[Any] = rows.annotate(
            held=Coalesce(Subquery(held.annotate(count=Count("pk")).values("count")), 0),
            confirmed=confirmed_at(CARDHOLDERS, "customer__endl_id"),
        )
        return counted

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find a name however its accents are stored; the picker of the order form offers approved ones."""
        if request.path.endswith("/autocomplete/"):
            queryset = queryset.filter(review_state=Cardholder.Review.APPROVED, missing_since=None)
        composed, decomposed = (unicodedata.normalize(form, search_term) for form in ("NFC", "NFD"))
        found, has_duplicates = super().get_search_results(request, queryset, composed)
        if composed == decomposed:
            return found, has_duplicates
        other, _ = super().get_search_results(request, queryset, decomposed)
        both = Q(pk__in=found.order_by().values("pk")) | Q(pk__in=other.order_by().values("pk"))
        return queryset.filter(both), False

    @display(description="Name", ordering="last_name")
    def shown_name(self, holder: Cardholder) -> Any:
        return name(str(holder))

    @display(description="Customer", ordering="customer__name")
    def shown_customer(self, holder: Cardholder) -> Any:
        return name(holder.customer.name)

    @display(description="E-mail", ordering="email")
    def shown_email(self, holder: Cardholder) -> Any:
        return name(holder.email)

    @display(description="At Endl", ordering="status")
    def shown_status(self, holder: Cardholder) -> Any:
        return _status(holder)

    @display(description="Review", ordering="review_state")
    def shown_review(self, holder: Cardholder) -> Any:
        return badge(holder.review_state, holder.get_review_state_display())

    @display(description="Cards", ordering="held")
    def card_count(self, holder: Any) -> int:
        return int(holder.held)

    @display(description="Last confirmed", ordering="confirmed")
    def last_confirmed(self, holder: Any) -> Any:
        fresh = None if holder.missing_since else holder.confirmed
        return when(max(filter(None, (holder.changed_at, fresh))))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        page = super().change_view(request, object_id, form_url, extra_context)
        if request.method == "GET" and page.status_code == 200:
            # Personal data was looked at: that stays on record, one row a view.
            record("cardholder.look", self.get_object(request, object_id), by=the_person(request))
        return page

    def badge_of(self, obj: Cardholder) -> Any:
        return badge(obj.review_state, obj.get_review_state_display())

    def acts(self, request: HttpRequest, obj: Cardholder) -> Iterable[Act]:
        person = the_person(request)
        if person.has_perm("cards.add_cardholderreview"):
            yield Act(
                "review",
                "Review",
                partial(_review, obj, person),
                form=ReviewForm,
                why_not=review.why_not_review(obj, person),
                is_embedded=True,
                lead="No card is issued to a cardholder whom nobody has approved. The newest review counts.",
            )
        if person.has_perm("cards.add_cardorder"):
            yield Act(
                "issue",
                "Issue card",
                tone="primary",
                href=add_url(CardOrder, cardholder=obj.pk),
                why_not=issuing.why_not_issue(obj),
            )

    def panels(self, request: HttpRequest, obj: Cardholder) -> Iterable[Panel]:
        person = the_person(request)
        yield Panel("Cardholder", list(_facts(obj, person)))
        if person.has_perm("cards.view_cardholderreview"):
            yield _reviews(obj)
        yield _cards(obj)
        if person.has_perm("cards.view_cardorder"):
            yield _orders(obj)
        yield self.provenance(obj)
        yield self.as_it_came(obj)


def _status(holder: Cardholder) -> Any:
    if holder.missing_since is not None:
        return badge("missing", "Gone at Endl")
    return endl_status(holder.status, Cardholder.KNOWN_STATUSES)


def _facts(holder: Cardholder, person: User) -> Iterable[Fact]:
    yield Fact("Name", name(holder.full_name))
    yield Fact("Customer", link(holder.customer), holder.customer.endl_id)
    yield Fact("E-mail", name(holder.email))
    yield Fact("Phone", holder.phone)
    yield Fact("Status at Endl", _status(holder))
    yield Fact("Made at Endl", when(holder.created_at))
    wish = getattr(holder, "registration", None)
    if wish is None:
        yield Fact("Registered here", "No: found at Endl by sync")
    else:
        shown = link(wish, "Its registration") if person.has_perm("cards.view_cardholderrequest") else "Yes"
        yield Fact("Registered here", shown, f"by {wish.maker}")


def _reviews(holder: Cardholder) -> Panel:
    rows = [
        (badge(made.verdict, _VERDICTS[made.verdict]), str(made.by), when(made.made_at), made.reason)
        for made in holder.reviews.select_related("by")
    ]
    return Panel(
        "Reviews",
        table=Table(("Verdict", "By", "When", "Reason"), rows),
        empty="Nobody has reviewed them yet.",
    )


_VERDICTS = {"approved": "Approved", "rejected": "Rejected"}


def _cards(holder: Cardholder) -> Panel:
    held = Card.objects.filter(cardholder=holder).select_related("order__details")
    held = held.defer("payload", "order__body", "order__details__envelope")[:FIRST_FEW]
    rows = [
        (link(card, masked_of(card)), endl_status(card.status, Card.KNOWN_STATUSES),
         dollars(card.amount_cents), when(card.created_at))
        for card in held
    ]  # fmt: skip
    return Panel(
        "Cards",
        table=Table(("Card", "At Endl", "Amount", "Issued"), rows, numeric=(2,)),
        empty="No card was issued to them yet.",
        more=("All of them", list_url(Card, cardholder__id__exact=holder.pk)) if rows else None,
    )


def _orders(holder: Cardholder) -> Panel:
    orders = CardOrder.objects.filter(cardholder=holder).select_related("maker", "cardholder").defer("body")
    rows = [
        (link(order, order.purpose or str(order)), dollars(order.amount_cents), road.state_badge(order),
         str(order.maker), when(order.created_at))
        for order in orders[:FIRST_FEW]
    ]  # fmt: skip
    return Panel(
        "Card orders",
        table=Table(("Order", "Amount", "State", "By", "When"), rows, numeric=(1,)),
        empty="No card was ordered for them here.",
        more=("All of them", list_url(CardOrder, cardholder__id__exact=holder.pk)) if rows else None,
    )


def _review(holder: Cardholder, person: User, given: dict[str, Any]) -> str:
    review.review_cardholder(
        cardholder=holder, verdict=given["verdict"], reason=given["reason"], by=person, now=timezone.now()
    )
    return f"{holder} is {_VERDICTS[given['verdict']].lower()}."
