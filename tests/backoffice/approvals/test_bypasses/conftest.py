"""After each attempt, nothing came of it."""

from typing import TYPE_CHECKING, Any

import pytest

from backoffice.delivery import sender
from backoffice.endl import Client
from cards import issuing
from cards.models import CardOrder
from funding import deposits
from funding.models import DepositRequest

if TYPE_CHECKING:
    from backoffice.emulator import Emulator


@pytest.fixture(autouse=True)
def _nothing_came_of_it(db: None, emulator: "Emulator", endl: Client) -> Any:
    """After each attempt: the sender finds nothing to send, and Endl has made no deposit and no card."""
    yield
    for wish in DepositRequest.objects.all():
        sender.deliver(deposits.ROAD, wish.pk, endl=endl)
    for order in CardOrder.objects.exclude(approval__needed=0):
        sender.deliver(issuing.ROAD, order.pk, endl=endl)
    made = [entry["operation"] for entry in emulator.ledger()]
    assert "start_deposit" not in made
    assert made.count("issue_card") == 0
