"""Deciding on a request whose kind is known as a word only, by the operation of its own page."""

from typing import Any, Protocol

from django.contrib.admin import site

from backoffice.access.models import User
from backoffice.approvals.books import book_of
from backoffice.approvals.models import Approval
from backoffice.audit.trail import Refusal


class Decided(Protocol):
    """What the pages of a request that is decided on can do."""

    def decide(self, wish: Any, person: User, given: dict[str, Any]) -> str:
        """Decide by the application's own operation; `given` has verdict, seen and reason."""


class Gone(Refusal):
    """The request has another approval by now."""


def request_of(approval: Approval) -> Any:
    """The request of an approval. Raises Gone."""
    request = book_of(approval.kind).request_of(approval.pk)
    if request is None:
        raise Gone("This was drawn up anew under other rules. Decide on what took its place.")
    return request


def decide(approval: Approval, *, by: User, verdict: str, seen: str, reason: str = "") -> str:
    """Decide by the door of the request's own page. Returns the sentence that says what happened.

    Args:
        seen: the hash that was on the screen.

    Raises: every Refusal of the application's operation, and Gone.
    """
    request = request_of(approval)
    pages: Decided = site._registry[type(request)]  # type: ignore[assignment]  # noqa: SLF001
    return pages.decide(request, by, {"verdict": verdict, "seen": seen, "reason": reason})
