"""The pages of cards: masked, with their life on one line. A GET opens nothing."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.audit.trail import Refusal
from backoffice.endl import KeyRefused
from backoffice.mirror.admin import MirrorAdmin
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, dollars, endl_status, link, name, url_of, when
from cards import keyring, reveal
from cards.admin.common import CustomerFilter
from cards.admin.lives import life_of, seen_by
from cards.admin.masks import can_be_opened, details_of, mask_of, masked_of, opens_by_itself
from cards.admin.retention import DESTROY, destroy_act
from cards.admin.reveal_desk import RevealDesk, why_not_reveal
from cards.models import Card
from cards.scoping import Scoped
from cards.sync import CARDHOLDERS

_OPEN = "open-mask"
_SINGLE_USE = (
    "Endl documents only the words “single-use card”: do not count on a second payment with it, nor on what "
    "a declined or smaller payment leaves of it."
)


class MaskStaysClosed(Refusal):
    """Last four and expiry could not be read from the envelope."""


@admin.register(Card)
class CardAdmin(Scoped, RevealDesk, MirrorAdmin):
    """Cards, as Endl last told them. Their numbers are not here."""

    scope_path = "cardholder__customer"
    pull_kind = CARDHOLDERS
    act_names = (_OPEN, DESTROY)
    list_display = (
        "shown_card",
        "shown_holder",
        "shown_customer",
        "shown_amount",
        "shown_status",
        "issued_at",
    )
    list_filter = (
        "status",
        ("cardholder__customer", CustomerFilter),
        ("created_at", admin.DateFieldListFilter),
    )
    allowed_lookups = frozenset({"cardholder__id__exact"})
    search_fields = (
        "last4", "endl_id", "cardholder__first_name", "cardholder__last_name", "cardholder__email",
    )  # fmt: skip
    ordering = ("-created_at", "-pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).select_related("cardholder__customer", "order__details")
        return rows.defer("payload", "cardholder__payload", "order__body", "order__details__envelope")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The card, called by the last four that its envelope told. Pages write no mirror: it stays here."""
        card = super().get_object(request, object_id, from_field)
        if card is not None:
            card.last4 = mask_of(card).last4
        return card

    @display(description="Card", ordering="last4")
    def shown_card(self, card: Card) -> str:
        return masked_of(card)

    @display(description="Cardholder", ordering="cardholder__last_name")
    def shown_holder(self, card: Card) -> Any:
        return name(str(card.cardholder))

    @display(description="Customer", ordering="cardholder__customer__name")
    def shown_customer(self, card: Card) -> Any:
        return name(card.cardholder.customer.name)

    @display(description="Amount", ordering="amount_cents")
    def shown_amount(self, card: Card) -> Any:
        return dollars(card.amount_cents)

    @display(description="At Endl", ordering="status")
    def shown_status(self, card: Card) -> Any:
        return _status(card)

    @display(description="Issued", ordering="created_at")
    def issued_at(self, card: Card) -> Any:
        return when(card.created_at)

    def badge_of(self, obj: Card) -> Any:
        return _status(obj)

    def lead_of(self, obj: Card) -> str:
        return _SINGLE_USE

    def acts(self, request: HttpRequest, obj: Card) -> Iterable[Act]:
        person = the_person(request)
        if person.has_perm("cards.reveal_card"):
            why_not = why_not_reveal(person, obj)
            yield Act("reveal", "Reveal", why_not=why_not, href=url_of(obj, "reveal"), tone="primary")
        # A press on a page that is no longer true gets a sentence from the operation, not a closed door.
        is_pressed = request.method == "POST" and details_of(obj) is not None
        if person.has_perm("cards.open_mask") and (can_be_opened(obj) or is_pressed):
            yield Act(_OPEN, "Show last four and expiry", partial(_open_mask, obj, person), why_not=_no_key())
        yield from destroy_act(person, details_of(obj))

    def panels(self, request: HttpRequest, obj: Card) -> Iterable[Panel]:
        person = the_person(request)
        yield self._mask(person, obj)
        yield Panel("Card", list(_facts(obj, person)))
        yield life_of(obj)
        details = details_of(obj)
        if details is not None:
            yield seen_by(details)
        yield self.provenance(obj)
        yield self.as_it_came(obj)

    def _mask(self, person: User, card: Card) -> Panel:
        mask = mask_of(card)
        opens = can_be_opened(card) and person.has_perm("cards.open_mask") and opens_by_itself(card)
        return Panel(
            "Masked details",
            note=_why_not_whole(person, card),
            template="office/cards/mask.html",
            context={"mask": mask, "card": card, "opens_by_itself": opens},
        )


def _status(card: Card) -> Any:
    if card.missing_since is not None:
        return badge("missing", "Gone at Endl")
    return endl_status(card.status, Card.KNOWN_STATUSES)


def _no_key() -> str:
    if settings.ENDL_PRIVATE_KEY_FILES:
        return ""
    return "No private key is configured: an administrator names its file in ENDL_PRIVATE_KEY_FILES."


def _why_not_whole(person: User, card: Card) -> str:
    """Say why something of the mask is missing; blank when nothing is, or when a press brings it."""
    details = details_of(card)
    if mask_of(card).is_whole:
        return ""
    if details is None:
        return "The details of this card never reached this office, and Endl did not tell them since."
    if details.is_destroyed:
        return f"The details were destroyed before anybody looked: {details.destroyed_because}."
    if details.quarantined_at is not None:
        return "The details do not fit what Endl says of the card and are quarantined. Ask an administrator."
    if not person.has_perm("cards.open_mask"):
        return "Endl did not say them; they are read from the sealed details when a manager opens this page."
    return ""


def _facts(card: Card, person: User) -> Iterable[Fact]:
    holder = card.cardholder
    yield Fact("Amount", dollars(card.amount_cents))
    yield Fact("Cardholder", link(holder), holder.endl_id)
    yield Fact("Customer", link(holder.customer), holder.customer.endl_id)
    order = getattr(card, "order", None)
    if order is None:
        yield Fact("Ordered here", "No: found at Endl by sync")
    elif person.has_perm("cards.view_cardorder"):
        yield Fact("Order", link(order), order.purpose)
    yield Fact("Status at Endl", _status(card))


def _open_mask(card: Card, person: User, _given: dict[str, Any]) -> str:
    details = details_of(card)
    assert details is not None
    if mask_of(card).is_whole:
        return "Last four and expiry are known already."
    try:
        reveal.open_mask(details=details, keys=keyring.private_keys(), by=person, now=timezone.now())
    except reveal.CannotOpen as problem:
        raise MaskStaysClosed(str(problem)) from None
    except (KeyRefused, OSError):
        raise MaskStaysClosed(
            "The private key could not be read: an administrator looks at ENDL_PRIVATE_KEY_FILES."
        ) from None
    return "Last four and expiry are known now."
