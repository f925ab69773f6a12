"""Several senders at the same moment, with real commits."""

import pytest

from backoffice.delivery import claims
from backoffice.delivery.models import Attempt
from tests.backoffice.delivery.conftest import Trip, is_good
from tests.threads import at_once, losers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("turn", range(3))
def test_two_senders_have_one_effect(trip: Trip, turn: int) -> None:
    assert losers(at_once(trip.deliver, trip.deliver, trip.deliver)) == []
    assert is_good(trip)
    assert len(trip.effects) == 1
    assert trip.requests_seen == 1


def test_one_of_many_gets_the_claim(trip: Trip) -> None:
    def claim() -> object:
        return claims.claim(trip.road.model, trip.pk, now=trip.clock())

    claimed = at_once(*[claim] * 5)
    assert sum(row is not None for row in claimed) == 1
    assert trip.row.fence == 1


def test_one_of_many_takes_over_from_a_dead_sender(deposit: Trip) -> None:
    deposit.fault("drop", when="after")
    deposit.deliver()
    deposit.clock.advance(minutes=5)
    assert losers(at_once(*[deposit.deliver] * 4)) == []
    assert is_good(deposit)
    assert len(deposit.effects) == 1
    assert Attempt.objects.filter(kind="deposit", request_id=deposit.pk).count() == 2
