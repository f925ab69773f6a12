"""The three requests that change something, as exact bytes.

A call is built once and stored; every later attempt sends the same bytes, since Endl answers 409 to the same
key with another body (documented).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backoffice.endl.checks import check_id
from backoffice.endl.resources import Money

MIN_CENTS = 1
MAX_CENTS = 10_000_000
MAX_MEMO_CHARACTERS = 140
_PLAIN_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?", re.ASCII)


@dataclass(frozen=True)
class Call:
    """One POST to come: its operation's name, its path, its body's exact bytes (not in the repr)."""

    operation: str
    path: str
    body: bytes = field(repr=False)


def call_register_cardholder(
    *, customer_id: str, first_name: str, last_name: str, email: str, phone: str | None = None
) -> Call:
    """Build the registration of a cardholder under a business (path documented, body assumed).

    ``phone`` is E.164 and left out when empty. Raises InvalidId, and ValueError for text that is not UTF-8.
    """
    path = f"/api/v0/customer/{check_id(customer_id, 'customer')}/card-users"
    body = {"firstName": first_name, "lastName": last_name, "email": email}
    return Call("register_cardholder", path, _bytes(body | _given(phone=phone)))


def call_issue_card(
    *, customer_id: str, cardholder_id: str, amount_cents: int, memo: str | None = None
) -> Call:
    """Build the issuing of a single-use card (documented; the memo is assumed, and left out when empty).

    ``amount_cents`` is US cents, an int from 1 to 10,000,000. Raises InvalidId, and ValueError for an amount
    of another type or size or a memo over 140 characters.
    """
    business, cardholder = check_id(customer_id, "customer"), check_id(cardholder_id, "cardholder")
    path = f"/api/v0/customer/{business}/card-users/{cardholder}/cards/scoped"
    return Call(
        "issue_card", path, _bytes({"amountInUSDCents": _cents(amount_cents)} | _given(memo=_memo(memo)))
    )


def call_start_deposit(*, customer_id: str, wallet_id: str, amount: Money, chain: str | None = None) -> Call:
    """Build a deposit from the customer's Endl account (documented); without a chain the wallet's own holds.

    Raises InvalidId, and ValueError unless ``amount.text`` is a plain positive decimal equal to
    ``amount.amount``.
    """
    path = f"/api/v0/cards/{check_id(customer_id, 'customer')}/deposits"
    body = {"walletId": check_id(wallet_id, "wallet"), "amount": _plain(amount)}
    return Call("start_deposit", path, _bytes(body | _given(chain=chain)))


def _cents(amount: int) -> int:
    # By exact type: True is an int to Python, and 100.0 compares equal to 100.
    if type(amount) is not int or not MIN_CENTS <= amount <= MAX_CENTS:
        raise ValueError("The amount is a whole number of US cents from 1 to 10000000.")
    return amount


def _memo(memo: str | None) -> str | None:
    if memo is not None and len(memo) > MAX_MEMO_CHARACTERS:
        raise ValueError("The memo has at most 140 characters.")
    return memo


def _plain(money: Money) -> dict[str, str]:
    plain = _PLAIN_AMOUNT.fullmatch(money.text) is not None and money.is_text_of_amount()
    if not plain or money.amount <= 0:
        raise ValueError("The amount is a positive decimal: plain digits and one point.")
    return {"amount": money.text, "currency": money.currency}


def _given(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _bytes(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise ValueError("The text holds half a character (a lone surrogate).") from None
