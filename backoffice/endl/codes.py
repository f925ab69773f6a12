"""From an answer to an error: the one table of Endl's codes, and the rules for what is not in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from backoffice.endl import errors
from backoffice.endl.answers import Answer, NotJSON, parse_json
from backoffice.endl.errors import EndlError

MAX_RETRY_AFTER_SECONDS = 300.0

# The codes are documented; the class and the remedy are this project's reading of each.
CODES: Mapping[str, tuple[type[EndlError], str]] = {
    "ERRCRD_1000": (errors.Rejected, "Choose a business customer."),
    "ERRCRD_1001": (errors.Rejected, "Ask the Endl contact to enable this business for cards."),
    "ERRCRD_1002": (errors.NotFound, "Sync the business: Endl does not know this cardholder."),
    "ERRCRD_1003": (errors.Rejected, "Review the cardholder with Endl."),
    "ERRCRD_1004": (errors.Rejected, "Register the public key with Endl; the API status page shows it."),
    "ERRCRD_1005": (errors.FieldRejected, "Correct the field that the message names."),
    "ERRCRD_1006": (errors.Rejected, "Read Endl's message: the card request was rejected."),
    "ERRCRD_1007": (errors.IssuingUnavailable, "Ask the Endl contact; issuing is paused."),
    "ERRCRD_1008": (errors.AlreadyIssued, "Find the card again by listing; its details cannot be had."),
    "ERRCRD_1009": (errors.ServerTrouble, "Wait: the same request is sent again with the same key."),
    "ERRCRD_1010": (errors.Rejected, "Read Endl's message: it says why there is no cardholder."),
    "ERRCORE_1001": (errors.OursToFix, "Fix the setting ENDL_API_VERSION."),
    "ERRCORE_1004": (errors.OursToFix, "Fix the setting ENDL_API_KEY."),
    "ERRCORE_1005": (errors.OursToFix, "Ask the Endl contact for the cards permission on the key."),
    "ERRCORE_1006": (errors.Throttled, "Wait: Endl asks for fewer requests."),
    "ERRREF_1001": (errors.NotFound, "Correct the customer: Endl does not know this id."),
    "IP_NOT_ALLOWLISTED": (errors.OursToFix, "Register this server's address with Endl."),
}

_BY_STATUS: Mapping[int, type[EndlError]] = {
    404: errors.NotFound,
    # A gateway that gave up waiting may have passed the request on: no clear answer.
    408: errors.NoAnswer,
    409: errors.Conflict,
    429: errors.Throttled,
}


@dataclass(frozen=True)
class _Complaint:
    code: str | None = None
    field: str | None = None
    message: str = ""


def error_from(answer: Answer) -> EndlError:
    """Turn an answer that is no success into the error to raise (returned, not raised).

    A known code decides, else the HTTP status; Endl's message is kept either way. Two things go before the
    code: any 401 is the key's fault, and a 5xx never counts as a clear no.
    """
    complaint = _complaint_in(answer.body)
    kind, remedy = _kind_and_remedy(answer.status, complaint)
    error = kind(
        complaint.message or f"Endl answered {answer.status} without a message that can be read.",
        code=complaint.code,
        field=complaint.field or _field_named_first(kind, complaint.message),
        http_status=answer.status,
        request_id=answer.request_id,
        remedy=remedy,
        retry_after_seconds=parse_retry_after(answer.headers.get("retry-after")),
    )
    if isinstance(error, errors.OursToFix) and error.code == "ERRCORE_1005" and answer.status != 401:
        error.pauses = "probe"
    return error


def _kind_and_remedy(status: int, complaint: _Complaint) -> tuple[type[EndlError], str | None]:
    known = CODES.get(complaint.code or "")
    if status == 401:
        return errors.OursToFix, known[1] if known else CODES["ERRCORE_1004"][1]
    if status >= 500:
        return errors.ServerTrouble, known[1] if known else None
    if not 400 <= status < 500:
        return errors.UnreadableAnswer, None
    return known or (_kind_by_status(status, complaint), _remedy_by_words(status, complaint.message))


# Starting a deposit is refused without a code (documented): the status, and a word that says which of its
# documented reasons it is. The first that fits counts.
_REMEDIES: tuple[tuple[int, str, str], ...] = (
    (400, "employee", "Use a wallet of a business or an individual: employees cannot deposit."),
    (400, "chain", "Leave the chain empty, or name one that this wallet supports."),
    (400, "wallet", "Check the wallet's id, and that it is this customer's."),
    (403, "enrol", "Ask the Endl contact to enrol this customer, then ask for the deposit again."),
    (409, "fund", "Put money into the wallet, or ask for a smaller deposit."),
    (409, "balance", "Put money into the wallet, or ask for a smaller deposit."),
)


def _remedy_by_words(status: int, message: str) -> str | None:
    words = message.lower()
    return next((remedy for code, word, remedy in _REMEDIES if code == status and word in words), None)


def _kind_by_status(status: int, complaint: _Complaint) -> type[EndlError]:
    if complaint.field and status in (400, 422):
        return errors.FieldRejected
    return _BY_STATUS.get(status, errors.Rejected)


def _complaint_in(body: bytes) -> _Complaint:
    """Read what can be read: the envelope is documented for every error, but a proxy does not know that."""
    try:
        envelope = parse_json(body)
    except NotJSON:
        return _Complaint()
    if not isinstance(envelope, dict):
        return _Complaint()
    entry = _telling_entry(envelope.get("errors"))
    message = _text(entry.get("message")) or _text(envelope.get("message")) or _text(envelope.get("error"))
    return _Complaint(_word(entry.get("code")), _word(entry.get("field")), message or "")


def _telling_entry(entries: Any) -> dict[str, Any]:
    """Return the first entry whose code is known, else the first entry."""
    readable = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    known = (entry for entry in readable if _word(entry.get("code")) in CODES)
    return next(known, readable[0] if readable else {})


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]-]{0,63}", re.ASCII)


def _word(value: Any) -> str | None:
    """Return a code or a field's name; whatever is neither is dropped, so that it can be shown anywhere."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


_FIRST_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}(?=[\s:])")


def _field_named_first(kind: type[EndlError], message: str) -> str | None:
    if not issubclass(kind, errors.FieldRejected):
        return None
    found = _FIRST_NAME.match(message)
    return found[0] if found else None


_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Read Retry-After: seconds, decimals or an HTTP date (assumed). Returns seconds from 0 to 300, or None.

    A date in the past is "now"; anything else that cannot be read is None, so that the caller's own delay
    holds.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), MAX_RETRY_AFTER_SECONDS)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (aware - (now or datetime.now(UTC))).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)
