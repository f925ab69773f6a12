"""The road, once, for every kind of request: claim, look, send, keep, understand, settle.

No transaction is open while Endl is asked. What a process leaves behind when it dies at any point, the
next claim finds and carries on: from the stored answer where there is one, else with the same key and bytes.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from backoffice import endl as api
from backoffice import vault
from backoffice.approvals import decisions
from backoffice.audit.trail import Refusal
from backoffice.delivery import claims, holds, line, raw, rules, settling
from backoffice.delivery.checkpoint import checkpoint
from backoffice.delivery.models import Attempt, RawAnswer, Request, State
from backoffice.delivery.road import Clock, GateClosed, Road

Outcome = Attempt.Outcome

_TAKEN = "Endl answered with something that belongs to another request."
_OTHER_LINE = "The connection to Endl is another one than when this was approved."
_FORGOTTEN = "Endl may have forgotten the key by now, so it is not sent again."


def deliver[R: Request](
    road: Road[R, Any], pk: int, *, endl: api.Client, clock: Clock = timezone.now
) -> None:
    """Drive one request as far as it goes now. Safe to call at any time, from anywhere, any number of times.

    Args:
        road: the kind of request.
        pk: the row.
        endl: the line to Endl.
        clock: aware time now.
    """
    if not _may_start(road, pk, clock()):
        return
    checkpoint("before-claim")
    request = claims.claim(road.model, pk, now=clock())
    if request is None:
        return
    checkpoint("after-claim")
    if _finish_from_stored_answer(road, request, endl=endl, clock=clock):
        return
    claims.close_left_behind(request, now=clock())
    if _may_send(road, request, endl=endl, clock=clock):
        _attempt(road, request, endl=endl, clock=clock)


def _may_start[R: Request](road: Road[R, Any], pk: int, now: datetime) -> bool:
    if line.slow_until(now) or line.is_paused() or holds.is_held(road.hold):
        return False
    held_back = bool(road.pauses) and line.is_paused(*road.pauses)
    return not held_back or (
        claims.due(road.model, now=now).filter(pk=pk).exists() and line.let_one_through(now=now)
    )


def _finish_from_stored_answer[R: Request](
    road: Road[R, Any], request: R, *, endl: api.Client, clock: Clock
) -> bool:
    """Carry on where a process died between storing an answer and understanding it."""
    stored = raw.unread_of(request.kind, request.pk)
    if stored is None:
        return False
    try:
        answer = raw.unpack(stored)
    except vault.CannotUnseal:
        # Sent again, a card's details would be lost for good; the right key may still open them.
        settling.wait_for_person(
            request, "The stored answer does not open: put the old key into STORAGE_KEYS.", clock()
        )
        return True
    _conclude(road, request, stored.attempt, answer, endl=endl, clock=clock)
    return True


def take_in_late[R: Request](road: Road[R, Any], *, clock: Clock = timezone.now) -> int:
    """Take in answers that came after their request had moved on, such as from the spool.

    What Endl made is taken in whatever the request's state: an envelope that arrived is never discarded.
    Returns how many were taken in.
    """
    lease = timedelta(seconds=settings.DELIVERY_LEASE_SECONDS)
    return sum(
        _is_taken_in(road, stored, clock)
        for stored in raw.unread(road.model.kind).filter(received_at__lt=clock() - lease)
    )


def _is_taken_in[R: Request](road: Road[R, Any], stored: RawAnswer, clock: Clock) -> bool:
    request = road.model._default_manager.get(pk=stored.attempt.request_id)
    try:
        answer = raw.unpack(stored)
        _take_in(road, request, stored.attempt, road.read(answer), answer=answer, clock=clock)
    except api.EndlError:
        raw.not_understood(stored.attempt, now=clock())
        return False
    except vault.CannotUnseal:
        return False
    return True


def _may_send[R: Request](road: Road[R, Any], request: R, *, endl: api.Client, clock: Clock) -> bool:
    """The last gate. A repeat passes another one: it may have happened, so it can no longer expire."""
    now, is_same_line = clock(), request.base_url == settings.ENDL_BASE_URL
    step = rules.before_attempt(
        is_unclear=request.unclear_at is not None,
        is_same_line=is_same_line,
        can_look=road.look is not None,
        key_age=now - (request.first_attempt_at or now),
        horizon=timedelta(hours=settings.KEY_HORIZON_HOURS),
    )
    match step:
        case rules.Before.SEND:
            return True
        case rules.Before.LOOK:
            return not _look_first(road, request, endl=endl, now=now)
        case rules.Before.PASS_THE_GATE:
            return _passes_the_gate(road, request, now)
        case rules.Before.STOP:
            _expire(request, _OTHER_LINE, now)
        case rules.Before.ASK_A_PERSON:
            settling.wait_for_person(request, _FORGOTTEN if is_same_line else _OTHER_LINE, now)
    return False


def _passes_the_gate[R: Request](road: Road[R, Any], request: R, now: datetime) -> bool:
    try:
        road.gate(request, now)
        _check_approval(road, request, now)
    except Refusal as closed:
        _expire(request, closed.sentence, now)
        return False
    return True


def _check_approval[R: Request](road: Road[R, Any], request: R, now: datetime) -> None:
    """The one place where an approval is checked before anything leaves. Raises NoLongerGood."""
    if road.facts is None:
        return
    if request.approval is None:
        raise GateClosed("It has no approval.")
    has_started = request.first_attempt_at is not None
    decisions.check_still_good(request.approval, road.facts(request), has_started=has_started, now=now)


def _expire(request: Request, sentence: str, now: datetime) -> None:
    """It never left, and it never will."""
    with transaction.atomic():
        if request.approval is not None:
            decisions.expire(request.approval, now=now)
        settling.settle(request, State.EXPIRED, "expire", now, outcome_message=sentence)


def _look_first[R: Request](road: Road[R, Any], request: R, *, endl: api.Client, now: datetime) -> bool:
    """Where a server may ignore the key: look whether it happened. True when there is nothing to send now."""
    assert road.look is not None
    try:
        made = road.look(request, endl)
    except api.EndlError as problem:
        line.note_trouble(problem, client=endl, now=now)
        claims.give_back(request, now=now, wait=claims.wait_after(request.attempts), **settling.told(problem))
        return True
    if made is None:
        return False
    try:
        with transaction.atomic():
            road.arrive(request, made, now)
    except IntegrityError:
        settling.wait_for_person(request, _TAKEN, now)
    return True


def _attempt[R: Request](road: Road[R, Any], request: R, *, endl: api.Client, clock: Clock) -> None:
    attempt = claims.start_attempt(request, now=clock())
    if attempt is None:
        return
    call = api.Call(operation=request.operation, path=request.path, body=bytes(request.body))
    checkpoint("before-send")
    if not claims.outlasts_call(request, now=clock()):
        slept = api.NotSent("The process slept past its claim, so it sent nothing.")
        settling.settle_trouble(road, request, attempt, slept, endl=endl, now=clock())
        return
    try:
        answer = endl.send(call, key=request.idempotency_key)
    except api.EndlError as problem:
        checkpoint("after-send")
        settling.settle_trouble(road, request, attempt, problem, endl=endl, now=clock())
        return
    checkpoint("after-send")
    raw.keep(attempt, answer)
    checkpoint("after-raw")
    _conclude(road, request, attempt, answer, endl=endl, clock=clock)


def _conclude[R: Request](
    road: Road[R, Any], request: R, attempt: Attempt, answer: api.Answer, *, endl: api.Client, clock: Clock
) -> None:
    try:
        made = road.read(answer)
    except api.EndlError as problem:
        settling.settle_trouble(road, request, attempt, problem, endl=endl, now=clock())
        return
    _take_in(road, request, attempt, made, answer=answer, clock=clock)
    line.note_answer(now=clock())


def _take_in[R: Request](
    road: Road[R, Any], request: R, attempt: Attempt, made: Any, *, answer: api.Answer, clock: Clock
) -> None:
    """Commit what must never be lost, then what Endl made together with the end of the attempt."""
    if road.keep_first is not None:
        with transaction.atomic():
            road.keep_first(request, made, clock())
        checkpoint("after-envelope")
    try:
        with transaction.atomic():
            road.arrive(request, made, clock())
            settling.end(
                attempt, Outcome.ANSWERED, now=clock(), status=answer.status, request_id=answer.request_id
            )
            _let_go(request, attempt)
            checkpoint("before-settled")
    except IntegrityError:
        _find_it_taken(request, attempt, answer, clock())
        return
    checkpoint("after-settled")
    if road.pauses:
        line.lift(road.pauses, by="system: sender", now=clock())


def _let_go(request: Request, attempt: Attempt) -> None:
    """Drop the raw copies; where details are lost, an answer that could not be read may be where they are."""
    rows = type(request)._default_manager.filter(pk=request.pk, state=State.DETAILS_LOST)
    if rows.exists():
        raw.let_go(attempt)
    else:
        raw.let_go_of_all(attempt)


def _find_it_taken(request: Request, attempt: Attempt, answer: api.Answer, now: datetime) -> None:
    """Endl answered with what another request has made, as a server may that mixes up keys."""
    settling.wait_for_person(request, _TAKEN, now)
    raw.not_understood(attempt, now=now)
    settling.end(attempt, Outcome.UNCLEAR, now=now, status=answer.status, request_id=answer.request_id)
