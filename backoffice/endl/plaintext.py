"""From the decrypted bytes to card details: right in every part, or not at all."""

import re
from typing import Any

from backoffice.endl.answers import NotJSON, as_object, parse_json
from backoffice.endl.resources import CardDetails
from backoffice.endl.text import passes_luhn

# The names are assumed; the first of each is what the emulator sends.
_PAN = ("number", "pan", "cardNumber")
_CVV = ("cvv", "cvc", "securityCode")
_MONTH = ("expiryMonth", "expMonth")
_YEAR = ("expiryYear", "expYear")


class Unusable(Exception):
    """The plaintext is no card details; ``kind`` says which part, without a byte of it."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def read_details(plaintext: bytes, *, opened_by: str = "") -> CardDetails:
    """Read card details; `opened_by` is the fingerprint of the key that opened them. Raises Unusable.

    A number without a right check digit is refused, and a CVV that came as a JSON number too: it may have
    lost its leading zeros. A CVV that did not come at all reads as empty.
    """
    try:
        details = as_object(parse_json(plaintext, encoding="utf-8-sig"))
    except NotJSON:
        raise Unusable("plaintext") from None
    month, year = _expiry(details)
    pan, cvv = _pan(details), _cvv(details)
    return CardDetails(pan=pan, cvv=cvv, exp_month=month, exp_year=year, opened_by=opened_by)


def _first(details: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((details[name] for name in names if details.get(name) is not None), None)


def _pan(details: dict[str, Any]) -> str:
    value = _first(details, _PAN)
    digits = re.sub(r"[ -]", "", value) if isinstance(value, str) else _number_text(value)
    if not re.fullmatch(r"[0-9]{12,19}", digits) or not passes_luhn(digits):
        raise Unusable("number")
    return digits


def _cvv(details: dict[str, Any]) -> str:
    value = _first(details, _CVV)
    if value is None:
        return ""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{3,4}", value):
        raise Unusable("cvv")
    return value


def _expiry(details: dict[str, Any]) -> tuple[int, int]:
    month, year = _number_text(_first(details, _MONTH)), _number_text(_first(details, _YEAR))
    if not month and not year:
        month, _, year = _number_text(details.get("expiry")).partition("/")
    if not re.fullmatch(r"0?[1-9]|1[0-2]", month.strip()) or not re.fullmatch(r"(20)?[0-9]{2}", year.strip()):
        raise Unusable("expiry")
    return int(month), 2000 + int(year) % 100


def _number_text(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
