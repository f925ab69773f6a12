"""Endl's error table, and the envelope that every refusal travels in."""

from __future__ import annotations

from typing import Any

TABLE: dict[str, tuple[int, str]] = {
    "ERRCRD_1000": (400, "Customer is not a business"),
    "ERRCRD_1001": (400, "Business is not enabled for cards"),
    "ERRCRD_1002": (404, "Cardholder not found"),
    "ERRCRD_1003": (400, "Cardholder is not enabled for cards"),
    "ERRCRD_1004": (400, "Card encryption key not registered"),
    "ERRCRD_1005": (400, "A field broke a rule"),
    "ERRCRD_1006": (400, "Card request rejected"),
    "ERRCRD_1007": (403, "Card issuing not available"),
    "ERRCRD_1008": (409, "Card already issued for this Idempotency-Key"),
    "ERRCRD_1009": (502, "Card issuing temporarily unavailable"),
    "ERRCRD_1010": (400, "Cardholder could not be created"),
    "ERRCORE_1001": (400, "Missing or unsupported Api-Version"),
    "ERRCORE_1004": (401, "Partner API key required"),
    "ERRCORE_1005": (403, "Access denied, or the key lacks cards"),
    "ERRCORE_1006": (429, "Rate limit exceeded"),
    "ERRREF_1001": (404, "Unknown customer id"),
    "IP_NOT_ALLOWLISTED": (403, "Request IP not registered"),
}


class Refusal(Exception):
    """Endl says no. Nothing was written, and nothing is remembered under the key."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        field: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.field = field
        self.headers = headers or {}

    def envelope(self, *, uncoded: str = "empty") -> dict[str, Any]:
        """The documented error body; `uncoded` says what stands where Endl documents no code."""
        code = self.code or ("ERROR" if uncoded == "generic" else None)
        item = {"code": code, "message": self.message, "field": self.field}
        return {
            "code": self.status,
            "message": self.message,
            "status": "ERROR",
            "data": None,
            "errors": [item] if code else [],
        }


def coded(
    code: str,
    message: str | None = None,
    *,
    field: str | None = None,
    headers: dict[str, str] | None = None,
) -> Refusal:
    """A refusal with one of the documented codes, its status and its usual message."""
    status, usual = TABLE[code]
    return Refusal(status, message or usual, code=code, field=field, headers=headers)


def uncoded(status: int, message: str) -> Refusal:
    """A refusal for which Endl documents a status but no code."""
    return Refusal(status, message)
