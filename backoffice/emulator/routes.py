"""Which operation a method and a path mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

_CUSTOMER = "/api/v0/customer/{customerId}/card-users"
_CARDS = "/api/v0/cards/{customerId}"
OPERATIONS: dict[str, tuple[str, str]] = {
    "register_cardholder": ("POST", _CUSTOMER),
    "list_cardholders": ("GET", _CUSTOMER),
    "issue_card": ("POST", _CUSTOMER + "/{cardholderId}/cards/scoped"),
    "start_deposit": ("POST", _CARDS + "/deposits"),
    "list_deposits": ("GET", _CARDS + "/deposits"),
    "get_deposit": ("GET", _CARDS + "/deposits/{depositId}"),
    "list_withdrawals": ("GET", _CARDS + "/withdrawals"),
    "get_withdrawal": ("GET", _CARDS + "/withdrawals/{withdrawalId}"),
}


@dataclass(frozen=True)
class Route:
    """An operation with what its path says; under "allowed" the methods of a path that was asked wrongly."""

    operation: str
    params: dict[str, str]


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template) + r"\Z")


_PATTERNS = [(name, method, _pattern(template)) for name, (method, template) in OPERATIONS.items()]


def route(method: str, path: str) -> Route:
    """The operation; "unknown" for no such path, "wrong_method" for a known path asked wrongly."""
    allowed: list[str] = []
    for name, expected, pattern in _PATTERNS:
        found = pattern.match(path)
        if found and method == expected:
            return Route(name, {key: unquote(value) for key, value in found.groupdict().items()})
        if found:
            allowed.append(expected)
    return Route("wrong_method", {"allowed": ", ".join(allowed)}) if allowed else Route("unknown", {})
