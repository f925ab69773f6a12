"""How long a request may stay in a state before a person should know."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Q

from backoffice.delivery import holds, line
from backoffice.delivery.alerts import Finding
from backoffice.delivery.models import Request, State

# From the last change of state. While the line is paused nothing moves, and the pause itself is shown.
DEADLINES: dict[State, timedelta] = {
    State.APPROVED: timedelta(minutes=10),
    State.SENDING: timedelta(minutes=5),
    State.UNKNOWN: timedelta(minutes=30),
    State.SUBMITTED: timedelta(hours=24),
}
_SAYING: dict[State, str] = {
    State.APPROVED: "It was approved and is still not sent.",
    State.SENDING: "It has been on its way for too long.",
    State.UNKNOWN: "Nobody knows yet whether it happened.",
    State.SUBMITTED: "Endl took it more than a day ago and has not ended it.",
}


def late[Kind: Request](model: type[Kind], *, now: datetime) -> Iterator[Finding]:
    """The requests of a kind that have passed their deadline, or wait for a person."""
    for request in model._default_manager.filter(_is_late(now)):
        if request.needs_person:
            yield Finding(request, "A person has to find out from Endl what became of it.")
        else:
            yield Finding(request, _SAYING[State(request.state)])


def _is_late(now: datetime) -> Q:
    held_back = line.is_paused() or line.slow_until(now) is not None or holds.open_holds().exists()
    late = Q(state=State.UNKNOWN, needs_person=True)
    for state, deadline in DEADLINES.items():
        # `unknown` counts from when it became unclear: every new try changes the state for a moment.
        if state == State.UNKNOWN:
            late |= Q(state=state, unclear_at__lt=now - deadline)
        elif state == State.SUBMITTED or not held_back:
            late |= Q(state=state, state_at__lt=now - deadline)
    return late
