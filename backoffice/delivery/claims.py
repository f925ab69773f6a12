"""Claiming a request: one sender at a time, by conditional UPDATE with a lease and a fence."""

import random
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from backoffice.delivery import rules
from backoffice.delivery.models import Attempt, Request, State

Kind = TypeVar("Kind", bound=Request)

_FIRST_WAIT_SECONDS = 4.0
_LONGEST_WAIT_SECONDS = 40.0


def due[Kind: Request](model: type[Kind], *, now: datetime) -> QuerySet[Kind]:
    """The requests that a sender may claim now: ready, unclear and due again, or left by a dead sender."""
    waiting = Q(state__in=(*model.ready, State.UNKNOWN), needs_person=False)
    left_behind = Q(state=State.SENDING, lease_until__lt=now)
    in_time = Q(next_attempt_at=None) | Q(next_attempt_at__lte=now)
    return model._default_manager.filter((waiting & in_time) | left_behind)


def claim[Kind: Request](model: type[Kind], pk: int, *, now: datetime) -> Kind | None:
    """Take a due request for one attempt; None when another sender has it or nothing is due.

    A lease that ran out in `sending` means that a sender died. Where it had begun an attempt, the request may
    have happened, and the row says since when; where it had not, nothing left the house. Where its answer was
    stored, that one tells.
    """
    row = due(model, now=now).filter(pk=pk).first()
    if row is None:
        return None
    # An attempt that begins after this look renews the lease, and the row is due no more.
    taken = (
        due(model, now=now)
        .filter(pk=pk, fence=row.fence)
        .update(
            state=State.SENDING,
            state_at=now,
            fence=F("fence") + 1,
            lease_until=now + timedelta(seconds=settings.DELIVERY_LEASE_SECONDS),
            next_attempt_at=None,
            unclear_at=_unclear_since(row),
        )
    )
    return model._default_manager.get(pk=pk) if taken else None


def _unclear_since(row: Request) -> datetime | None:
    """Since when a request may have happened that is about to be claimed."""
    begun = Attempt.objects.filter(
        kind=row.kind, request_id=row.pk, outcome=Attempt.Outcome.STARTED, rawanswer=None
    )
    is_unclear = rules.is_unclear_when_left(
        was_unclear=row.unclear_at is not None,
        has_begun=row.state == State.SENDING and begun.exists(),
    )
    return (row.unclear_at or row.state_at) if is_unclear else None


def give_back(request: Request, *, now: datetime, wait: timedelta, **outcome: Any) -> bool:
    """Release a claim without an end: to `unknown` once anything was unclear, else to where it came from."""
    state = State.UNKNOWN if _is_unclear(request, outcome) else request.ready[0]
    return move(request, state, now=now, next_attempt_at=now + wait, **outcome)


def move(request: Request, state: State, *, now: datetime, **columns: Any) -> bool:
    """Change the state of a claimed request. Does nothing when the claim was lost to a later sender."""
    own = type(request)._default_manager.filter(pk=request.pk, fence=request.fence, state=State.SENDING)
    return bool(own.update(state=state, state_at=now, lease_until=None, **columns))


def wait_after(attempts: int) -> timedelta:
    """How long to wait after so many attempts: doubling with jitter, forty seconds at most."""
    seconds = min(_FIRST_WAIT_SECONDS * 2 ** min(attempts, 10), _LONGEST_WAIT_SECONDS)
    return timedelta(seconds=seconds * random.uniform(0.6, 1.0))  # noqa: S311  (jitter, not a secret)


@transaction.atomic
def start_attempt(request: Request, *, now: datetime) -> Attempt | None:
    """Commit that an attempt begins, before the first byte leaves; None when a later sender has the claim.

    The lease starts anew: whatever was looked at since the claim, it outlasts the call.
    """
    own = type(request)._default_manager.filter(pk=request.pk, fence=request.fence, state=State.SENDING)
    started = own.update(
        attempts=F("attempts") + 1,
        first_attempt_at=Coalesce("first_attempt_at", Value(now, DateTimeField())),
        lease_until=now + timedelta(seconds=settings.DELIVERY_LEASE_SECONDS),
    )
    if not started:
        return None
    request.refresh_from_db(fields=("attempts", "first_attempt_at", "lease_until"))
    return Attempt.objects.create(
        kind=request.kind, request_id=request.pk, number=request.attempts, started_at=now
    )


def outlasts_call(request: Request, *, now: datetime) -> bool:
    """Whether the claim holds until a call that begins now has ended."""
    assert request.lease_until is not None
    call = timedelta(seconds=settings.ENDL_CALL_SECONDS)
    return rules.may_still_send(lease_left=request.lease_until - now, call=call)


def close_left_behind(request: Request, *, now: datetime) -> None:
    """Put down that the sender of an earlier attempt died before it had an answer."""
    Attempt.objects.filter(
        kind=request.kind, request_id=request.pk, outcome=Attempt.Outcome.STARTED, rawanswer=None
    ).update(outcome=Attempt.Outcome.UNCLEAR, ended_at=now, message="The process that sent it stopped.")


def _is_unclear(request: Request, outcome: dict[str, Any]) -> bool:
    return request.unclear_at is not None or outcome.get("unclear_at") is not None
