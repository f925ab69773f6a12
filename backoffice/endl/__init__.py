"""Endl's Cards API in Python.

``Client`` speaks to Endl; ``call_*`` build what it sends and ``read_*`` read what comes back; every failure
is an ``EndlError`` (see ``errors`` for the tree). ``open_envelope`` opens card details and ``verify`` checks
deliveries.
"""

from backoffice.endl.answers import Answer
from backoffice.endl.calls import Call, call_issue_card, call_register_cardholder, call_start_deposit
from backoffice.endl.checks import check_base_url, check_id, check_key, is_id
from backoffice.endl.client import Client, Listing
from backoffice.endl.codes import CODES, error_from
from backoffice.endl.envelope import EnvelopeError, is_named, key_named_in, open_envelope
from backoffice.endl.errors import (
    AlreadyIssued,
    Conflict,
    EndlError,
    FieldRejected,
    InvalidId,
    IssuingUnavailable,
    NoAnswer,
    NotFound,
    NotSent,
    OursToFix,
    OutcomeUnknown,
    Rejected,
    ServerTrouble,
    Throttled,
    UnreadableAnswer,
    Unsupported,
)
from backoffice.endl.keyfiles import (
    RECOMMENDED_BITS,
    public_half,
    read_key_file,
    read_passphrase,
    warning_about,
)
from backoffice.endl.keys import KeyRefused, PrivateKey, fingerprint_of_public, load_private_key
from backoffice.endl.reading import read_cardholder, read_deposit, read_issued_card, read_withdrawal
from backoffice.endl.resources import (
    Card,
    CardDetails,
    Cardholder,
    Deposit,
    Destination,
    Fee,
    IssuedCard,
    Money,
    Withdrawal,
    parse_deposit,
    parse_withdrawal,
)
from backoffice.endl.webhooks import (
    MAX_EVENT_BYTES,
    BadEvent,
    BadSignature,
    VerifiedEvent,
    WebhookRefused,
    verify,
)

__all__ = [
    "CODES",
    "MAX_EVENT_BYTES",
    "RECOMMENDED_BITS",
    "AlreadyIssued",
    "Answer",
    "BadEvent",
    "BadSignature",
    "Call",
    "Card",
    "CardDetails",
    "Cardholder",
    "Client",
    "Conflict",
    "Deposit",
    "Destination",
    "EndlError",
    "EnvelopeError",
    "Fee",
    "FieldRejected",
    "InvalidId",
    "IssuedCard",
    "IssuingUnavailable",
    "KeyRefused",
    "Listing",
    "Money",
    "NoAnswer",
    "NotFound",
    "NotSent",
    "OursToFix",
    "OutcomeUnknown",
    "PrivateKey",
    "Rejected",
    "ServerTrouble",
    "Throttled",
    "UnreadableAnswer",
    "Unsupported",
    "VerifiedEvent",
    "WebhookRefused",
    "Withdrawal",
    "call_issue_card",
    "call_register_cardholder",
    "call_start_deposit",
    "check_base_url",
    "check_id",
    "check_key",
    "error_from",
    "fingerprint_of_public",
    "is_id",
    "is_named",
    "key_named_in",
    "load_private_key",
    "open_envelope",
    "parse_deposit",
    "parse_withdrawal",
    "public_half",
    "read_cardholder",
    "read_deposit",
    "read_issued_card",
    "read_key_file",
    "read_passphrase",
    "read_withdrawal",
    "verify",
    "warning_about",
]
