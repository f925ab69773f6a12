"""What an event does: next to nothing by itself. The object is read again, and that decides."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import line
from backoffice.delivery.models import Pause, State
from backoffice.endl import Client
from backoffice.mirror.models import Read
from cards import customers
from cards.models import Customer
from funding import deposits, webhooks
from funding.models import Deposit, DepositRequest, WebhookEvent
from tests.funding.conftest import Request

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db
LIST, GET = "list_deposits", "get_deposit"


def told(event_id: str = "evt_1", kind: str = "card_deposit.completed", **data: Any) -> WebhookEvent:
    """An event that the door has let in."""
    raw = json.dumps(data).encode()
    event = api.VerifiedEvent(event_id, kind, None, data, f"{hash(raw):064x}"[-64:])
    return webhooks.store(event, now=timezone.now())


def about(wish: DepositRequest, kind: str = "completed", **more: Any) -> WebhookEvent:
    """The event that says how a request's deposit ended."""
    assert wish.deposit is not None
    named = {"depositId": wish.deposit.endl_id, "customerId": wish.wallet.customer.endl_id, "status": kind}
    return told(kind=f"card_deposit.{kind}", **{**named, **more})


def handle(event: WebhookEvent, endl: Client, now: datetime | None = None) -> WebhookEvent:
    event.refresh_from_db()
    webhooks.handle(event, endl=endl, now=now or timezone.now())
    event.refresh_from_db()
    return event


def state_of(wish: DepositRequest) -> str:
    return DepositRequest.objects.get(pk=wish.pk).state


class TestAnEventIsAHint:
    def test_the_deposit_is_read_again_and_the_request_follows(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        wish = send()
        emulator.settle()
        event = handle(about(wish), endl)
        assert (event.state, event.outcome) == ("handled", "The deposit is completed.")
        assert state_of(wish) == State.COMPLETED
        assert not Deposit.objects.get().is_not_reread

    def test_a_signed_lie_completes_nothing(self, send: Request, endl: Client) -> None:
        wish = send()
        event = handle(about(wish), endl)
        assert event.outcome == "The deposit is pending."
        assert state_of(wish) == State.SUBMITTED

    def test_a_failure_brings_its_reason(self, send: Request, endl: Client, emulator: "Emulator") -> None:
        emulator.settings(
            failing_amounts=["13.00"], failure_reason={"code": "x", "message": "The network said no"}
        )
        wish = send("13")
        emulator.settle()
        handle(about(wish, "failed"), endl)
        wish.refresh_from_db()
        assert (wish.state, wish.outcome_message) == (State.FAILED, "The network said no")

    def test_of_two_deposits_of_one_amount_only_the_named_one_changes(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        first, second = send("10"), send("10")
        assert second.deposit is not None
        _settle(emulator, second.deposit.endl_id)
        handle(about(second), endl)
        assert (state_of(first), state_of(second)) == (State.SUBMITTED, State.COMPLETED)

    def test_the_same_twice_is_one_transition_and_one_entry(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        wish = send()
        emulator.settle()
        handle(about(wish), endl)
        again = about(wish)
        WebhookEvent.objects.update(state="received")
        handle(again, endl)
        assert Entry.objects.filter(verb="deposit.completed").count() == 1

    def test_an_end_never_goes_back(self, send: Request, endl: Client, emulator: "Emulator") -> None:
        wish = send()
        emulator.settle()
        handle(about(wish), endl)
        assert wish.deposit is not None
        emulator.seed(deposits=[{"depositId": wish.deposit.endl_id, "status": "pending"}])
        handle(told("evt_2", depositId=wish.deposit.endl_id), endl)
        assert state_of(wish) == State.COMPLETED
        deposit = Deposit.objects.get()
        assert (deposit.status, deposit.contradiction) == ("completed", "Endl said pending after completed.")

    def test_an_event_that_comes_before_the_answer_is_stored_is_no_contradiction(
        self, request_deposit: Request, approve: Any, endl: Client, emulator: "Emulator"
    ) -> None:
        wish = approve(request_deposit())
        call = api.Call(operation=wish.operation, path=wish.path, body=bytes(wish.body))
        answer = endl.send(call, key=wish.idempotency_key)
        made = api.read_deposit(answer)
        DepositRequest.objects.filter(pk=wish.pk).update(
            state=State.SENDING, lease_until=timezone.now(), first_attempt_at=timezone.now()
        )
        wish.refresh_from_db()
        emulator.settle()
        handle(told(depositId=made.deposit_id, customerId=wish.wallet.customer.endl_id), endl)
        deposits.ROAD.arrive(wish, made, timezone.now())
        wish.refresh_from_db()
        assert wish.deposit is not None
        assert (wish.state, wish.deposit.status, wish.deposit.contradiction) == (
            State.COMPLETED,
            "completed",
            "",
        )


class TestWhatIsNotKnownYet:
    def test_waits_for_its_customer_and_is_picked_up_when_it_appears(
        self, emulator: "Emulator", endl: Client, manager: User, now: datetime
    ) -> None:
        emulator.seed(customers=[{"customerId": "cus_new"}])
        emulator.seed(deposits=[{"depositId": "cdp_new", "customerId": "cus_new"}])
        event = handle(told(depositId="cdp_new", customerId="cus_new"), endl)
        assert event.state == "waiting"
        assert not webhooks.waiting(now=now + timedelta(days=9)).exists()
        customers.add_customer(
            endl_id="cus_new", name="New", type=Customer.Type.BUSINESS, by=manager, now=now
        )
        assert list(webhooks.waiting(now=now)) == [event]
        assert handle(event, endl).state == "handled"
        assert Deposit.objects.get().endl_id == "cdp_new"

    def test_without_a_customer_the_deposit_itself_says_whose_it_is(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        wish = send()
        assert wish.deposit is not None
        emulator.settle()
        handle(told(depositId=wish.deposit.endl_id), endl)
        assert state_of(wish) == State.COMPLETED

    def test_a_wrong_customer_moves_no_deposit(
        self, send: Request, endl: Client, emulator: "Emulator", manager: User, now: datetime
    ) -> None:
        wish = send()
        assert wish.deposit is not None
        customers.add_customer(endl_id="cus_b", name="B", type=Customer.Type.BUSINESS, by=manager, now=now)
        emulator.settle()
        handle(told(depositId=wish.deposit.endl_id, customerId="cus_b"), endl)
        assert Deposit.objects.get().customer == wish.wallet.customer
        assert state_of(wish) == State.COMPLETED

    def test_an_event_that_names_no_deposit_needs_a_person(self, business: Customer, endl: Client) -> None:
        event = handle(told(customerId=business.endl_id), endl)
        assert (event.state, event.outcome) == ("failed", "It names no deposit.")

    def test_a_deposit_that_endl_does_not_know_is_tried_again_and_then_left_to_a_person(
        self, business: Customer, endl: Client, now: datetime
    ) -> None:
        event = told(depositId="cdp_nowhere", customerId=business.endl_id)
        waits = []
        for _ in range(12):
            handle(event, endl, now)
            waits.append(event.next_attempt_at and event.next_attempt_at - now)
        assert event.state == "failed"
        assert waits[:3] == [timedelta(seconds=30), timedelta(seconds=60), timedelta(seconds=120)]
        assert Read.objects.exclude(off_since=None).count() == 0

    def test_nothing_is_asked_while_the_line_is_paused(
        self, send: Request, endl: Client, emulator: "Emulator", now: datetime
    ) -> None:
        wish = send()
        emulator.settle()
        line.pause(api.OursToFix("No"), scope=Pause.Scope.EVERYTHING, now=now)
        event = handle(about(wish), endl)
        assert (event.state, event.attempts) == ("received", 0)

    def test_an_unknown_type_does_nothing(self, send: Request, endl: Client, emulator: "Emulator") -> None:
        wish = send()
        emulator.settle()
        assert wish.deposit is not None
        event = handle(told(kind="card_deposit.polished", depositId=wish.deposit.endl_id), endl)
        assert event.state == "unknown_type"
        assert state_of(wish) == State.SUBMITTED


class TestWithoutReads:
    @pytest.fixture(params=[405, 501, 404])
    def reads_off(self, request: pytest.FixtureRequest, emulator: "Emulator") -> None:
        emulator.settings(reads_off=[GET, LIST], reads_off_status=request.param)

    @pytest.mark.usefixtures("reads_off")
    def test_the_signed_event_itself_must_do_and_the_deposit_says_so(
        self, send: Request, endl: Client
    ) -> None:
        wish = send()
        event = handle(about(wish, transactionHash="0xabc"), endl)
        assert event.state == "handled"
        assert state_of(wish) == State.COMPLETED
        deposit = Deposit.objects.get()
        assert (deposit.is_not_reread, deposit.transaction_hash) == (True, "0xabc")
        assert Entry.objects.filter(verb="deposit.believed").count() == 1
        assert set(Read.objects.exclude(off_since=None).values_list("name", flat=True)) == {GET, LIST}

    @pytest.mark.usefixtures("reads_off")
    @pytest.mark.parametrize(
        ("more", "why"),
        [
            ({"status": "failed"}, "Its type says completed, and its data says failed."),
            (
                {"amount": {"amount": "1250", "currency": "USDC"}},
                "Its amount is 1250, and the deposit's is 12.50.",
            ),
        ],
    )
    def test_an_event_that_does_not_fit_is_not_believed(
        self, send: Request, endl: Client, more: dict[str, Any], why: str
    ) -> None:
        wish = send()
        event = handle(about(wish, **more), endl)
        assert (event.state, event.outcome) == ("failed", why)
        assert state_of(wish) == State.SUBMITTED

    @pytest.mark.usefixtures("reads_off")
    def test_an_amount_at_another_scale_is_the_same_amount(self, send: Request, endl: Client) -> None:
        wish = send()
        handle(about(wish, amount={"amount": "12.5000", "currency": "USDC"}), endl)
        assert state_of(wish) == State.COMPLETED

    @pytest.mark.usefixtures("reads_off")
    def test_a_second_event_does_not_turn_an_end_back(self, send: Request, endl: Client) -> None:
        wish = send()
        handle(about(wish), endl)
        assert wish.deposit is not None
        handle(
            told("evt_2", kind="card_deposit.failed", depositId=wish.deposit.endl_id, status="failed"), endl
        )
        assert state_of(wish) == State.COMPLETED
        assert Deposit.objects.get().status == "completed"

    def test_a_read_that_comes_back_confirms_what_was_believed(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        emulator.settings(reads_off=[GET, LIST])
        wish = send()
        handle(about(wish), endl)
        assert Deposit.objects.get().is_not_reread
        emulator.settings(reads_off=[])
        emulator.settle()
        Read.objects.update(tried_at=None)
        deposits.follow(DepositRequest.objects.get(pk=wish.pk), endl=endl, now=timezone.now())
        assert not Deposit.objects.get().is_not_reread

    def test_with_the_list_alone_the_list_decides(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        emulator.settings(reads_off=[GET])
        wish = send()
        event = handle(about(wish), endl)
        assert (event.outcome, state_of(wish)) == ("The deposit is pending.", State.SUBMITTED)
        emulator.settle()
        WebhookEvent.objects.update(state="received")
        handle(event, endl)
        assert state_of(wish) == State.COMPLETED
        assert not Deposit.objects.get().is_not_reread

    def test_a_list_that_fails_makes_nobody_believe_the_event(
        self, send: Request, endl: Client, emulator: "Emulator"
    ) -> None:
        emulator.settings(reads_off=[GET])
        wish = send()
        emulator.fault(operation="list_deposits", kind="error", code="ERRCORE_1005", times=-1)
        event = handle(about(wish), endl)
        assert (event.state, state_of(wish)) == ("received", State.SUBMITTED)
        assert event.next_attempt_at is not None


class TestAtTheSameMoment:
    @pytest.mark.django_db(transaction=True)
    def test_answer_and_event_make_one_transition_and_one_entry(
        self, request_deposit: Request, approve: Any, endl: Client, emulator: "Emulator"
    ) -> None:
        for turn in range(5):
            wish = approve(request_deposit(f"{10 + turn}"))
            call = api.Call(operation=wish.operation, path=wish.path, body=bytes(wish.body))
            made = api.read_deposit(endl.send(call, key=wish.idempotency_key))
            began = timezone.now()
            DepositRequest.objects.filter(pk=wish.pk).update(
                state=State.SENDING, lease_until=began, first_attempt_at=began
            )
            wish.refresh_from_db()
            emulator.settle()
            event = told(f"evt_{turn}", depositId=made.deposit_id, customerId=wish.wallet.customer.endl_id)
            _at_once(
                lambda wish=wish, made=made: _arrive(wish, made),
                lambda event=event: webhooks.handle(event, endl=endl, now=timezone.now()),
                lambda event=event: webhooks.handle(event, endl=endl, now=timezone.now()),
            )
            wish.refresh_from_db()
            if wish.state == State.SUBMITTED:
                deposits.follow(wish, endl=endl, now=timezone.now())
                wish.refresh_from_db()
            assert wish.deposit is not None
            assert (wish.state, wish.deposit.status, wish.deposit.contradiction) == (
                "completed",
                "completed",
                "",
            )
            ends = Entry.objects.filter(verb="deposit.completed", object_id=str(wish.pk))
            assert ends.count() == 1


def _arrive(wish: DepositRequest, made: api.Deposit) -> None:
    from django.db import transaction

    with transaction.atomic():
        deposits.ROAD.arrive(wish, made, timezone.now())


def _at_once(*deeds: Any) -> None:
    def one(deed: Any) -> None:
        try:
            deed()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(deeds)) as pool:
        for done in [pool.submit(one, deed) for deed in deeds]:
            done.result()


def _settle(emulator: "Emulator", deposit_id: str) -> None:
    from backoffice.emulator.deposits import settle_deposit

    assert settle_deposit(emulator.world, deposit_id) is not None
