"""Whatever the network or Endl does, a request has one effect, and its state says what is known."""

from typing import Any

import pytest

from backoffice.delivery import checkpoint, raw
from backoffice.delivery.models import Attempt, RawAnswer, State
from backoffice.endl import Client
from cards.models import Card, Cardholder
from tests.backoffice.delivery.conftest import Trip, is_good

BEFORE: dict[str, dict[str, Any]] = {
    "reset": {"kind": "drop"},
    "closed": {"kind": "close"},
    "502": {"kind": "status", "code": 502},
    "503 page": {"kind": "status", "code": 503, "html": True},
    "504": {"kind": "status", "code": 504},
    "408": {"kind": "status", "code": 408},
    "redirect": {"kind": "redirect", "location": "/somewhere"},
    "a page and 200": {"kind": "status", "code": 200, "html": True},
    "an empty 201": {"kind": "status", "code": 201, "body": ""},
    "a list": {"kind": "status", "code": 201, "body": []},
    "unavailable": {"kind": "error", "code": "ERRCRD_1009"},
}
AFTER: dict[str, dict[str, Any]] = {
    "reset": {"kind": "drop", "when": "after"},
    "closed": {"kind": "close", "when": "after"},
    "502": {"kind": "status", "code": 502, "when": "after"},
    "redirect": {"kind": "redirect", "when": "after"},
    "cut off": {"kind": "truncate", "at": 20},
    "cut off, lying": {"kind": "truncate", "length": "cut", "at": 20},
}
ID_FIELDS = {"deposit": "depositId", "card_order": "cardId", "registration": "cardholderId"}


@pytest.mark.parametrize("fault", BEFORE.values(), ids=BEFORE)
def test_it_is_unknown_first_and_then_happens_once(trip: Trip, fault: dict[str, Any]) -> None:
    trip.fault(**fault)
    trip.deliver()
    assert trip.state == State.UNKNOWN
    assert trip.row.unclear_at is not None
    assert trip.effects == []
    trip.deliver_until_it_rests()
    assert is_good(trip)
    assert len(trip.effects) == 1


@pytest.mark.parametrize("fault", AFTER.values(), ids=AFTER)
def test_what_happened_unseen_is_found_out_by_asking_again(trip: Trip, fault: dict[str, Any]) -> None:
    trip.emulator.settings(card_replay="first-result")
    trip.fault(**fault)
    trip.deliver()
    assert trip.state == State.UNKNOWN
    assert len(trip.effects) == 1
    trip.deliver_until_it_rests()
    assert is_good(trip)
    assert len(trip.effects) == 1


@pytest.mark.parametrize("fault", AFTER.values(), ids=AFTER)
def test_a_card_whose_answer_went_astray_is_never_issued_again(order: Trip, fault: dict[str, Any]) -> None:
    order.fault(**fault)
    order.deliver()
    order.deliver_until_it_rests()
    assert order.state == State.DETAILS_LOST
    assert order.row.outcome_code == "ERRCRD_1008"
    assert len(order.effects) == 1


@pytest.mark.parametrize("mutation", ["null", "number", "list", "absent", "huge", "empty"])
def test_an_answer_without_a_usable_id_is_no_answer(trip: Trip, mutation: str) -> None:
    trip.emulator.settings(card_replay="first-result")
    trip.fault("mutate", field=ID_FIELDS[trip.kind], mutation=mutation)
    trip.deliver()
    assert trip.state == State.UNKNOWN
    trip.deliver_until_it_rests()
    assert is_good(trip)
    assert len(trip.effects) == 1


@pytest.mark.parametrize("mutation", ["null", "number", "list", "object", "unknown", "surrogate", "nul"])
@pytest.mark.parametrize("field", ["status", "createdAt"])
def test_wrong_types_elsewhere_do_not_matter(trip: Trip, field: str, mutation: str) -> None:
    trip.fault("mutate", field=field, mutation=mutation)
    trip.deliver()
    assert is_good(trip)


@pytest.mark.parametrize("field", ["last4", "expiryMonth", "expiryYear", "amountInUSDCents"])
@pytest.mark.parametrize("mutation", ["null", "negative", "list", "unknown", "big_number", "exponent"])
def test_odd_card_facts_never_cost_the_envelope(order: Trip, field: str, mutation: str) -> None:
    order.fault("mutate", field=field, mutation=mutation)
    order.deliver()
    assert order.state == State.ISSUED
    assert order.row.details.envelope is not None


@pytest.mark.parametrize("when", ["before", "after"])
def test_silence_ends_with_the_time_limit(deposit: Trip, when: str) -> None:
    impatient = Client(
        base_url=deposit.emulator.base_url,
        api_key=deposit.emulator.api_key,
        read_seconds=0.3,
        total_seconds=0.4,
    )
    deposit.fault("hang", seconds=2, when=when)
    with impatient:
        deposit.deliver(endl=impatient)
    assert deposit.state == State.UNKNOWN
    deposit.deliver_until_it_rests()
    assert deposit.state == State.SUBMITTED
    assert len(deposit.effects) == 1


def test_what_could_not_be_sent_waits_as_it_was(trip: Trip, free_port: int) -> None:
    with Client(base_url=f"http://127.0.0.1:{free_port}", api_key="endl_practice_key") as nobody:
        before = trip.state
        trip.deliver(endl=nobody)
    assert trip.state == before
    assert trip.row.unclear_at is None
    assert trip.attempts[0].outcome == Attempt.Outcome.NOT_SENT
    trip.deliver_until_it_rests()
    assert is_good(trip)


def test_an_unreadable_answer_is_kept_until_another_one_is_understood(order: Trip) -> None:
    order.emulator.settings(card_replay="first-result")
    order.fault("mutate", field="cardId", mutation="null")
    order.deliver()
    assert RawAnswer.objects.count() == 1
    order.deliver_until_it_rests()
    assert not RawAnswer.objects.exists()


def test_an_unreadable_answer_outlives_the_word_that_the_details_are_lost(order: Trip) -> None:
    order.fault("mutate", field="cardId", mutation="null")
    order.deliver()
    order.deliver_until_it_rests()
    assert order.state == State.DETAILS_LOST
    assert b"encryptedDetails" in raw.unpack(RawAnswer.objects.get()).body


class TestConflicts:
    """A 409 without a code: a clear no at first, and proof of nothing after something unclear."""

    CONFLICT: dict[str, Any] = {"kind": "status", "code": 409}

    def test_at_first_it_is_refused(self, trip: Trip) -> None:
        trip.fault(**self.CONFLICT)
        trip.deliver()
        assert trip.state == State.REFUSED
        assert trip.row.outcome_message

    @pytest.mark.parametrize("kind", ["deposit", "card_order"])
    def test_after_something_unclear_a_person_decides(self, start: Any, kind: str) -> None:
        trip: Trip = start(kind)
        trip.fault("drop", when="after")
        trip.fault(**self.CONFLICT)
        trip.deliver()
        trip.deliver_until_it_rests()
        assert trip.state == State.UNKNOWN
        assert trip.row.needs_person
        assert len(trip.attempts) == 2

    def test_what_waits_for_a_person_is_not_sent_again(self, deposit: Trip) -> None:
        self.test_after_something_unclear_a_person_decides(lambda _: deposit, "deposit")
        deposit.clock.advance(hours=1)
        deposit.deliver()
        assert len(deposit.attempts) == 2

    def test_no_funds_says_so(self, deposit: Trip) -> None:
        deposit.emulator.seed(wallets=[{"walletId": "wlt_harbour", "currency": "USDC", "balance": "1.00"}])
        deposit.deliver()
        assert deposit.state == State.REFUSED
        assert "fund" in deposit.row.outcome_message.lower()
        assert deposit.row.outcome_remedy


class TestTheKeysHorizon:
    def test_past_it_a_person_decides(self, deposit: Trip) -> None:
        deposit.fault("drop", when="before")
        deposit.deliver()
        deposit.clock.advance(hours=25)
        deposit.deliver()
        assert deposit.state == State.UNKNOWN
        assert deposit.row.needs_person
        assert deposit.effects == []

    def test_within_it_the_same_key_is_sent_again(self, deposit: Trip) -> None:
        deposit.fault("drop", when="before")
        deposit.deliver()
        deposit.clock.advance(hours=23)
        deposit.deliver()
        assert deposit.state == State.SUBMITTED


class TestRefusals:
    """A clear no ends the request, and says why and what to do."""

    @pytest.mark.parametrize(
        "code", ["ERRCRD_1000", "ERRCRD_1001", "ERRCRD_1003", "ERRCRD_1004", "ERRCRD_1005", "ERRCRD_1006"]
    )
    def test_a_known_code(self, order: Trip, code: str) -> None:
        order.fault("error", code=code)
        order.deliver()
        assert order.state == State.REFUSED
        assert order.row.outcome_code == code
        assert order.row.outcome_message
        assert order.row.outcome_remedy
        order.clock.advance(hours=1)
        order.deliver()
        assert len(order.attempts) == 1

    def test_an_unknown_code_goes_by_its_status(self, trip: Trip) -> None:
        body = {
            "code": 422,
            "message": "No.",
            "errors": [{"code": "ERRNEW_1", "message": "No.", "field": None}],
        }
        trip.fault("status", code=422, body=body)
        trip.deliver()
        assert trip.state == State.REFUSED
        assert trip.row.outcome_code == "ERRNEW_1"

    def test_a_cardholder_that_endl_does_not_know_is_marked_gone(self, order: Trip) -> None:
        order.fault("error", code="ERRCRD_1002")
        order.deliver()
        assert Cardholder.objects.get(pk=order.row.cardholder_id).missing_since is not None

    def test_a_business_that_is_not_enabled_is_marked_so(self, order: Trip) -> None:
        order.fault("error", code="ERRCRD_1001")
        order.deliver()
        assert order.row.cardholder.customer.is_enabled is False

    def test_a_customer_that_endl_does_not_know_is_marked_so(self, deposit: Trip) -> None:
        deposit.fault("error", code="ERRREF_1001")
        deposit.deliver()
        assert deposit.row.wallet.customer.is_known is False

    def test_one_refused_customer_stops_nobody(self, deposit: Trip, order: Trip) -> None:
        deposit.fault("status", code=403)
        deposit.deliver()
        order.deliver()
        assert deposit.state == State.REFUSED
        assert order.state == State.ISSUED


class TestDetailsThatAreLost:
    def test_an_answer_without_envelope(self, order: Trip) -> None:
        order.fault("mutate", field="encryptedDetails", mutation="absent")
        order.deliver()
        assert order.state == State.DETAILS_LOST
        assert order.row.card is not None

    def test_a_key_that_was_used_before(self, order: Trip) -> None:
        order.fault("error", code="ERRCRD_1008")
        order.deliver()
        assert order.state == State.DETAILS_LOST
        assert order.row.card is None

    def test_a_late_envelope_turns_lost_into_issued(self, order: Trip) -> None:
        # The first sender hangs past its lease; a second one is told that the key was used before.
        late: list[str] = []

        def meanwhile(reached: str) -> None:
            if reached == "after-send" and not late:
                late.append(reached)
                order.clock.advance(minutes=5)
                order.deliver()
                late.append(order.state)

        checkpoint.hooks.append(meanwhile)
        try:
            order.deliver()
        finally:
            checkpoint.hooks.clear()
        assert late == ["after-send", State.DETAILS_LOST]
        assert order.state == State.ISSUED
        assert order.row.details.envelope is not None
        assert len(order.effects) == 1


class TestRegistrationsOfUnknownOutcome:
    """Endl may ignore their keys, so the list is asked first."""

    @pytest.fixture(autouse=True)
    def _keys_are_ignored(self, registration: Trip) -> None:
        registration.emulator.settings(registration_keys="ignore", duplicate_emails=True)

    def test_who_is_on_the_list_is_not_registered_again(self, registration: Trip) -> None:
        registration.fault("drop", when="after")
        registration.deliver()
        registration.deliver_until_it_rests()
        assert registration.state == State.REGISTERED
        assert len(registration.effects) == 1
        assert registration.requests_seen == 1

    def test_who_is_not_on_the_list_is_registered(self, registration: Trip) -> None:
        registration.fault("drop", when="before")
        registration.deliver()
        registration.deliver_until_it_rests()
        assert registration.state == State.REGISTERED
        assert len(registration.effects) == 1

    def test_nothing_is_sent_while_the_list_does_not_answer(self, registration: Trip) -> None:
        registration.fault("drop", when="before")
        registration.deliver()
        registration.emulator.fault(operation="list_cardholders", kind="status", code=400, times=1)
        registration.clock.advance(minutes=2)
        registration.deliver()
        assert registration.state == State.UNKNOWN
        assert registration.effects == []
        assert registration.requests_seen == 1

    def test_the_e_mail_is_compared_without_case(self, registration: Trip) -> None:
        registration.fault("drop", when="before")
        registration.deliver()
        registration.emulator.seed(
            cardholders=[{"customerId": registration.row.customer.endl_id, "email": "OMAR.DIAZ@example.com"}]
        )
        registration.deliver_until_it_rests()
        assert registration.state == State.REGISTERED
        assert registration.effects == []

    def test_somebody_of_another_registration_is_left_to_a_person(self, registration: Trip) -> None:
        registration.deliver()
        holder = registration.row.cardholder
        # A second registration of the same e-mail can only come about behind the desk's back.
        second = type(registration.row).objects.get(pk=registration.pk)
        second.pk, second.form_token, second.idempotency_key = None, "second", "office-second-key-of-tests"
        second.state, second.cardholder, second.first_attempt_at = State.REQUESTED, None, None
        second.save(force_insert=True)
        again = Trip(
            registration.kind, registration.road, second.pk, registration.endl, registration.clock,
            registration.emulator,
        )  # fmt: skip
        again.fault("drop", when="before")
        again.deliver()
        again.deliver_until_it_rests()
        assert again.state == State.UNKNOWN
        assert again.row.needs_person
        assert holder.registration.pk == registration.pk


def test_an_answer_that_belongs_to_another_request_is_left_to_a_person(order: Trip, start: Any) -> None:
    order.deliver()
    second: Trip = start("card_order")
    second.fault("mutate", field="cardId", mutation="value", value=order.row.card.endl_id)
    second.deliver()
    assert second.state == State.UNKNOWN
    assert second.row.needs_person
    assert Card.objects.get().order.pk == order.pk
