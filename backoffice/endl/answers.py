"""What came back over the wire, and the strict reading of JSON."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

MAX_DEPTH = 64
_MAX_EXPONENT = 400
_SHORTEST_SECRET = 8


@dataclass(frozen=True)
class Answer:
    """One HTTP answer, whole.

    ``headers`` holds the content type, Retry-After and the request id alone, under lower-case names.
    The repr shows no body: it may hold card details, sealed or not.
    """

    status: int
    body: bytes
    headers: Mapping[str, str]
    request_id: str | None = None

    def __repr__(self) -> str:
        return f"Answer(status={self.status}, {len(self.body)} bytes, request_id={self.request_id!r})"


def without_secret(answer: Answer, secret: str) -> Answer:
    """Return the answer without the API key, should it be quoted; a very short one could be any word."""
    if len(secret) < _SHORTEST_SECRET or secret.encode() not in answer.body:
        return answer
    return replace(answer, body=answer.body.replace(secret.encode(), b"[API key]"))


class NotJSON(ValueError):
    """The bytes are no JSON that can be trusted; the text never quotes them."""


def parse_json(body: bytes, *, encoding: str = "utf-8") -> Any:
    """Read JSON strictly: numbers with a point or exponent become Decimal, whole ones stay int.

    Raises NotJSON for anything cut off, not in the encoding, nested more than 64 deep, with a name twice in
    one object (two readers would see two amounts), NaN, Infinity, or numbers of absurd size.
    """
    try:
        value = json.loads(
            body.decode(encoding),
            parse_float=_exact,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )
    except (ValueError, RecursionError):
        raise NotJSON("not readable as JSON") from None
    _refuse_depth(value)
    return value


def as_object(value: Any) -> dict[str, Any]:
    """Return the value as a JSON object, or raise NotJSON."""
    if not isinstance(value, dict):
        raise NotJSON("not a JSON object")
    return value


def _exact(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise NotJSON("a number out of range") from None
    return number


def _refuse_constant(_: str) -> None:
    raise NotJSON("NaN and Infinity are no JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotJSON("a name twice in one object")
    return value


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise NotJSON("nested too deep")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def is_moderate(number: Decimal) -> bool:
    """Whether a number can be written out plainly: ``1e999999999`` would fill the memory."""
    return (
        number.is_finite()
        and abs(number.adjusted()) <= _MAX_EXPONENT
        and len(number.as_tuple().digits) <= 800
    )


_HEADER_SAFE = re.compile(r"[^\x20-\x7e]")


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Pick the few headers that are understood; names lower-case, values printable ASCII of at most 200."""
    lowered = {name.lower(): value for name, value in headers.items()}
    return {name: _HEADER_SAFE.sub("?", lowered[name])[:200] for name in _KEPT if name in lowered}


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """Return the request id among the kept headers; Endl documents none, so the usual names are tried."""
    return next((headers[name] for name in _REQUEST_IDS if headers.get(name)), None)


_REQUEST_IDS = ("x-request-id", "request-id", "x-correlation-id", "x-amzn-requestid", "cf-ray")
_KEPT = ("content-type", "retry-after", *_REQUEST_IDS)
