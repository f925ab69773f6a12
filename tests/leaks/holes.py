"""Holes: places where the code breaks on purpose while it holds card data, with the data in hand or in words.

A request names its hole in a header; a worker, which has no requests, in a file.
"""

import functools
import os
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

HEADER = "X-Leaks-Hole"
FILE = "LEAKS_HOLE_FILE"
# Where it breaks: after which function, as the module that calls it knows it.
WEB = {
    "after the key unwrapped": "backoffice.endl.keys.PrivateKey.unwrap",
    "after the details were read": "backoffice.endl.envelope.read_details",
    "after the storage key unsealed": "cards.reveal.vault.unseal",
    "after the envelope was opened": "cards.reveal.unseal",
    "after the look was finished": "cards.reveal._finish",
    "after the key file was read": "cards.keyring.private_keys",
    "after the event was verified": "funding.receiving.api.verify",
}
WORKER = {
    "after the card was read": "backoffice.endl.reading.IssuedCard",
    "after the details were kept": "cards.issuing.sync.masked_columns",
    "after the list was read": "cards.sync._own_holders",
    "after the answer was unpacked": "backoffice.delivery.raw.unpack",
}
_hole: ContextVar[str] = ContextVar("hole", default="")


class Broken(RuntimeError):
    """What a hole raises."""


class HoleMiddleware:
    """Let a request fall into the hole that it names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        _install(WEB, _hole.get)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = _hole.set(request.headers.get(HEADER, ""))
        try:
            return self.get_response(request)
        finally:
            _hole.reset(token)


def open_in_worker() -> None:
    """Let a worker fall into the hole that the file names."""
    file = Path(os.environ[FILE])
    _install(WORKER, lambda: file.read_text() if file.exists() else "")


def _install(holes: dict[str, str], wanted: Callable[[], str]) -> None:
    for name, place in holes.items():
        owner_path, _, attribute = place.rpartition(".")
        owner = _owner(owner_path)
        if owner is not None and not hasattr(getattr(owner, attribute), "is_a_hole"):
            setattr(owner, attribute, _breaking(getattr(owner, attribute), name, wanted))


def _owner(path: str) -> Any:
    try:
        return import_string(path)
    except ImportError:
        import importlib

        return importlib.import_module(path)


def _breaking(real: Callable[..., Any], name: str, wanted: Callable[[], str]) -> Callable[..., Any]:
    @functools.wraps(real)
    def breaking(*args: Any, **kwargs: Any) -> Any:
        made = real(*args, **kwargs)
        asked, _, how = wanted().partition("; in ")
        if asked == name:
            in_words = _in_words(made)
            if how == "words":
                raise Broken(f"It broke while it held {in_words!r} and {made!r}")
            raise Broken("It broke.")
        return made

    breaking.is_a_hole = True  # type: ignore[attr-defined]
    return breaking


def _in_words(made: Any) -> Any:
    """What a careless programmer would write into an exception."""
    return {"pan": made.pan, "cvv": made.cvv} if hasattr(made, "pan") else made
