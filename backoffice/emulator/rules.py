"""The rules that a request body must keep. Each message starts with the name of its field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal

from backoffice.emulator.errors import Refusal, coded
from backoffice.emulator.switches import Switches
from backoffice.emulator.wire import Call, Doc

_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")
_AMOUNT = re.compile(r"[0-9]{1,15}(?:\.([0-9]{1,18}))?")
_PLACES = {"USD": 2}
_USUAL_PLACES = 6


def broken(field: str, rule: str, switches: Switches) -> Refusal:
    """The refusal for a field that broke a rule."""
    return coded("ERRCRD_1005", f"{field} {rule}", field=field if switches.name_field else None)


def json_object(call: Call, switches: Switches, known: Iterable[str]) -> Doc:
    """The body as a JSON object; with the switch, refuse fields that are not `known`."""
    try:
        content = json.loads(call.body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise broken("body", "must be JSON", switches) from None
    if not isinstance(content, dict):
        raise broken("body", "must be a JSON object", switches)
    strangers = sorted(set(content) - set(known))
    if strangers and switches.unknown_fields == "refuse":
        raise broken(strangers[0], "is not a known field", switches)
    return content


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def cardholder_request(call: Call, switches: Switches) -> Doc:
    """A registration's body, checked."""
    body = json_object(call, switches, ("firstName", "lastName", "email", "phone"))
    for name in ("firstName", "lastName"):
        _text(body, name, 100, switches)
    email = body.get("email")
    if not isinstance(email, str) or len(email) > 254 or not _EMAIL.fullmatch(email):
        raise broken("email", "must be an e-mail address", switches)
    phone = body.get("phone")
    if phone is not None and not (isinstance(phone, str) and _PHONE.fullmatch(phone)):
        raise broken("phone", "must be in E.164 form, such as +12025550123", switches)
    return body


def _text(body: Doc, name: str, longest: int, switches: Switches) -> None:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise broken(name, f"must be a text of 1 to {longest} characters", switches)


def card_request(call: Call, switches: Switches) -> Doc:
    """A card request's body, checked."""
    body = json_object(call, switches, ("amountInUSDCents", "memo"))
    cents = body.get("amountInUSDCents")
    if type(cents) is not int or not 1 <= cents <= 10_000_000:
        raise broken("amountInUSDCents", "must be an integer from 1 to 10000000", switches)
    memo = body.get("memo")
    if memo is not None and not (isinstance(memo, str) and len(memo) <= 140):
        raise broken("memo", "must be a text of up to 140 characters", switches)
    return body


def deposit_request(call: Call, switches: Switches) -> Doc:
    """A deposit's body, checked; whether the wallet can pay is not asked here."""
    body = json_object(call, switches, ("walletId", "amount", "chain"))
    if not isinstance(body.get("walletId"), str) or not body["walletId"]:
        raise broken("walletId", "is required", switches)
    _check_money(body.get("amount"), switches)
    if "chain" in body and not (isinstance(body["chain"], str) and body["chain"]):
        raise broken("chain", "must be a text", switches)
    return body


def _check_money(money: object, switches: Switches) -> None:
    if not isinstance(money, dict):
        raise broken("amount", "must be an object with amount and currency", switches)
    currency = money.get("currency")
    if not isinstance(currency, str) or not currency:
        raise broken("amount.currency", "is required", switches)
    amount = money.get("amount")
    found = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
    places = _PLACES.get(currency, _USUAL_PLACES)
    if not found or len(found[1] or "") > places or Decimal(found[0]) <= 0:
        raise broken("amount", f"must be a decimal string above 0 with up to {places} places", switches)
