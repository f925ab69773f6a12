"""Cardholders and cards of a customer, made true from Endl's one list."""

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
        taken = _take_in(customer, listed.items, now)
        customers.learn_accepted(customer, now=now, is_business=True, is_enabled=True)
        unreadable = listed.unreadable + sum(holder.unreadable_cards for holder in listed.items)
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


def _take_in(customer: Customer, found: Iterable[api.Cardholder], now: datetime) -> pull.Taken:
    holders = list(found)
    taken = pull.take_in(
        Cardholder.objects.filter(customer=customer), holders, _cardholder_columns(customer), now=now
    )
    ids = dict(Cardholder.objects.filter(customer=customer).values_list("endl_id", "pk"))
    owners = {card.card_id: ids[holder.cardholder_id] for holder in holders for card in holder.cards}
    taken += pull.take_in(
        Card.objects.filter(cardholder__customer=customer),
        [card for holder in holders for card in holder.cards],
        _card_columns(owners),
        now=now,
    )
    find_lost_cards(customer)
    return taken


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
            "last4": found.last4 or "",
            "exp_month": found.expiry_month,
            "exp_year": found.expiry_year,
            "amount_cents": found.amount_in_usd_cents,
            "status": (found.status or "")[:100],
            "created_at": found.created_at,
        }

    return columns


def find_lost_cards(customer: Customer) -> None:
    """Link orders whose details are lost to the card that Endl made: only where exactly one fits."""
    lost = CardOrder.objects.filter(
        cardholder__customer=customer, state=State.DETAILS_LOST, card=None
    ).select_related("cardholder")
    for order in lost:
        fitting = list(_cards_that_fit(order)[:2])
        rivals = lost.filter(cardholder=order.cardholder, amount_cents=order.amount_cents).count()
        if len(fitting) == 1 and rivals == 1:
            CardOrder.objects.filter(pk=order.pk, card=None).update(card=fitting[0])
            record("card_order.card_found", order, by="system: sync", new={"card": fitting[0].endl_id})


def _cards_that_fit(order: CardOrder) -> QuerySet[Card]:
    since = (order.first_attempt_at or order.created_at) - _CLOCKS_MAY_DIFFER
    return Card.objects.filter(
        cardholder=order.cardholder, amount_cents=order.amount_cents, order=None, created_at__gte=since
    )
