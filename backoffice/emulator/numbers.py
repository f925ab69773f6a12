"""Numbers of test cards: they pass the Luhn check and belong to no one."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from backoffice.emulator.wire import Doc

TEST_BIN = "400000"


def luhn_digit(digits: str) -> str:
    """The check digit that makes `digits` plus itself a valid number."""
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(digits))]
    return str(-sum(value // 10 + value % 10 for value in doubled) % 10)


def card_number(account: int) -> str:
    """The test number for an account of up to nine digits."""
    digits = f"{TEST_BIN}{account:09d}"
    return digits + luhn_digit(digits)


def new_details() -> Doc:
    """Details for a new card, three years valid."""
    today = datetime.now(UTC)
    return {
        "number": card_number(secrets.randbelow(10**9)),
        "expiryMonth": today.month,
        "expiryYear": today.year + 3,
        "cvv": f"{secrets.randbelow(1000):03d}",
    }
