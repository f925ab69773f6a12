"""How webhooks are signed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

from backoffice.emulator.switches import Switches


def headers(event: str, body: bytes, switches: Switches) -> dict[str, str]:
    """The headers that prove where an event comes from, at this moment."""
    kind = {"Content-Type": "application/json", "User-Agent": "endl-emulator"}
    secrets = [secret.strip() for secret in (switches.webhook_secret or "").split(",") if secret.strip()]
    if not secrets:
        return kind
    if switches.webhook_scheme == "hex":
        return {**kind, switches.webhook_header: _hex_signature(secrets[0], body)}
    sent_at = str(int(time.time()))
    signatures = " ".join(_standard_signature(secret, event, sent_at, body) for secret in secrets)
    return {
        **kind,
        "webhook-id": event,
        "webhook-timestamp": sent_at,
        "webhook-signature": signatures,
    }


def _hex_signature(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _standard_signature(secret: str, event: str, sent_at: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event}.{sent_at}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
