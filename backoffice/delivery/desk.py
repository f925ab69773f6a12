"""What people do with a request before it travels: make it, approve, reject or cancel it.

The same for every kind; the applications call it from operations of their own, inside their transaction.
"""

import hashlib
import secrets
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.db import IntegrityError, transaction

from backoffice.access.models import User
from backoffice.approvals import decisions, drawing, facts
from backoffice.approvals.models import Approval, Decision
from backoffice.audit.trail import Refusal, record
from backoffice.delivery.models import Request, State
from backoffice.endl import Call

Kind = TypeVar("Kind", bound=Request)
# Back in one of these after an attempt, a request came to nothing so far: Endl said so, or was not reached.
_UNSENT = (State.REQUESTED, State.APPROVED)


class TooLate(Refusal):
    """The request is on its way, or has ended."""


class NotTheMaker(Refusal):
    """Only who made a request can cancel it."""


class NotYourPage(Refusal):
    """The page that was posted belongs to somebody else's request."""


def committed(call: Call, *, by: User, now: datetime) -> dict[str, Any]:
    """The columns of a new request: its exact bytes and a fresh idempotency key."""
    return {
        "maker": by,
        "created_at": now,
        "state_at": now,
        "operation": call.operation,
        "path": call.path,
        "body": call.body,
        "idempotency_key": f"office-{secrets.token_hex(16)}",
        "base_url": settings.ENDL_BASE_URL,
    }


def posted_before[Kind: Request](model: type[Kind], form_token: str, *, by: User) -> Kind | None:
    """The request that an earlier click on the same page made. Raises NotYourPage."""
    row = model._default_manager.filter(form_token=form_token).first()
    if row is not None and row.maker_id != by.pk:
        raise NotYourPage("This form belongs to somebody else's request. Open a new one.")
    return row


def commit[Kind: Request](row: Kind, *, by: User) -> tuple[Kind, bool]:
    """Save a new request once a page. Returns the row, and whether this click made it. Raises NotYourPage."""
    try:
        with transaction.atomic():
            if row.approval is not None:
                drawing.save(row.approval)
                row.approval_id = row.approval.pk
            row.save(force_insert=True)
    except IntegrityError:
        # Two clicks at the same moment: the unique token let one of them in.
        first = posted_before(type(row), row.form_token, by=by)
        if first is None:
            raise
        return first, False
    return row, True


def ask[Kind: Request](row: Kind, *, now: datetime) -> None:
    """Draw up the approval of a new request by the active rules: approved at once, or waiting for people.

    Two requests at once wait for each other here, so that both count for running totals.
    """
    approval = drawing.draw(row, now=now)
    row.state = State.APPROVED if approval.state == Approval.State.APPROVED else State.REQUESTED


def facts_of(request: Request, **plain: Any) -> dict[str, Any]:
    """What an approval of this request binds to, rebuilt from the row.

    Args:
        plain: what the kind of request adds, in the words that a checker reads.
    """
    return {
        **plain,
        "kind": request.kind,
        "operation": request.operation,
        "path": request.path,
        "body_sha256": hashlib.sha256(bytes(request.body)).hexdigest(),
        "idempotency_key": request.idempotency_key,
        "base_url": request.base_url,
        "environment": "practice" if settings.PRACTICE else "production",
        "customer": request.customer_endl_id,
        "maker": request.maker_id,
        "policy": facts.policy_of(request.approval),
    }


def approve[Kind: Request](request: Kind, *, by: User, seen: str, reason: str, now: datetime) -> Kind:
    """Add an approval; with the last one needed, the request is ready to be sent.

    Raises: what `decisions.decide` raises, and TooLate.
    """
    approval = decisions.decide(
        _approval_of(request), by=by, verdict=Decision.Verdict.APPROVE, seen=seen, reason=reason, now=now
    )
    if approval.state == Approval.State.APPROVED:
        _leave_requested(request, State.APPROVED, now)
    record(
        f"{request.kind}.approve", request, by=by, reason=reason, new={"state": request.state, "hash": seen}
    )
    return request


def reject[Kind: Request](request: Kind, *, by: User, seen: str, reason: str, now: datetime) -> Kind:
    """End a request that waits for a decision. Raises: what `decisions.decide` raises, and TooLate."""
    decisions.decide(
        _approval_of(request), by=by, verdict=Decision.Verdict.REJECT, seen=seen, reason=reason, now=now
    )
    _leave_requested(request, State.REJECTED, now)
    record(f"{request.kind}.reject", request, by=by, reason=reason, new={"state": request.state})
    return request


def cancel[Kind: Request](request: Kind, *, by: User, reason: str, now: datetime) -> Kind:
    """Take back a request that was not sent yet. Raises NotTheMaker, TooLate."""
    if request.maker_id != by.pk:
        raise NotTheMaker("Only the person who made the request can cancel it.")
    if request.approval is not None:
        decisions.lock(request.approval)
    unsent = type(request)._default_manager.filter(pk=request.pk, state__in=_UNSENT, unclear_at=None)
    if not unsent.update(state=State.CANCELLED, state_at=now):
        request.refresh_from_db()
        raise TooLate(_why_too_late(request))
    if request.approval is not None:
        decisions.withdraw(request.approval, now=now)
    request.refresh_from_db()
    record(f"{request.kind}.cancel", request, by=by, reason=reason, new={"state": request.state})
    return request


def _why_too_late(request: Request) -> str:
    sentence = f"It cannot be cancelled any more: it is {request.get_state_display().lower()}."
    if request.state == State.REJECTED and request.approval is not None:
        return f"{sentence} {decisions.who_was_first(request.approval)}"
    return sentence


def may_cancel(request: Request, person: User) -> bool:
    """Whether to offer the button; `cancel` checks again."""
    is_unsent = request.state in _UNSENT and request.unclear_at is None
    return is_unsent and request.maker_id == person.pk


def _approval_of(request: Request) -> Approval:
    assert request.approval is not None
    return request.approval


def _leave_requested(request: Request, state: State, now: datetime) -> None:
    waiting = type(request)._default_manager.filter(pk=request.pk, state=State.REQUESTED)
    if not waiting.update(state=state, state_at=now):
        request.refresh_from_db()
        raise TooLate(f"It is {request.get_state_display().lower()} already.")
    request.refresh_from_db()
