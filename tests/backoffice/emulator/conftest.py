"""A small company at an emulator of its own. No Django here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import COMPANY, HOLDER, WALLET, Api

FAMILY: dict[str, list[dict[str, Any]]] = {
    "customers": [
        {"customerId": COMPANY, "name": "Company", "type": "business"},
        {"customerId": "cus_plain", "name": "Not for cards", "type": "business", "cardsEnabled": False},
        {"customerId": "cus_person", "name": "A person", "type": "individual"},
        {"customerId": "cus_employee", "name": "An employee", "type": "employee"},
        {"customerId": "cus_outside", "name": "Not enrolled", "type": "business", "enrolment": "pending"},
    ],
    "wallets": [
        {"walletId": WALLET, "customerId": COMPANY, "chain": "base", "currency": "USDC", "balance": "100.00"},
        {"walletId": "wlt_person", "customerId": "cus_person", "currency": "USD", "balance": "5.00"},
        {"walletId": "wlt_employee", "customerId": "cus_employee", "currency": "USD", "balance": "5.00"},
    ],
    "cardholders": [
        {"cardholderId": HOLDER, "customerId": COMPANY, "email": "holder@example.com"},
        {"cardholderId": "chd_waiting", "customerId": COMPANY, "status": "pending"},
    ],
}


@pytest.fixture
def emulator(tmp_path: Path, key_pair: tuple[Path, str]) -> Iterator[Emulator]:
    """An emulator where the company is known, whose deposits wait to be settled by hand."""
    with Emulator(tmp_path / "world.sqlite3", settle_seconds=3600) as running:
        running.register_key(key_pair[1])
        running.seed(**FAMILY)
        yield running


@pytest.fixture
def api(emulator: Emulator) -> Api:
    """A client of that emulator."""
    return Api(emulator)
