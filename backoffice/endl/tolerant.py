"""Reading values that may come in other clothes than agreed: never a crash, never a float, never a guess."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from backoffice.endl.answers import MAX_DEPTH, NotJSON, is_moderate
from backoffice.endl.checks import is_id
from backoffice.endl.text import mask_card_numbers, passes_luhn, storable

# Compared without case and punctuation: card_number, cardNumber and CARD-NUMBER are one name.
_SECRET_NAMES = frozenset(
    (
        "encrypteddetails",
        "encryptedcarddetails",
        "pan",
        "number",
        "cardnumber",
        "primaryaccountnumber",
        "cvv",
        "cvv2",
        "cvc",
        "cvc2",
        "cid",
        "securitycode",
        "cardsecuritycode",
        "cardverificationvalue",
        "track1",
        "track2",
        "pin",
        "pinblock",
    )
)
# One phone number in ten passes the check of card numbers, and so does one time in milliseconds: those begin
# with 1, as no card number does.
_PHONE = re.compile(r"\+[0-9]{6,15}", re.ASCII)
_CARD_NUMBER = re.compile(r"[2-6][0-9]{13,18}", re.ASCII)
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]")


def without_secrets(value: Any, *, depth: int = 0) -> Any:
    """Copy JSON without card secrets at any depth, fit to store: text escaped, absurd numbers as text."""
    if depth > MAX_DEPTH:
        raise NotJSON("nested too deep")
    if isinstance(value, dict):
        kept = {name: child for name, child in value.items() if not _is_secret(str(name))}
        return {
            _kept_text(str(name)): without_secrets(child, depth=depth + 1) for name, child in kept.items()
        }
    if isinstance(value, list):
        return [without_secrets(child, depth=depth + 1) for child in value]
    return _scalar(value)


def _is_secret(name: str) -> bool:
    return _NOT_ALPHANUMERIC.sub("", name.lower()) in _SECRET_NAMES


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return _kept_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if _CARD_NUMBER.fullmatch(str(value)) and passes_luhn(str(value)):
        return mask_card_numbers(str(value))
    number = _decimal(value)
    return value if number is not None and is_moderate(number) else storable(str(value))


def _kept_text(text: str) -> str:
    """A text that may be stored: a card number that somebody wrote where none belongs is masked."""
    return storable(text if _PHONE.fullmatch(text) else mask_card_numbers(text))


def as_text(value: Any) -> str | None:
    """Return text as it came, anything else as its JSON text, null as None."""
    if value is None or isinstance(value, str):
        return None if value is None else _kept_text(value)
    return json.dumps(without_secrets(value), ensure_ascii=False, default=str)


def as_reference(value: Any) -> str | None:
    """Return the id of another object, or None where it could not be used as one."""
    return value if is_id(value) else None


def as_list(value: Any) -> list[Any]:
    """Return a list as it came, anything else as an empty one."""
    return value if isinstance(value, list) else []


def as_whole(value: Any) -> int | None:
    """Return a whole number given as int, Decimal or digits; anything else is None, a bool above all."""
    number = None if isinstance(value, bool) else _decimal(value)
    if number is None or not is_moderate(number) or number != number.to_integral_value():
        return None
    return int(number)


def as_last4(value: Any) -> str | None:
    """Return the last four as text: a number has lost its zeros, and of a longer run the rest is not kept."""
    if isinstance(value, bool) or value is None:
        return None
    digits = str(value).zfill(4) if isinstance(value, int) else value
    return digits[-4:] if isinstance(digits, str) and digits.isdigit() else as_text(value)


_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,60})?", re.ASCII)


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, int | Decimal):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, str) and _PLAIN_NUMBER.fullmatch(value.strip()):
        return Decimal(value.strip())
    return None


def as_amount(value: Any) -> tuple[Decimal, str] | None:
    """Return an exact amount and its text (as it came, or the number written out plainly), or None."""
    number = None if isinstance(value, bool) else _decimal(value)
    if number is None or not is_moderate(number) or abs(number.adjusted()) > 60:
        return None
    return number, value if isinstance(value, str) else format(number, "f")


_ISO = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d)?)(\.\d+)?\s*([Zz]|[+-]\d\d:?\d\d)?", re.ASCII)
# Seconds of the year 5138: a larger number can only be milliseconds.
_LARGEST_SECONDS = 100_000_000_000


def as_time(value: Any) -> datetime | None:
    """Read a moment as aware UTC: ISO 8601 (UTC without a zone: assumed), epoch seconds or milliseconds.

    Digits past the microsecond are dropped. Anything that is no moment is None.
    """
    try:
        return _iso(value.strip()) if isinstance(value, str) else _epoch(value)
    except (ValueError, OverflowError, InvalidOperation, OSError):
        return None


def _iso(text: str) -> datetime | None:
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    whole, fraction, zone = found.groups()
    moment = datetime.fromisoformat(f"{whole}{(fraction or '')[:7]}{(zone or 'Z').upper()}")
    return _sensible(moment.astimezone(UTC))


def _epoch(value: Any) -> datetime | None:
    number = None if isinstance(value, bool) else _decimal(value)
    if number is None or not is_moderate(number):
        return None
    seconds = number if abs(number) < _LARGEST_SECONDS else number / 1000
    return _sensible(datetime.fromtimestamp(float(seconds), UTC))


def _sensible(moment: datetime) -> datetime | None:
    """The year 1 is how some languages write "no time"."""
    return moment if moment.year > 1 else None
