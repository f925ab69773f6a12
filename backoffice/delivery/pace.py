"""One pace for all processes: how often Endl is asked, kept in the database.

An even rate with room for a second's worth at once. Reads may use half of that room: money and cards, which
people wait for, always find a place before them.
"""

import random
import time
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from backoffice.delivery.line import the_line
from backoffice.delivery.models import Line
from backoffice.endl import NotSent, Throttled

_WRITES = frozenset({"register_cardholder", "issue_card", "start_deposit"})
_ROOM = timedelta(seconds=1)
_ROOM_OF_READS = _ROOM / 2
# A sender waits less than its lease allows beyond the call; who finds no place by then comes again later.
_PATIENCE = 0.2


def take_turn(operation: str) -> None:
    """Wait for a place in the pace; called before each request to Endl.

    Args:
        operation: the name of the client's operation.

    Raises:
        Throttled: a read, while Endl has asked everybody to slow down.
        NotSent: no place came free in time; nothing was sent.
    """
    gives_up_at = time.monotonic() + _PATIENCE * settings.ENDL_CALL_SECONDS
    while wait := _wait_seconds(is_write=operation in _WRITES):
        if time.monotonic() + wait > gives_up_at:
            raise NotSent("Too much is waiting for Endl at this moment; it is tried again.")
        time.sleep(wait * random.uniform(1.0, 1.3))  # noqa: S311  (jitter, not a secret)


def _wait_seconds(*, is_write: bool) -> float:
    """Take a place and return 0, or say how long until one may be free."""
    room = _ROOM if is_write else _ROOM_OF_READS
    the_line()
    with transaction.atomic():
        line = Line.objects.select_for_update().get(pk=Line.THE_ONE)
        now = timezone.now()
        if not is_write and line.slow_until is not None and line.slow_until > now:
            seconds = (line.slow_until - now).total_seconds()
            raise Throttled("Endl asked everybody to slow down.", retry_after_seconds=seconds)
        next_at = max(line.pace_at or now, now)
        if next_at - now > room:
            return max((next_at - now - room).total_seconds(), 0.01)
        next_at += timedelta(seconds=1 / settings.ENDL_RATE_PER_SECOND)
        Line.objects.filter(pk=Line.THE_ONE).update(pace_at=next_at)
    return 0.0
