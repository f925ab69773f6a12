"""What follows from what: the decisions of the road, without a database, a clock or a network.

The sender and the claims ask here; so does the simulator of the fault run, which tries them against every
weather that it can think of.
"""

from datetime import timedelta
from enum import Enum, auto


class Word(Enum):
    """What came of an attempt, as far as the request is concerned."""

    MADE = auto()  # Endl made it, and said what
    NOT_SENT = auto()  # no connection came about
    UNCLEAR = auto()  # it had begun to leave, and nothing clear came back
    SLOW_DOWN = auto()  # too many requests: nothing happened
    STOP = auto()  # nobody may ask now: the fault is ours, or issuing is off
    KEY_WAS_USED = auto()  # this key has made a card before
    REFUSED = auto()  # a clear no, with a code of Endl's own
    REFUSED_WITHOUT_CODE = auto()  # a no that anybody on the way could have said


class Then(Enum):
    """What becomes of the request."""

    TAKE_IN = auto()
    PUT_BACK = auto()  # as it was; it is tried again
    WAIT_UNKNOWN = auto()
    LOSE_DETAILS = auto()
    REFUSE = auto()
    ASK_A_PERSON = auto()


def after_attempt(word: Word, *, was_unclear: bool, has_details: bool) -> Then:
    """What becomes of a request after an attempt.

    Args:
        word: what came of it.
        was_unclear: whether an earlier attempt may have gone through.
        has_details: whether Endl tells something once that a repeat does not bring back, as with a card.
    """
    match word:
        case Word.MADE:
            return Then.TAKE_IN
        case Word.NOT_SENT | Word.SLOW_DOWN | Word.STOP:
            return Then.PUT_BACK
        case Word.UNCLEAR:
            return Then.WAIT_UNKNOWN
        case Word.KEY_WAS_USED if has_details:
            return Then.LOSE_DETAILS
        case Word.REFUSED:
            return Then.REFUSE
    # A no without a code says nothing of the attempt before: a repeat may never have come as far as that one.
    return Then.ASK_A_PERSON if was_unclear else Then.REFUSE


def is_unclear_when_left(*, was_unclear: bool, has_begun: bool) -> bool:
    """Whether a request may have happened that a sender left behind when it died.

    Args:
        was_unclear: whether it may have before.
        has_begun: whether an attempt was begun whose end nobody put down.
    """
    return was_unclear or has_begun


def may_still_send(*, lease_left: timedelta, call: timedelta) -> bool:
    """Whether a claim outlasts the call that is about to begin, with the wait for a place before it.

    A process that slept since it claimed must not send beside the one that has the claim by now.
    """
    return lease_left >= call * 1.2


class Before(Enum):
    """What has to happen before a request is sent."""

    PASS_THE_GATE = auto()  # the first time, and after a clear "not yet": the approval must still hold
    LOOK = auto()  # where the key may be ignored: look whether it happened
    SEND = auto()  # the same key and the same bytes again
    STOP = auto()  # it never left, and the line is another one now
    ASK_A_PERSON = auto()


def before_attempt(
    *, is_unclear: bool, is_same_line: bool, can_look: bool, key_age: timedelta, horizon: timedelta
) -> Before:
    """What to do with a claimed request before anything leaves.

    Args:
        is_unclear: whether it may have happened.
        is_same_line: whether Endl is reached as when it was approved.
        can_look: whether Endl can be asked for what it may have made.
        key_age: since the first attempt.
        horizon: for how long Endl is trusted to know the key.
    """
    if not is_same_line:
        return Before.ASK_A_PERSON if is_unclear else Before.STOP
    if not is_unclear:
        return Before.PASS_THE_GATE
    if can_look:
        return Before.LOOK
    return Before.ASK_A_PERSON if key_age > horizon else Before.SEND
