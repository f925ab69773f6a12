"""A card that was issued, with its sealed details, and the keys that open them."""

import secrets
from datetime import datetime
from pathlib import Path

import pytest

from backoffice import vault
from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.delivery.models import State
from backoffice.endl import Client, PrivateKey, load_private_key
from cards import issuing
from cards.models import Card, Cardholder, CardOrder, SealedDetails
from tests.wishes import an_order, approval_of


@pytest.fixture
def keys(registered_key: Path) -> list[PrivateKey]:
    return [load_private_key(registered_key.read_bytes())]


@pytest.fixture
def order(cardholder: Cardholder, manager: User, endl: Client, now: datetime) -> CardOrder:
    """An order whose card was issued."""
    made = an_order(cardholder, by=manager, now=now)
    sender.deliver(issuing.ROAD, made.pk, endl=endl, clock=lambda: now)
    return CardOrder.objects.get(pk=made.pk)


@pytest.fixture
def details(order: CardOrder) -> SealedDetails:
    return SealedDetails.objects.get(order=order)


@pytest.fixture
def card(order: CardOrder) -> Card:
    assert order.card is not None
    return order.card


def more_details(details: SealedDetails, count: int) -> list[SealedDetails]:
    """The same envelope again, under as many other orders of the same person for cards that Endl made."""
    assert details.envelope is not None
    envelope = vault.unseal(bytes(details.envelope), about=issuing.about_details(details.order))
    return [_under(an_order_like(details.order), envelope, details) for _number in range(count)]


def an_order_like(order: CardOrder) -> CardOrder:
    """One more order, issued, whose card is not known yet."""
    approval = approval_of(order)
    made = CardOrder.objects.get(pk=order.pk)
    approval.pk = made.pk = None
    approval.save(force_insert=True)
    made.approval, made.card, made.state = approval, None, State.APPROVED
    made.idempotency_key, made.form_token = secrets.token_hex(16), secrets.token_hex(16)
    made.save(force_insert=True)
    return made


def _under(order: CardOrder, envelope: bytes, details: SealedDetails) -> SealedDetails:
    return SealedDetails.objects.create(
        order=order,
        envelope=vault.seal(envelope, about=issuing.about_details(order)),
        last4=details.last4,
        exp_month=details.exp_month,
        exp_year=details.exp_year,
        received_at=details.received_at,
    )
