"""The switches that decide how the emulator behaves, with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

ENVELOPE_FORMS = ("hybrid", "jwe", "direct", "direct-object", "direct-data")
CHOICES: dict[str, tuple[object, ...]] = {
    "registration_keys": ("honour", "ignore"),
    "card_keys": ("honour", "ignore"),
    "card_replay": ("409", "first-result"),
    "unknown_fields": ("ignore", "refuse"),
    "uncoded": ("empty", "generic"),
    "success_status": (200, 201),
    "id_form": ("prefixed", "uuid", "number"),
    "deposit_status": ("pending", "completed"),
    "list_form": ("array", "object", "paged"),
    "reads_off_status": (404, 405, 501),
    "envelope_form": ENVELOPE_FORMS,
    "envelope_tag": ("separate", "appended"),
    "envelope_base64": ("standard", "url"),
    "oaep_hash": ("sha256", "sha1"),
    "mgf_hash": ("sha256", "sha1"),
    "plaintext_names": ("plain", "pan", "card", "expiry"),
    "webhook_scheme": ("standard", "hex"),
}


class UnknownSwitch(ValueError):
    """A switch was named that does not exist, or given a value that it does not take."""


@dataclass(frozen=True)
class Switches:
    """Every switch. Lists of operations use the names of `routes.OPERATIONS`."""

    api_key: str = "endl_practice_key"
    api_versions: list[str] = field(default_factory=lambda: ["2026-09.1"])
    allowlisted: bool = True
    permitted: bool = True
    rate_per_second: float | None = None
    rate_retry_after: str | None = None
    max_body_bytes: int = 65536
    keys_required: list[str] = field(default_factory=lambda: ["start_deposit"])
    registration_keys: str = "honour"
    card_keys: str = "honour"
    card_replay: str = "409"
    name_field: bool = False
    unknown_fields: str = "ignore"
    uncoded: str = "empty"
    success_status: int = 201
    id_form: str = "prefixed"
    duplicate_emails: bool = False
    cardholder_status: str = "active"
    issuing_available: bool = True
    issuing_down: bool = False
    rejected_amounts: list[int] = field(default_factory=list)
    settle_seconds: float = 5.0
    deposit_status: str = "pending"
    deposit_fee: str | None = None
    failing_wallets: list[str] = field(default_factory=list)
    failing_amounts: list[str] = field(default_factory=list)
    failure_reason: Any = "The transfer was rejected by the network"
    list_form: str = "array"
    page_size: int = 50
    reads_off: list[str] = field(default_factory=list)
    reads_off_status: int = 405
    envelope_form: str = "hybrid"
    envelope_tag: str = "separate"
    envelope_base64: str = "standard"
    oaep_hash: str = "sha256"
    mgf_hash: str = "sha256"
    plaintext_names: str = "plain"
    webhook_url: str | None = None
    webhook_secret: str | None = None
    webhook_scheme: str = "standard"
    webhook_header: str = "X-Endl-Signature"
    webhook_retry_seconds: list[float] = field(default_factory=lambda: [1, 5, 30, 120, 600])
    webhook_timeout_seconds: float = 5.0


NAMES = frozenset(f.name for f in fields(Switches))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_number_or_none(value: object) -> bool:
    return value is None or _is_number(value)


_TAKES: dict[str, Callable[[object], bool]] = {
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": _is_number,
    "float | None": _is_number_or_none,
    "str | None": _is_text_or_none,
    "Any": lambda _: True,
}


def check(changes: Mapping[str, Any]) -> None:
    """Raise UnknownSwitch unless each change names a switch and fits it."""
    kinds = {f.name: str(f.type) for f in fields(Switches)}
    for name, value in changes.items():
        if name not in NAMES:
            raise UnknownSwitch(f"{name} is not a switch")
        takes = _TAKES.get(kinds[name], _is_list)
        if not takes(value) or value not in CHOICES.get(name, (value,)):
            raise UnknownSwitch(f"{name} does not take {value!r}")
