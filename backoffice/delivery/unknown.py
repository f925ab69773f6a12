"""What a person can do about a request whose outcome nobody knows: ask again, or record what Endl said."""

from datetime import datetime
from typing import TypeVar

from backoffice.access.models import User
from backoffice.audit.trail import Refusal, record
from backoffice.delivery.models import Request, State

Kind = TypeVar("Kind", bound=Request)
PERMISSION = "delivery.record_outcome"


class NotUnknown(Refusal):
    """The outcome is known, or an attempt is under way."""


class OwnWord(Refusal):
    """Who made a request cannot say what became of it."""


class NoWord(Refusal):
    """What Endl said is missing."""


def ask_now(request: Request, *, by: User, now: datetime) -> None:
    """Let the next attempt start at once. Raises NotUnknown; the key and the bytes stay the same."""
    waiting = type(request)._default_manager.filter(pk=request.pk, state=State.UNKNOWN, needs_person=False)
    if not waiting.update(next_attempt_at=now):
        raise NotUnknown(
            "There is nothing to ask: the outcome is known, an attempt runs, or a person must decide."
        )
    record(f"{request.kind}.ask_now", request, by=by)


def check_word(
    request: Request, *, by: User, said: str, states: tuple[State, ...] = (State.UNKNOWN,)
) -> None:
    """Refuse a word that is missing, comes from the maker, or is about a known outcome.

    Raises: OwnWord, NoWord, NotUnknown.
    """
    if request.maker_id == by.pk:
        raise OwnWord("You made this request: another person records what Endl said.")
    if not said.strip():
        raise NoWord("Write down what Endl said, and who said it.")
    if request.state not in states:
        raise NotUnknown(f"It is {request.get_state_display().lower()}: there is nothing to record.")


def nothing_happened[Kind: Request](request: Kind, *, by: User, said: str, now: datetime) -> Kind:
    """End an unknown request as refused, on a person's word that nothing happened at Endl."""
    return _end(request, State.REFUSED, by=by, said=said, now=now, columns={})


def it_happened[Kind: Request](
    request: Kind, state: State, *, by: User, said: str, now: datetime, **columns: object
) -> Kind:
    """End an unknown request on a person's word that it happened; `columns` name what Endl made."""
    return _end(request, state, by=by, said=said, now=now, columns=columns)


def _end[Kind: Request](
    request: Kind, state: State, *, by: User, said: str, now: datetime, columns: dict[str, object]
) -> Kind:
    ended = type(request)._default_manager.filter(pk=request.pk, state=request.state, fence=request.fence)
    told = {
        "outcome_message": f"{by} recorded what Endl said: {said}",
        "outcome_code": "",
        "outcome_remedy": "",
    }
    if not ended.update(state=state, state_at=now, needs_person=False, **told, **columns):
        raise NotUnknown("It changed while you looked. Look at it again.")
    request.refresh_from_db()
    record(f"{request.kind}.record_outcome", request, by=by, reason=said, new={"state": str(state)})
    return request
