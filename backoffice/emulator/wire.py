"""What comes in and what goes out: a call, an answer, and the answer's bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

Doc = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One request to the API, after routing. Header names are in lower case."""

    operation: str
    method: str
    path: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str | None:
        """The Idempotency-Key as it was sent; None when there was none."""
        return self.headers.get("idempotency-key") if self.method == "POST" else None

    @property
    def is_known(self) -> bool:
        """Whether the path and the method mean an operation at all."""
        return self.operation not in ("unknown", "wrong_method")

    @property
    def customer(self) -> str:
        """The customer that the path names."""
        return self.params.get("customerId", "")

    @property
    def digest(self) -> str:
        """SHA-256 of the exact bytes of the body, in hex."""
        return hashlib.sha256(self.body).hexdigest()


@dataclass(frozen=True)
class Answer:
    """A status, headers and a body."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def json_answer(status: int, content: object, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer whose body is `content` as JSON, in ASCII so that any string survives."""
    return Answer(status, encoded(content), {"Content-Type": "application/json", **(headers or {})})


def html_answer(status: int, page: str) -> Answer:
    """An answer that is a web page."""
    return Answer(status, page.encode(), {"Content-Type": "text/html; charset=utf-8"})


def encoded(content: object) -> bytes:
    """`content` as JSON bytes."""
    return json.dumps(content, separators=(",", ":")).encode("ascii")


def rendered(answer: Answer, *, close: bool = False, length: int | None = None, head: bool = False) -> bytes:
    """The answer as it goes over the wire; `length` overrides the Content-Length."""
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Unknown"
    headers = {"Content-Length": str(len(answer.body) if length is None else length), **answer.headers}
    if close:
        headers["Connection"] = "close"
    lines = [f"HTTP/1.1 {answer.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (b"" if head else answer.body)
