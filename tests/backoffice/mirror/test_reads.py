"""Assumed reads: used while they are there, switched off where they are not, tried again daily."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from backoffice.audit.models import Entry
from backoffice.endl import NotFound, ServerTrouble, Unsupported
from backoffice.mirror import pull, reads
from backoffice.mirror.models import Pull, Read

pytestmark = pytest.mark.django_db
NAME = reads.LIST_DEPOSITS


def raising(problem: Exception) -> Callable[[], object]:
    def question() -> object:
        raise problem

    return question


def ask(question: Callable[[], object], now: datetime, *, is_known: bool = True) -> object:
    return reads.ask(NAME, question, is_known=is_known, now=now)


@pytest.mark.parametrize("problem", [Unsupported("405", http_status=405), NotFound("404", http_status=404)])
def test_one_that_is_missing_is_switched_off(now: datetime, problem: Exception) -> None:
    with pytest.raises(reads.SwitchedOff):
        ask(raising(problem), now)
    assert not reads.is_on(NAME, now=now)
    assert Read.objects.get().off_since == now
    assert Entry.objects.filter(verb="reads.switch_off").count() == 1


def test_while_it_is_off_nobody_is_asked(now: datetime) -> None:
    with pytest.raises(reads.SwitchedOff):
        ask(raising(Unsupported("405")), now)
    with pytest.raises(reads.SwitchedOff):
        ask(raising(AssertionError("it was asked")), now + timedelta(hours=23))


def test_it_is_tried_again_after_a_day_and_stays_on_when_it_answers(now: datetime) -> None:
    with pytest.raises(reads.SwitchedOff):
        ask(raising(Unsupported("405")), now)
    assert ask(lambda: "found", now + timedelta(hours=25)) == "found"
    assert reads.is_on(NAME, now=now + timedelta(hours=25))


def test_it_is_tried_again_when_a_person_asks(now: datetime) -> None:
    with pytest.raises(reads.SwitchedOff):
        ask(raising(Unsupported("405")), now)
    reads.try_again(by="system: test")
    assert ask(lambda: "found", now) == "found"
    assert Entry.objects.filter(verb="reads.try_again").exists()


def test_a_404_for_what_may_not_exist_says_nothing_of_the_read(now: datetime) -> None:
    with pytest.raises(NotFound):
        ask(raising(NotFound("404")), now, is_known=False)
    assert reads.is_on(NAME, now=now)


def test_trouble_says_nothing_of_the_read(now: datetime) -> None:
    with pytest.raises(ServerTrouble):
        ask(raising(ServerTrouble("502")), now)
    assert reads.is_on(NAME, now=now)


class TestPulls:
    def test_one_reader_at_a_time_until_it_is_given_up(self, now: datetime) -> None:
        assert pull.start("deposits", "cus_1", now=now) is not None
        assert pull.start("deposits", "cus_1", now=now + timedelta(minutes=1)) is None
        assert pull.start("deposits", "cus_2", now=now) is not None
        assert pull.start("deposits", "cus_1", now=now + timedelta(minutes=3)) is not None

    def test_the_next_one_may_start_when_it_has_ended(self, now: datetime) -> None:
        running = pull.start("deposits", "cus_1", now=now)
        assert running is not None
        pull.confirm(running, items=3, unreadable=1, now=now)
        assert pull.start("deposits", "cus_1", now=now + timedelta(seconds=1)) is not None

    def test_trouble_keeps_when_it_was_last_confirmed(self, now: datetime) -> None:
        running = pull.start("deposits", "cus_1", now=now)
        assert running is not None
        pull.confirm(running, items=3, unreadable=0, now=now)
        pull.fail(running, "No answer", now=now + timedelta(minutes=5))
        row = Pull.objects.get()
        assert (row.confirmed_at, row.trouble) == (now, "No answer")
        pull.confirm(running, items=3, unreadable=0, now=now + timedelta(minutes=6))
        assert Pull.objects.get().trouble == ""

    def test_a_digest_does_not_mind_the_order_of_keys(self) -> None:
        assert pull.digest_of({"a": 1, "b": [1, 2]}) == pull.digest_of({"b": [1, 2], "a": 1})
        assert pull.digest_of({"b": [2, 1]}) != pull.digest_of({"b": [1, 2]})
