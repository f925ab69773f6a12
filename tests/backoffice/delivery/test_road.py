"""The road when nothing goes wrong, and the gate that it begins with."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction
from pytest_django import Settings

from backoffice import vault
from backoffice.access.models import User
from backoffice.approvals.models import Approval
from backoffice.audit.models import Entry
from backoffice.delivery import checkpoint, claims, raw
from backoffice.delivery.desk import TooLate
from backoffice.delivery.models import Attempt, RawAnswer, State
from cards import customers, issuing, review
from cards.models import CardholderReview
from funding import deposits
from funding.models import DepositRequest
from tests.backoffice.delivery.conftest import Crash, Trip, is_good
from tests.wishes import a_deposit, approval_of


def test_one_delivery_is_enough(trip: Trip) -> None:
    trip.deliver()
    assert is_good(trip)
    assert [attempt.outcome for attempt in trip.attempts] == [Attempt.Outcome.ANSWERED]
    assert trip.attempts[0].http_status == 201
    assert len(trip.effects) == 1


def test_exactly_the_stored_bytes_are_sent_with_the_stored_key(trip: Trip) -> None:
    row = trip.row
    trip.deliver()
    [effect] = trip.effects
    assert effect["key"] == row.idempotency_key
    assert bytes(trip.row.body) == bytes(row.body)
    assert effect["body_sha256"] == hashlib.sha256(bytes(row.body)).hexdigest()


def test_the_deposits_bytes_say_what_was_asked(deposit: Trip) -> None:
    assert json.loads(bytes(deposit.row.body)) == {
        "walletId": "wlt_harbour", "amount": {"amount": "25.00", "currency": "USDC"},
    }  # fmt: skip


def test_more_deliveries_do_nothing(trip: Trip) -> None:
    trip.deliver()
    for _ in range(3):
        trip.clock.advance(hours=1)
        trip.deliver()
    assert trip.requests_seen == 1


def test_the_end_is_on_record(trip: Trip) -> None:
    trip.deliver()
    verbs = {
        "deposit": "deposit.submitted",
        "card_order": "card_order.issued",
        "registration": "registration.registered",
    }
    entry = Entry.objects.get(verb=verbs[trip.kind])
    assert entry.actor_name == "system: sender"
    assert entry.object_id == str(trip.pk)


def test_no_transaction_is_open_while_endl_is_asked(deposit: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    depth: list[int] = []
    blocks = transaction.get_connection().savepoint_ids
    resting = len(blocks)
    send = deposit.endl.send

    def spy(*args: Any, **kwargs: Any) -> Any:
        depth.append(len(transaction.get_connection().savepoint_ids) - resting)
        return send(*args, **kwargs)

    monkeypatch.setattr(deposit.endl, "send", spy)
    deposit.deliver()
    assert depth == [0]


class TestTheRawAnswer:
    def test_it_is_stored_sealed_before_it_is_understood_and_gone_after(self, trip: Trip) -> None:
        seen: list[bytes] = []

        def look(reached: str) -> None:
            if reached == "after-raw":
                seen.append(bytes(RawAnswer.objects.get().sealed))

        checkpoint.hooks.append(look)
        try:
            trip.deliver()
        finally:
            checkpoint.hooks.clear()
        [sealed] = seen
        assert b"createdAt" not in sealed
        assert b"encryptedDetails" not in sealed
        assert not RawAnswer.objects.exists()

    def test_it_opens_for_its_own_attempt_only(self, order: Trip, crash_at: Any) -> None:
        crash_at("after-raw")
        with pytest.raises(Crash):
            order.deliver()
        row = RawAnswer.objects.get()
        assert raw.unpack(row).status == 201
        row.attempt.number += 1
        with pytest.raises(vault.CannotUnseal):
            raw.unpack(row)

    def test_one_that_does_not_open_waits_for_a_person(
        self, order: Trip, crash_at: Any, settings: Settings
    ) -> None:
        crash_at("after-raw")
        with pytest.raises(Crash):
            order.deliver()
        settings.STORAGE_KEYS = [bytes(32)]
        order.clock.advance(hours=1)
        order.deliver()
        assert order.row.needs_person
        assert order.requests_seen == 1
        assert RawAnswer.objects.exists()


class TestTheGate:
    """The last look before the first attempt. What it stops ends as expired, and nothing was sent."""

    def stopped(self, trip: Trip) -> str:
        trip.deliver()
        assert trip.state == State.EXPIRED
        assert trip.effects == []
        assert trip.requests_seen == 0
        return str(trip.row.outcome_message)

    def test_another_connection_than_was_approved(self, trip: Trip, settings: Settings) -> None:
        settings.ENDL_BASE_URL = "http://127.0.0.1:9"
        assert "another" in self.stopped(trip)

    def test_after_something_unclear_another_connection_waits_for_a_person(
        self, deposit: Trip, settings: Settings
    ) -> None:
        deposit.fault("drop", when="before")
        deposit.deliver()
        settings.ENDL_BASE_URL = "http://127.0.0.1:9"
        deposit.clock.advance(hours=1)
        deposit.deliver()
        assert deposit.state == State.UNKNOWN
        assert deposit.row.needs_person

    def test_an_approval_that_ran_out(self, deposit: Trip) -> None:
        deposit.clock.advance(hours=24, seconds=1)
        assert "ran out" in self.stopped(deposit)
        assert approval_of(deposit.row).state == Approval.State.EXPIRED

    def test_an_approval_that_is_still_good(self, deposit: Trip) -> None:
        deposit.clock.advance(hours=24)
        deposit.deliver()
        assert deposit.state == State.SUBMITTED

    def test_a_checker_without_the_role(self, deposit: Trip, checker: User) -> None:
        checker.groups.clear()
        assert "entitled" in self.stopped(deposit)

    def test_a_checker_who_left(self, deposit: Trip, checker: User) -> None:
        User.objects.filter(pk=checker.pk).update(is_active=False)
        assert "entitled" in self.stopped(deposit)

    def test_facts_that_are_not_those_approved(self, deposit: Trip, settings: Settings) -> None:
        settings.PRACTICE = False
        assert "not what was approved" in self.stopped(deposit)

    def test_a_wallet_that_was_taken_out_of_use(self, deposit: Trip) -> None:
        type(deposit.row.wallet).objects.update(is_active=False)
        assert "not in use" in self.stopped(deposit)

    def test_a_cardholder_whom_compliance_rejected_since(self, order: Trip, compliance: User) -> None:
        review.review_cardholder(
            cardholder=order.row.cardholder, verdict=CardholderReview.Verdict.REJECTED, reason="Left",
            by=compliance, now=order.clock(),
        )  # fmt: skip
        assert "Compliance rejected" in self.stopped(order)

    def test_a_business_that_was_taken_out_of_use(self, registration: Trip, manager: User) -> None:
        customer = registration.row.customer
        customers.change_customer(
            customer=customer, name=customer.name, type=customer.type, is_active=False, by=manager
        )
        assert "not in use" in self.stopped(registration)


class TestWhatIsNeverSent:
    def test_what_nobody_decided_on(self, deposit: Trip, maker: User) -> None:
        waiting = a_deposit(deposit.row.wallet, by=maker, now=deposit.clock())
        self.check_never_sent(deposit, waiting, State.REQUESTED)

    def test_what_was_rejected(self, deposit: Trip, maker: User, checker: User) -> None:
        wish = a_deposit(deposit.row.wallet, by=maker, now=deposit.clock())
        deposits.reject_deposit(
            request=wish, by=checker, seen=approval_of(wish).facts_hash, reason="No", now=deposit.clock()
        )
        self.check_never_sent(deposit, wish, State.REJECTED)

    def test_what_was_cancelled_after_it_was_approved(self, deposit: Trip, maker: User) -> None:
        deposits.cancel_deposit(request=deposit.row, by=maker, now=deposit.clock())
        self.check_never_sent(deposit, deposit.row, State.CANCELLED)

    def check_never_sent(self, trip: Trip, wish: DepositRequest, state: str) -> None:
        other = Trip(trip.kind, trip.road, wish.pk, trip.endl, trip.clock, trip.emulator)
        other.clock.advance(minutes=5)
        other.deliver()
        assert other.state == state
        assert other.requests_seen == 0


class TestClaims:
    def test_one_claim_at_a_time(self, trip: Trip) -> None:
        assert claims.claim(trip.road.model, trip.pk, now=trip.clock()) is not None
        assert claims.claim(trip.road.model, trip.pk, now=trip.clock()) is None

    def test_a_lost_claim_changes_nothing(self, trip: Trip) -> None:
        mine = claims.claim(trip.road.model, trip.pk, now=trip.clock())
        trip.clock.advance(minutes=1)
        later = claims.claim(trip.road.model, trip.pk, now=trip.clock())
        assert mine is not None
        assert later is not None
        assert not claims.move(mine, State.REFUSED, now=trip.clock())
        assert claims.start_attempt(mine, now=trip.clock()) is None
        assert trip.state == State.SENDING

    def test_an_attempt_outlasts_the_call_whatever_was_looked_at_before(
        self, trip: Trip, settings: Settings
    ) -> None:
        claimed = claims.claim(trip.road.model, trip.pk, now=trip.clock())
        assert claimed is not None
        trip.clock.advance(seconds=20)
        claims.start_attempt(claimed, now=trip.clock())
        assert trip.row.lease_until == trip.clock() + timedelta(seconds=settings.DELIVERY_LEASE_SECONDS)
        assert settings.DELIVERY_LEASE_SECONDS > settings.ENDL_CALL_SECONDS > settings.DELIVERY_SWEEP_SECONDS

    def test_waits_double_and_stay_short(self) -> None:
        waits = [claims.wait_after(attempts).total_seconds() for attempts in range(12)]
        assert waits[0] <= 4
        assert all(2.4 <= wait <= 40 for wait in waits)


class TestPeopleAndTheRoad:
    def test_what_was_not_sent_in_an_attempt_can_be_cancelled(self, deposit: Trip, maker: User) -> None:
        deposit.fault("throttle", retry_after="60")
        deposit.deliver()
        deposits.cancel_deposit(request=deposit.row, by=maker, now=deposit.clock())
        assert deposit.state == State.CANCELLED

    def test_what_may_have_happened_cannot(self, deposit: Trip, maker: User) -> None:
        deposit.fault("drop", when="after")
        deposit.deliver()
        with pytest.raises(TooLate):
            deposits.cancel_deposit(request=deposit.row, by=maker, now=deposit.clock())

    def test_what_is_on_its_way_cannot(self, order: Trip, manager: User) -> None:
        claims.claim(order.road.model, order.pk, now=order.clock())
        with pytest.raises(TooLate):
            issuing.cancel_order(request=order.row, by=manager, now=order.clock())


class TestAgainstOurEnd:
    """What Endl made after we had called it an end is an alarm for a person."""

    def overtaken(self, trip: Trip) -> None:
        """A first sender that hangs past its lease, while the second one is told no."""
        passed: list[str] = []

        def meanwhile(reached: str) -> None:
            if reached == "after-send" and not passed:
                passed.append(reached)
                trip.clock.advance(minutes=5)
                trip.fault("error", code="ERRCRD_1005")
                if trip.kind == "registration":
                    trip.emulator.settings(reads_off=[])
                    trip.emulator.seed(
                        cardholders=[
                            {
                                "cardholderId": holder.cardholder_id,
                                "customerId": "cus_harbour",
                                "email": "x@y.example",
                            }
                            for holder in trip.endl.list_cardholders("cus_harbour").items
                        ]
                    )
                trip.deliver()

        checkpoint.hooks.append(meanwhile)
        try:
            trip.deliver()
        finally:
            checkpoint.hooks.clear()

    def test_it_is_kept_with_a_contradiction(self, trip: Trip) -> None:
        self.overtaken(trip)
        assert trip.state == State.REFUSED
        made = {
            "deposit": "funding.deposit", "card_order": "cards.card", "registration": "cards.cardholder"
        }[trip.kind]  # fmt: skip
        model = apps.get_model(made)
        assert "although" in model._default_manager.exclude(contradiction="").get().contradiction
        assert Entry.objects.filter(verb=f"{trip.kind}.contradiction").exists()
