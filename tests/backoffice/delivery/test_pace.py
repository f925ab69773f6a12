"""One pace for all processes: an even rate, money before reads, and Endl's wish obeyed."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backoffice.delivery import pace
from backoffice.delivery.line import the_line
from backoffice.delivery.models import Line
from backoffice.endl import NotSent, Throttled

pytestmark = pytest.mark.django_db


@pytest.fixture
def four_a_second(settings):
    settings.ENDL_RATE_PER_SECOND = 4.0


@pytest.fixture
def no_patience(monkeypatch):
    monkeypatch.setattr(pace, "_PATIENCE", 0.0)


def turns_of(operation: str) -> int:
    """How many requests of a kind go out at once before one has to wait."""
    for turn in range(100):
        try:
            pace.take_turn(operation)
        except NotSent:
            return turn
    raise AssertionError("nothing ever waits")


def test_a_seconds_worth_of_money_goes_at_once(four_a_second, no_patience):
    assert turns_of("start_deposit") == 5


def test_reads_leave_half_of_the_room_to_money(four_a_second, no_patience):
    assert turns_of("list_deposits") == 3
    assert turns_of("issue_card") == 2


def test_who_waits_gets_its_turn(settings):
    settings.ENDL_RATE_PER_SECOND = 50.0
    started = timezone.now()
    for _ in range(60):
        pace.take_turn("start_deposit")
    assert timezone.now() - started > timedelta(seconds=0.15)


def test_reads_wait_while_endl_wants_it_slow():
    the_line()
    Line.objects.update(slow_until=timezone.now() + timedelta(seconds=60))
    with pytest.raises(Throttled) as told:
        pace.take_turn("list_deposits")
    assert 50 < (told.value.retry_after_seconds or 0) <= 60
