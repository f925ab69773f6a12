"""Checking and reading what Endl delivers. The event names are documented; signature and body are assumed."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from backoffice.endl.answers import NotJSON, as_object, parse_json
from backoffice.endl.tolerant import as_text, as_time, without_secrets

MAX_EVENT_BYTES = 64 * 1024
_MAX_SIGNATURES = 5


class WebhookRefused(Exception):
    """A delivery that is not taken; ``http_status`` is what to answer."""

    http_status = 400


class BadSignature(WebhookRefused):
    """The signature is missing or wrong, or its time is too far from now."""

    http_status = 401


class BadEvent(WebhookRefused):
    """Signed as it should be, but no JSON object (or over 64 KB)."""


@dataclass(frozen=True)
class VerifiedEvent:
    """A delivery whose signature was right.

    ``event_id`` is the body's id, else the webhook-id header, else the SHA-256 of the raw body (assumed).
    ``type`` is empty when none came, ``data`` an empty dict; card secrets are removed from it.
    """

    event_id: str
    type: str
    created_at: datetime | None
    data: dict[str, Any] = field(repr=False)
    raw_sha256: str


def verify(
    *,
    raw: bytes,
    headers: Mapping[str, str],
    secrets: Sequence[str],
    now: datetime,
    scheme: Literal["standard", "hmac"] = "standard",
    header: str = "X-Signature",
    tolerance_seconds: int = 300,
) -> VerifiedEvent:
    """Check a delivery's signature over its exact bytes and read it.

    ``standard`` is the Standard Webhooks scheme (secrets are base64, with or without ``whsec_``; the time is
    good for ``tolerance_seconds`` either way of ``now``, which is aware). ``hmac`` is a hex HMAC-SHA256 of
    the body in the header named by ``header`` (secrets are plain text). Any one of ``secrets`` will do.

    Raises BadSignature and BadEvent, whatever comes in, and nothing else.
    """
    lowered = {str(name).lower(): str(value) for name, value in headers.items()}
    if len(raw) > MAX_EVENT_BYTES:
        raise BadEvent(f"The event is over {MAX_EVENT_BYTES} bytes.")
    if scheme == "standard":
        signed = _is_signed_standard(raw, lowered, secrets, now, tolerance_seconds)
    else:
        signed = _is_signed_hmac(raw, lowered.get(header.lower(), ""), secrets)
    if not signed:
        raise BadSignature("The signature is missing or wrong, or too old or too new.")
    return _event(raw, lowered)


def _is_signed_standard(
    raw: bytes, headers: Mapping[str, str], secrets: Sequence[str], now: datetime, tolerance_seconds: int
) -> bool:
    event_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not event_id or not _is_recent(sent_at, now, tolerance_seconds):
        return False
    signed = b".".join([_bytes(event_id), sent_at.encode(), raw])
    given = list(_signatures(headers.get("webhook-signature", "")))
    return _any_equal(given, [_mac(key, signed) for key in _standard_keys(secrets)])


def _is_signed_hmac(raw: bytes, given: str, secrets: Sequence[str]) -> bool:
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", given):
        return False
    return _any_equal([bytes.fromhex(given)], [_mac(_bytes(secret), raw) for secret in secrets if secret])


def _is_recent(text: str, now: datetime, tolerance_seconds: int) -> bool:
    # ASCII digits alone: "nan" compares as false either way, and a future time would be good for ever.
    if not re.fullmatch(r"[0-9]{1,12}", text):
        return False
    return abs(now.timestamp() - int(text)) <= tolerance_seconds


def _signatures(text: str) -> Iterator[bytes]:
    """Yield the first few v1 signatures: a header of thousands must not buy thousands of comparisons."""
    for entry in text[:4096].split(" ")[:_MAX_SIGNATURES]:
        version, _, packed = entry.partition(",")
        if version == "v1":
            yield _decoded(packed)


def _standard_keys(secrets: Sequence[str]) -> Iterator[bytes]:
    for secret in secrets:
        key = _decoded(secret.strip().removeprefix("whsec_"))
        if key:
            yield key


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(_bytes(text), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _any_equal(given: Sequence[bytes], right: Sequence[bytes]) -> bool:
    """Compare every pair, so that the time taken says nothing about which secret was near."""
    verdicts = [hmac.compare_digest(one, other) for one in given for other in right]
    return any(verdicts)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _event(raw: bytes, headers: Mapping[str, str]) -> VerifiedEvent:
    try:
        body = without_secrets(as_object(parse_json(raw)))
    except NotJSON as problem:
        raise BadEvent(f"The event is {problem}.") from None
    digest = hashlib.sha256(raw).hexdigest()
    data = body.get("data")
    return VerifiedEvent(
        event_id=_identity(body.get("id")) or _identity(headers.get("webhook-id")) or digest,
        type=as_text(body.get("type")) or "",
        created_at=as_time(body.get("createdAt")),
        data=data if isinstance(data, dict) else {},
        raw_sha256=digest,
    )


def _identity(value: Any) -> str | None:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return text if isinstance(text, str) and re.fullmatch(r"[\x21-\x7e]{1,128}", text) else None
