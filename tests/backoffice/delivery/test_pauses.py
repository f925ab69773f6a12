"""When Endl asks everybody to wait, or the connection itself is at fault, nothing is lost or fails."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import line
from backoffice.delivery.models import Attempt, Line, Pause, State
from backoffice.endl import Client, OursToFix, Throttled
from tests.backoffice.delivery.conftest import Trip, is_good

PAUSING = ("ERRCORE_1001", "ERRCORE_1004", "IP_NOT_ALLOWLISTED")
Start = Callable[[str], Trip]


def probe_is_known(trip: Trip) -> None:
    """The business has answered before, so that there is somebody to ask."""
    line.note_answer(now=trip.clock(), probe_customer="cus_harbour")


def probed(trip: Trip) -> bool:
    return line.probe(endl=trip.endl, now=trip.clock())


class TestSlowingDown:
    @pytest.mark.parametrize(
        ("retry_after", "seconds"),
        [("absent", 5), ("7", 7), ("0.5", 0.5), ("86400", 300), ("soon", 5), ("-1", 5)],
    )
    def test_everybody_waits_as_long_as_endl_asks(
        self, deposit: Trip, retry_after: str, seconds: float
    ) -> None:
        deposit.fault("throttle", retry_after=retry_after)
        deposit.deliver()
        assert line.the_line().slow_until == deposit.clock() + timedelta(seconds=seconds)
        assert deposit.state == State.APPROVED
        assert deposit.attempts[0].outcome == Attempt.Outcome.THROTTLED

    def test_a_date_is_understood_too(self, deposit: Trip) -> None:
        deposit.fault("throttle", retry_after="date", seconds=60)
        deposit.deliver()
        until = line.the_line().slow_until
        assert until is not None
        assert timedelta(seconds=55) < until - deposit.clock() < timedelta(seconds=65)

    def test_no_other_request_goes_out_meanwhile(self, deposit: Trip, order: Trip) -> None:
        deposit.fault("throttle", retry_after="60")
        deposit.deliver()
        order.clock.advance(seconds=59)
        order.deliver()
        assert order.requests_seen == 0
        order.clock.advance(seconds=2)
        order.deliver()
        deposit.deliver()
        assert is_good(order)
        assert is_good(deposit)

    def test_a_shorter_wish_never_shortens_a_longer_one(self, deposit: Trip) -> None:
        deposit.fault("throttle", retry_after="60")
        deposit.deliver()
        line.slow_down(Throttled("slow", retry_after_seconds=1), now=deposit.clock())
        assert line.the_line().slow_until == deposit.clock() + timedelta(seconds=60)

    def test_an_unclear_request_stays_unclear(self, deposit: Trip) -> None:
        deposit.fault("drop", when="after")
        deposit.fault("throttle", retry_after="1")
        deposit.deliver()
        deposit.clock.advance(minutes=1)
        deposit.deliver()
        assert deposit.state == State.UNKNOWN
        deposit.deliver_until_it_rests()
        assert deposit.state == State.SUBMITTED
        assert len(deposit.effects) == 1


class TestPausingEverything:
    @pytest.mark.parametrize("code", PAUSING)
    def test_nothing_more_is_sent_and_nothing_fails(self, trip: Trip, code: str) -> None:
        before = trip.state
        trip.fault("error", code=code)
        trip.deliver()
        trip.clock.advance(minutes=1)
        trip.deliver()
        assert trip.state == before
        assert trip.requests_seen == 1
        pause = line.open_pauses().get()
        assert (pause.scope, pause.code) == (Pause.Scope.EVERYTHING, code)
        assert pause.remedy

    def test_any_401_pauses(self, deposit: Trip) -> None:
        deposit.fault("status", code=401)
        deposit.deliver()
        assert line.is_paused()

    @pytest.mark.parametrize("code", PAUSING)
    def test_the_probe_lets_work_go_on(self, trip: Trip, code: str) -> None:
        probe_is_known(trip)
        trip.fault("error", code=code)
        trip.deliver()
        trip.clock.advance(minutes=1)
        assert probed(trip)
        trip.deliver()
        assert is_good(trip)
        assert len(trip.effects) == 1
        assert Pause.objects.get().lifted_by == "system: probe"

    def test_while_the_probe_is_refused_it_stays(self, deposit: Trip) -> None:
        probe_is_known(deposit)
        deposit.emulator.settings(allowlisted=False)
        deposit.deliver()
        assert not probed(deposit)
        assert line.is_paused()
        deposit.emulator.settings(allowlisted=True)
        assert probed(deposit)
        deposit.clock.advance(minutes=1)
        deposit.deliver()
        assert deposit.state == State.SUBMITTED

    @pytest.mark.parametrize(
        "fault", [{"kind": "status", "code": 502}, {"kind": "status", "code": 200, "html": True}]
    )
    def test_an_answer_that_is_not_endls_proves_nothing(
        self, deposit: Trip, fault: dict[str, object]
    ) -> None:
        probe_is_known(deposit)
        deposit.fault("error", code="ERRCORE_1004")
        deposit.deliver()
        deposit.emulator.fault(operation="list_cardholders", times=-1, **fault)
        with Client(
            base_url=deposit.emulator.base_url, api_key=deposit.emulator.api_key, sleep=lambda _: None
        ) as hasty:
            assert not line.probe(endl=hasty, now=deposit.clock())
        assert line.is_paused()

    def test_a_clear_no_about_the_customer_proves_that_the_key_is_accepted(self, deposit: Trip) -> None:
        probe_is_known(deposit)
        deposit.fault("error", code="ERRCORE_1004")
        deposit.deliver()
        deposit.emulator.fault(operation="list_cardholders", kind="error", code="ERRCRD_1001")
        assert probed(deposit)
        assert not line.is_paused()

    def test_with_nobody_to_ask_a_person_names_a_business(self, deposit: Trip) -> None:
        Line.objects.update(probe_customer="")
        deposit.fault("error", code="ERRCORE_1004")
        deposit.deliver()
        assert not probed(deposit)
        assert line.probe(endl=deposit.endl, now=deposit.clock(), customer="cus_harbour")
        assert not line.is_paused()

    def test_the_time_in_a_pause_counts(self, deposit: Trip) -> None:
        # An attempt has begun, so the approval does not run out any more.
        probe_is_known(deposit)
        deposit.fault("error", code="IP_NOT_ALLOWLISTED")
        deposit.deliver()
        deposit.clock.advance(hours=25)
        assert probed(deposit)
        deposit.deliver()
        assert deposit.state == State.SUBMITTED

    def test_one_pause_is_open_at_a_time_and_both_ends_are_on_record(
        self, deposit: Trip, order: Trip
    ) -> None:
        probe_is_known(deposit)
        for _ in range(2):
            line.pause(
                OursToFix("no", code="ERRCORE_1004"), scope=Pause.Scope.EVERYTHING, now=deposit.clock()
            )
        assert probed(deposit)
        verbs = list(
            Entry.objects.filter(verb__startswith="line.").order_by("id").values_list("verb", flat=True)
        )
        assert verbs == ["line.pause", "line.resume"]

    def test_a_code_of_any_length_can_pause(self, deposit: Trip) -> None:
        line.pause(OursToFix("no", code="E" * 64), scope=Pause.Scope.EVERYTHING, now=deposit.clock())
        assert line.is_paused()


class TestDeniedAccess:
    """ERRCORE_1005 may concern one customer; it counts for all once the probe is refused too."""

    def test_while_the_probe_answers_it_refuses_that_request_alone(self, deposit: Trip) -> None:
        probe_is_known(deposit)
        deposit.fault("error", code="ERRCORE_1005")
        deposit.deliver()
        assert deposit.state == State.REFUSED
        assert not line.is_paused()

    def test_once_the_probe_is_refused_too_it_pauses_everything(self, deposit: Trip) -> None:
        probe_is_known(deposit)
        deposit.emulator.settings(permitted=False)
        deposit.deliver()
        assert deposit.state == State.APPROVED
        assert line.is_paused()

    def test_with_no_probe_known_the_worst_is_assumed(self, deposit: Trip) -> None:
        Line.objects.update(probe_customer="")
        deposit.fault("error", code="ERRCORE_1005")
        deposit.deliver()
        assert deposit.state == State.APPROVED
        assert line.is_paused()


class TestPausingIssuing:
    def paused(self, start: Start) -> Trip:
        first = start("card_order")
        first.fault("error", code="ERRCRD_1007")
        first.deliver()
        assert line.is_paused(Pause.Scope.ISSUING)
        return first

    def test_orders_wait_and_deposits_go_on(self, start: Start) -> None:
        order = self.paused(start)
        deposit = start("deposit")
        deposit.deliver()
        order.clock.advance(minutes=9)
        order.deliver()
        assert order.state == State.APPROVED
        assert order.requests_seen == 1
        assert deposit.state == State.SUBMITTED
        assert not line.is_paused()

    def test_one_order_is_let_through_every_ten_minutes(self, start: Start) -> None:
        first = self.paused(start)
        second = start("card_order")
        first.emulator.settings(issuing_available=False)
        first.clock.advance(minutes=10)
        first.deliver()
        second.deliver()
        assert (first.requests_seen, second.requests_seen) == (2, 0)
        assert first.state == State.APPROVED
        second.clock.advance(minutes=10)
        second.deliver()
        first.deliver()
        assert (first.requests_seen, second.requests_seen) == (2, 1)

    def test_the_first_card_that_is_issued_ends_it(self, start: Start) -> None:
        first, second = self.paused(start), start("card_order")
        first.clock.advance(minutes=10)
        first.deliver()
        second.deliver()
        assert first.state == State.ISSUED
        assert second.state == State.ISSUED
        assert not line.is_paused(Pause.Scope.ISSUING)


class TestTheLine:
    def test_it_is_well_until_something_is_wrong(self, deposit: Trip) -> None:
        line.note_answer(now=deposit.clock())
        assert line.health().is_well
        deposit.fault("status", code=502)
        deposit.deliver()
        assert not line.health().is_well
        deposit.deliver_until_it_rests()
        assert line.health().is_well

    def test_a_refused_customer_is_no_trouble_of_the_line(self, deposit: Trip) -> None:
        line.note_answer(now=deposit.clock())
        deposit.fault("drop", when="after")
        deposit.fault("status", code=409)
        deposit.deliver()
        line.note_answer(now=deposit.clock())
        deposit.clock.advance(minutes=2)
        deposit.deliver()
        assert deposit.row.needs_person
        assert line.health().is_well

    def test_only_an_administrator_asks_for_a_try(self, administrator: User, maker: User) -> None:
        line.ask_to_try(by=administrator)
        with pytest.raises(NotAllowed):
            line.ask_to_try(by=maker)
        results = set(Entry.objects.filter(verb="line.try_now").values_list("result", flat=True))
        assert results == {"done", "refused"}
