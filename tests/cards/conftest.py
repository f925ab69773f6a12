"""A card that was issued, with its sealed details, and the keys that open them."""

from datetime import datetime
from pathlib import Path

import pytest

from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.endl import Client, PrivateKey, load_private_key
from cards import issuing
from cards.models import Card, Cardholder, CardOrder, SealedDetails
from tests.wishes import an_order


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
