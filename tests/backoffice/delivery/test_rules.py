"""What follows from what on the road, and two weathers in which it matters."""

from datetime import timedelta

import pytest

from backoffice.delivery import checkpoint, rules
from backoffice.delivery.models import Attempt, State
from backoffice.delivery.rules import Before, Then, Word
from tests.backoffice.delivery.conftest import Crash, Trip

HOURS = timedelta(hours=1)


@pytest.mark.parametrize("was_unclear", [False, True])
@pytest.mark.parametrize("word", [Word.NOT_SENT, Word.SLOW_DOWN, Word.STOP])
def test_what_never_happened_is_put_back(word: Word, was_unclear: bool) -> None:
    assert rules.after_attempt(word, was_unclear=was_unclear, has_details=True) is Then.PUT_BACK


@pytest.mark.parametrize("word", [Word.REFUSED_WITHOUT_CODE, Word.KEY_WAS_USED])
def test_a_no_that_proves_nothing_asks_a_person_once_something_was_unclear(word: Word) -> None:
    assert rules.after_attempt(word, was_unclear=False, has_details=False) is Then.REFUSE
    assert rules.after_attempt(word, was_unclear=True, has_details=False) is Then.ASK_A_PERSON


def test_a_used_key_of_a_card_means_that_the_card_exists() -> None:
    for was_unclear in (False, True):
        then = rules.after_attempt(Word.KEY_WAS_USED, was_unclear=was_unclear, has_details=True)
        assert then is Then.LOSE_DETAILS


@pytest.mark.parametrize(
    ("is_unclear", "is_same_line", "can_look", "age", "step"),
    [
        (False, True, False, 0, Before.PASS_THE_GATE),
        (False, False, False, 0, Before.STOP),
        (True, False, False, 0, Before.ASK_A_PERSON),
        (True, True, True, 99, Before.LOOK),
        (True, True, False, 23, Before.SEND),
        (True, True, False, 25, Before.ASK_A_PERSON),
    ],
)
def test_before_anything_leaves(
    is_unclear: bool, is_same_line: bool, can_look: bool, age: int, step: Before
) -> None:
    found = rules.before_attempt(
        is_unclear=is_unclear,
        is_same_line=is_same_line,
        can_look=can_look,
        key_age=age * HOURS,
        horizon=24 * HOURS,
    )
    assert found is step


@pytest.mark.parametrize("kind", ["deposit", "card_order"])
@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_proxys_no_to_a_repeat_is_no_word_on_the_first_attempt(start, kind: str, status: int) -> None:
    trip: Trip = start(kind)
    trip.fault("drop", when="after")
    trip.deliver()
    trip.fault("status", code=status, html=True)
    trip.clock.advance(minutes=2)
    trip.deliver()
    assert len(trip.effects) == 1
    assert trip.state == State.UNKNOWN
    assert trip.row.needs_person


def test_a_process_that_slept_past_its_claim_sends_nothing(trip: Trip) -> None:
    def sleep(reached: str) -> None:
        if reached == "before-send":
            trip.clock.advance(minutes=1)

    checkpoint.hooks.append(sleep)
    try:
        trip.deliver()
    finally:
        checkpoint.hooks.clear()
    assert trip.requests_seen == 0
    assert [attempt.outcome for attempt in trip.attempts] == [Attempt.Outcome.NOT_SENT]


def test_a_stored_no_is_a_clear_one_though_its_sender_died(deposit: Trip, crash_at) -> None:
    deposit.fault("status", code=403)
    crash_at("after-raw")
    with pytest.raises(Crash):
        deposit.deliver()
    deposit.clock.advance(minutes=2)
    assert deposit.deliver().state == State.REFUSED
