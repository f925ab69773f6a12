"""A process that dies anywhere on the road leaves one effect at Endl, and the next one finishes the way."""

from collections.abc import Callable

import pytest
from django.conf import settings

from backoffice.delivery.models import Attempt, RawAnswer, State
from cards.models import SealedDetails
from tests.backoffice.delivery.conftest import Crash, Trip, is_good

CHECKPOINTS = ("after-claim", "before-send", "after-send", "after-raw", "before-settled", "after-settled")
Plan = Callable[[str], None]


def die_once(trip: Trip, crash_at: Plan, name: str) -> None:
    crash_at(name)
    with pytest.raises(Crash):
        trip.deliver()


def next_process(trip: Trip) -> None:
    """What the sweep finds once the dead sender's lease has run out."""
    trip.clock.advance(seconds=settings.DELIVERY_LEASE_SECONDS + 1)
    trip.deliver()


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_one_effect_whatever_the_point(trip: Trip, crash_at: Plan, name: str) -> None:
    trip.emulator.settings(card_replay="first-result")
    die_once(trip, crash_at, name)
    next_process(trip)
    assert is_good(trip)
    assert len(trip.effects) == 1
    assert not RawAnswer.objects.exists()


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_one_effect_where_endl_ignores_the_keys_of_registrations(
    registration: Trip, crash_at: Plan, name: str
) -> None:
    registration.emulator.settings(registration_keys="ignore", duplicate_emails=True)
    die_once(registration, crash_at, name)
    next_process(registration)
    assert is_good(registration)
    assert len(registration.effects) == 1


@pytest.mark.parametrize("name", ["after-raw", "after-envelope", "before-settled"])
def test_details_that_were_stored_are_not_lost(order: Trip, crash_at: Plan, name: str) -> None:
    die_once(order, crash_at, name)
    next_process(order)
    assert order.state == State.ISSUED
    assert order.requests_seen == 1
    assert SealedDetails.objects.get(order_id=order.pk).envelope is not None


def test_details_that_only_the_dead_process_saw_are_lost_and_no_second_card_is_issued(
    order: Trip, crash_at: Plan
) -> None:
    die_once(order, crash_at, "after-send")
    next_process(order)
    assert order.state == State.DETAILS_LOST
    assert len(order.effects) == 1


def test_who_died_before_the_first_attempt_sent_nothing_so_the_gate_is_passed_again(
    deposit: Trip, crash_at: Plan
) -> None:
    die_once(deposit, crash_at, "after-claim")
    deposit.clock.advance(hours=25)
    deposit.deliver()
    assert deposit.state == State.EXPIRED
    assert deposit.effects == []


def test_who_died_after_it_began_may_have_sent_so_nothing_expires(deposit: Trip, crash_at: Plan) -> None:
    die_once(deposit, crash_at, "before-send")
    deposit.clock.advance(hours=23)
    deposit.deliver()
    assert deposit.state == State.SUBMITTED
    assert deposit.row.unclear_at is not None


def test_the_attempt_of_a_dead_sender_says_so(deposit: Trip, crash_at: Plan) -> None:
    die_once(deposit, crash_at, "before-send")
    next_process(deposit)
    assert [attempt.outcome for attempt in deposit.attempts] == [
        Attempt.Outcome.UNCLEAR,
        Attempt.Outcome.ANSWERED,
    ]


def test_nobody_takes_over_while_the_lease_lasts(trip: Trip, crash_at: Plan) -> None:
    die_once(trip, crash_at, "after-claim")
    trip.clock.advance(seconds=settings.DELIVERY_LEASE_SECONDS - 1)
    trip.deliver()
    assert trip.state == State.SENDING
    assert trip.requests_seen == 0


@pytest.mark.parametrize("second", CHECKPOINTS)
@pytest.mark.parametrize("first", ["before-send", "after-send", "after-raw"])
def test_two_deaths_in_a_row_change_nothing(deposit: Trip, crash_at: Plan, first: str, second: str) -> None:
    die_once(deposit, crash_at, first)
    deposit.clock.advance(seconds=settings.DELIVERY_LEASE_SECONDS + 1)
    crash_at(second)
    try:
        deposit.deliver()
    except Crash:
        next_process(deposit)
    assert deposit.state == State.SUBMITTED
    assert len(deposit.effects) == 1
