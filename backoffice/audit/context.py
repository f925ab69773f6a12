"""Where an act comes from: request, address, session and factor, remembered while a request lasts."""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import structlog
from django.http import HttpRequest, HttpResponse

from backoffice.access.factors import accepted_factor, factor_age_seconds


@dataclass(frozen=True)
class Origin:
    """From where an act was done. Sessions are named by a hash: the trail must not let anybody in."""

    request_id: str = ""
    address: str = ""
    session: str = ""
    factor: str = ""
    factor_age_seconds: int | None = None
    is_sample: bool = False
    # Whether it is a request of the web, and whose session it came with.
    is_web: bool = False
    person: int | None = None


_origin: ContextVar[Origin] = ContextVar("audit_origin", default=Origin())  # noqa: B039  (frozen)


def current_origin() -> Origin:
    """The origin of what runs now; blank outside a request."""
    return _origin.get()


@contextmanager
def acting_from(origin: Origin) -> Iterator[None]:
    """Let everything inside be recorded as coming from this origin."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def origin_of(request: HttpRequest) -> Origin:
    """Read the origin off a request."""
    key = request.session.session_key or ""
    age = factor_age_seconds(request)
    return Origin(
        request_id=_request_id(),
        address=request.META.get("REMOTE_ADDR", "")[:64],
        session=hashlib.sha256(key.encode()).hexdigest()[:16] if key else "",
        factor="" if age is None else accepted_factor(),
        factor_age_seconds=None if age is None else max(0, int(age)),
        is_web=True,
        person=request.user.pk,
    )


def prove_again(request: HttpRequest) -> None:
    """Read the origin anew after this request has proved a factor: what it does from here on is proved."""
    if _origin.get().is_web:
        _origin.set(replace(origin_of(request), request_id=_origin.get().request_id))


def _request_id() -> str:
    """The id under which the log knows this request, so that entry and lines are found by one reference."""
    known = structlog.contextvars.get_contextvars().get("request_id", "")
    return str(known)[:64] or secrets.token_hex(8)


class AuditMiddleware:
    """Remember the origin of each request for the audit rows that it writes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with acting_from(origin_of(request)):
            return self.get_response(request)
