"""What an outcome does: to the request, to its attempt, and to everybody on the line."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from backoffice import endl as api
from backoffice.audit.trail import record
from backoffice.delivery import claims, line, raw, rules
from backoffice.delivery.models import Attempt, Request, State
from backoffice.delivery.road import Road

Outcome = Attempt.Outcome
_LATER = timedelta(seconds=10)


def settle_trouble[R: Request](
    road: Road[R, Any],
    request: R,
    attempt: Attempt,
    problem: api.EndlError,
    *,
    endl: api.Client,
    now: datetime,
) -> None:
    """Draw the consequence of an error: for the request, its attempt, and for everybody."""
    then = rules.after_attempt(
        _word_of(problem, endl),
        was_unclear=request.unclear_at is not None,
        has_details=road.keep_first is not None,
    )
    outcome = _draw(then, request, problem, now)
    if outcome == Outcome.REFUSED and road.refused is not None:
        road.refused(request, problem, now)
    with transaction.atomic():
        end(attempt, outcome, now=now, problem=problem)
        if isinstance(problem, api.UnreadableAnswer):
            raw.not_understood(attempt, now=now)
        else:
            raw.let_go(attempt)
    if not isinstance(problem, api.Rejected) and outcome != Outcome.REFUSED:
        line.note_trouble(problem, client=endl, now=now)


def _word_of(problem: api.EndlError, endl: api.Client) -> rules.Word:
    """What an error says of the request alone."""
    if isinstance(problem, api.OursToFix):
        return rules.Word.STOP if line.is_everybodys(problem, endl) else rules.Word.REFUSED
    for kind, word in _WORDS:
        if isinstance(problem, kind):
            return word
    return rules.Word.REFUSED if problem.code in api.CODES else rules.Word.REFUSED_WITHOUT_CODE


_WORDS: tuple[tuple[type[api.EndlError], rules.Word], ...] = (
    (api.IssuingUnavailable, rules.Word.STOP),
    (api.Throttled, rules.Word.SLOW_DOWN),
    (api.NotSent, rules.Word.NOT_SENT),
    (api.OutcomeUnknown, rules.Word.UNCLEAR),
    (api.AlreadyIssued, rules.Word.KEY_WAS_USED),
)


def _draw(then: rules.Then, request: Request, problem: api.EndlError, now: datetime) -> Attempt.Outcome:
    """Do to the request what the rules say. Returns what to call the attempt."""
    match then:
        case rules.Then.PUT_BACK:
            return _put_back(request, problem, now)
        case rules.Then.WAIT_UNKNOWN:
            return _leave_unknown(request, problem, now)
        case rules.Then.LOSE_DETAILS:
            # The key was used before: the card exists, and its details cannot be had. Never a second card.
            settle(request, State.DETAILS_LOST, "details_lost", now, **told(problem))
        case rules.Then.ASK_A_PERSON:
            sentence = f"{problem.message} An earlier attempt may have gone through."
            wait_for_person(request, sentence, now)
            return Outcome.UNCLEAR
        case _:
            settle(request, State.REFUSED, "refused", now, **told(problem))
    return Outcome.REFUSED


def _put_back(request: Request, problem: api.EndlError, now: datetime) -> Attempt.Outcome:
    """Nothing happened: the request waits as it was."""
    if isinstance(problem, api.NotSent):
        claims.give_back(request, now=now, wait=claims.wait_after(request.attempts))
        return Outcome.NOT_SENT
    claims.give_back(request, now=now, wait=_LATER)
    return Outcome.THROTTLED if isinstance(problem, api.Throttled) else Outcome.PAUSED


def _leave_unknown(request: Request, problem: api.EndlError, now: datetime) -> Attempt.Outcome:
    claims.give_back(
        request,
        now=now,
        wait=claims.wait_after(request.attempts),
        unclear_at=request.unclear_at or now,
        **told(problem),
    )
    return Outcome.UNCLEAR


def settle(request: Request, state: State, verb: str, now: datetime, **columns: Any) -> None:
    """Change the state and put it on record together; neither, when the claim was lost."""
    with transaction.atomic():
        if claims.move(request, state, now=now, **columns):
            said = {"code": columns.get("outcome_code", ""), "message": columns.get("outcome_message", "")}
            record(f"{request.kind}.{verb}", request, by="system: sender", new={"state": state, **said})


def told(problem: api.EndlError) -> dict[str, str]:
    """What Endl said, for the columns that the page shows."""
    return {
        "outcome_code": (problem.code or "")[:60],
        "outcome_message": problem.message,
        "outcome_field": (problem.field or "")[:100],
        "outcome_remedy": problem.remedy,
        "outcome_request_id": (problem.request_id or "")[:128],
    }


def end(
    attempt: Attempt,
    outcome: Attempt.Outcome,
    *,
    now: datetime,
    problem: api.EndlError | None = None,
    status: int | None = None,
    request_id: str | None = None,
) -> None:
    """Write down how an attempt ended: by an error, or by an answer with its status."""
    attempt.ended_at = now
    attempt.outcome = outcome
    attempt.duration_ms = max(0, int((now - attempt.started_at).total_seconds() * 1000))
    attempt.http_status = problem.http_status if problem else status
    attempt.endl_code = ((problem.code if problem else "") or "")[:60]
    attempt.endl_request_id = ((problem.request_id if problem else request_id) or "")[:128]
    attempt.message = problem.message if problem else ""
    attempt.save()


def wait_for_person(request: Request, sentence: str, now: datetime) -> None:
    """Leave it unknown until a person finds out from Endl what became of it."""
    settle(
        request,
        State.UNKNOWN,
        "needs_person",
        now,
        needs_person=True,
        unclear_at=request.unclear_at or now,
        outcome_message=sentence,
    )
