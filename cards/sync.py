"""Cardholders and cards of a customer, made true from Endl's one list."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from backoffice import endl as api
from backoffice.audit.trail import Actor, record
from backoffice.delivery import line
from backoffice.delivery.models import State
from backoffice.mirror import pull
from cards import customers
from cards.models import Card, Cardholder, CardOrder, Customer

CARDHOLDERS = "cardholders"
_FOUR_DIGITS = re.compile(r"[0-9]{4}", re.ASCII)
_MOST_CENTS = 10**15
_CLOCKS_MAY_DIFFER = timedelta(minutes=5)


def sync_cardholders(*, customer: Customer, endl: api.Client, by: Actor, now: datetime) -> pull.Taken:
    """Read a business's cardholders with their cards, and take in what changed.

    Args:
        by: who asked, or "system: sync".

    Returns: what changed; nothing when another sync of the same list is running or Endl did not answer. What
    stands in the way is kept with the pull and shown.
    """
    if customer.type != Customer.Type.BUSINESS:
        return pull.Taken()
    running = pull.start(CARDHOLDERS, customer.endl_id, now=now)
    if running is None:
        return pull.Taken()
    try:
        listed = endl.list_cardholders(customer.endl_id)
    except api.EndlError as problem:
        _note_failure(customer, problem, endl, now)
        pull.fail(running, problem.message, now=now)
        return pull.Taken()
    line.note_answer(now=now, probe_customer=customer.endl_id)
    with transaction.atomic():
        unreadable = listed.unreadable + sum(holder.unreadable_cards for holder in listed.items)
        # What could not be read may be just the row that seems to be missing.
        taken = _take_in(customer, listed.items, now, whole=not unreadable)
        customers.learn_accepted(customer, now=now, is_business=True, is_enabled=True)
        pull.confirm(running, items=len(listed.items), unreadable=unreadable, now=now)
        if taken.is_news:
            record("customer.sync", customer, by=by, new=taken.as_counts())
    return taken


def take_in_cardholder(customer: Customer, found: api.Cardholder, *, now: datetime) -> Cardholder:
    """Take in one cardholder, from the answer to its registration."""
    return pull.take_one(Cardholder, found, _cardholder_columns(customer), now=now)


def take_in_card(cardholder: Cardholder, found: api.Card, *, now: datetime) -> Card:
    """Take in one card, from the answer to its order."""
    return pull.take_one(Card, found, _card_columns({found.card_id: cardholder.pk}), now=now)


def _note_failure(customer: Customer, problem: api.EndlError, endl: api.Client, now: datetime) -> None:
    customers.learn_refused(customer, problem, now=now)
    # A customer that Endl does not serve is no trouble of the line's.
    if not isinstance(problem, api.Rejected):
        line.note_trouble(problem, client=endl, now=now)


def _take_in(
    customer: Customer, found: Iterable[api.Cardholder], now: datetime, *, whole: bool
) -> pull.Taken:
    holders = _own_holders(customer, list(found))
    taken = pull.take_in(
        Cardholder.objects.filter(customer=customer),
        holders,
        _cardholder_columns(customer),
        now=now,
        whole=whole,
    )
    ids = dict(Cardholder.objects.filter(customer=customer).values_list("endl_id", "pk"))
    listed = [(card, ids[holder.cardholder_id]) for holder in holders for card in holder.cards]
    others = _others_cards(customer, [card.card_id for card, _ in listed])
    owners = {card.card_id: owner for card, owner in listed if card.card_id not in others}
    taken += pull.take_in(
        Card.objects.filter(cardholder__customer=customer),
        [card for card, _ in listed if card.card_id in owners],
        _card_columns(owners),
        now=now,
        whole=whole,
    )
    find_lost_cards(customer)
    return taken


def _own_holders(customer: Customer, found: list[api.Cardholder]) -> list[api.Cardholder]:
    """Leave out whom we know as another customer's: a row never changes hands, and with it who may see it."""
    ids = [holder.cardholder_id for holder in found]
    rows = Cardholder.objects.filter(endl_id__in=ids).exclude(customer=customer)
    others = set(rows.values_list("endl_id", flat=True))
    return [holder for holder in found if holder.cardholder_id not in others]


def _others_cards(customer: Customer, ids: list[str]) -> set[str]:
    rows = Card.objects.filter(endl_id__in=ids).exclude(cardholder__customer=customer)
    return set(rows.values_list("endl_id", flat=True))


def _cardholder_columns(customer: Customer) -> pull.Columns[api.Cardholder]:
    def columns(found: api.Cardholder) -> dict[str, Any]:
        return {
            "endl_id": found.cardholder_id,
            "customer_id": customer.pk,
            "first_name": (found.first_name or "")[:300],
            "last_name": (found.last_name or "")[:300],
            "email": (found.email or "")[:320],
            "phone": (found.phone or "")[:64],
            "status": (found.status or "")[:100],
            "created_at": found.created_at,
        }

    return columns


def _card_columns(owners: dict[str, int]) -> pull.Columns[api.Card]:
    def columns(found: api.Card) -> dict[str, Any]:
        return {
            "endl_id": found.card_id,
            "cardholder_id": owners[found.card_id],
            "type": (found.type or "")[:40],
            **masked_columns(found),
            "amount_cents": _within(found.amount_in_usd_cents, _MOST_CENTS),
            "status": (found.status or "")[:100],
            "created_at": found.created_at,
        }

    return columns


def masked_columns(found: api.Card) -> dict[str, Any]:
    """Last four and expiry as columns; what is neither stays in the payload alone."""
    last4 = found.last4 or ""
    return {
        "last4": last4 if _FOUR_DIGITS.fullmatch(last4) else "",
        "exp_month": _within(found.expiry_month, 12),
        "exp_year": _within(found.expiry_year, 9999),
    }


def _within(number: int | None, most: int) -> int | None:
    return number if number is not None and 0 <= number <= most else None


def find_lost_cards(customer: Customer) -> None:
    """Link orders whose details are lost to the card that Endl made: only where exactly one fits."""
    lost = CardOrder.objects.filter(
        cardholder__customer=customer, state=State.DETAILS_LOST, card=None
    ).select_related("cardholder")
    for order in lost:
        fitting = list(_cards_that_fit(order)[:2])
        if len(fitting) == 1 and not _rivals(order).exists():
            CardOrder.objects.filter(pk=order.pk, card=None).update(card=fitting[0])
            record("card_order.card_found", order, by="system: sync", new={"card": fitting[0].endl_id})


def _rivals(order: CardOrder) -> QuerySet[CardOrder]:
    """Other orders that the card may belong to: lost as well, on their way, or not known."""
    return CardOrder.objects.filter(
        cardholder=order.cardholder,
        amount_cents=order.amount_cents,
        card=None,
        state__in=(State.DETAILS_LOST, State.SENDING, State.UNKNOWN),
    ).exclude(pk=order.pk)


def _cards_that_fit(order: CardOrder) -> QuerySet[Card]:
    since = (order.first_attempt_at or order.created_at) - _CLOCKS_MAY_DIFFER
    return Card.objects.filter(
        cardholder=order.cardholder, amount_cents=order.amount_cents, order=None, created_at__gte=since
    )
