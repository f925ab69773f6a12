"""Having an event handled again, and asking what that would change."""

import pytest
from django.utils import timezone

from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import sender
from funding import deposits, replaying, webhooks
from funding.models import Deposit, DepositRequest, WebhookEvent
from tests.wishes import an_approved_deposit

pytestmark = pytest.mark.django_db
State = WebhookEvent.State


@pytest.fixture
def submitted(wallet, maker, checker, endl, emulator) -> DepositRequest:
    wish = an_approved_deposit(wallet, by=maker, checker=checker, now=timezone.now())
    sender.deliver(deposits.ROAD, wish.pk, endl=endl)
    wish.refresh_from_db()
    return wish


@pytest.fixture
def event(submitted) -> WebhookEvent:
    return WebhookEvent.objects.create(
        event_id="evt_1",
        type="card_deposit.completed",
        data={"depositId": submitted.deposit.endl_id},
        raw_sha256="0" * 64,
        received_at=timezone.now(),
        object_endl_id=submitted.deposit.endl_id,
        customer_endl_id=submitted.customer_endl_id,
        state=State.FAILED,
        attempts=12,
    )


def test_a_failed_event_is_handled_once_more(event, submitted, checker, endl, emulator):
    emulator.settle()
    replaying.replay(event=event, by=checker, now=timezone.now())
    event.refresh_from_db()
    assert event.state == State.RECEIVED
    webhooks.handle(event, endl=endl, now=timezone.now())
    submitted.refresh_from_db()
    assert submitted.state == "completed"


def test_twice_is_as_good_as_once(event, submitted, checker, endl, emulator):
    emulator.settle()
    for _ in range(2):
        replaying.replay(event=event, by=checker, now=timezone.now())
        event.refresh_from_db()
        webhooks.handle(event, endl=endl, now=timezone.now())
    assert Entry.objects.filter(verb="deposit.completed").count() == 1
    assert Entry.objects.filter(verb="webhook.replay").count() == 2


def test_a_preview_says_what_would_change_and_writes_nothing(event, submitted, checker, endl, emulator):
    assert replaying.would_change(event, endl=endl, by=checker, now=timezone.now()) == []
    emulator.settle()
    said = replaying.would_change(event, endl=endl, by=checker, now=timezone.now())
    assert "Its status: pending would become completed." in said
    assert Deposit.objects.get().status == "pending"


def test_a_preview_of_an_older_word_says_that_nothing_turns_back(event, submitted, checker, endl, emulator):
    Deposit.objects.update(status="completed")
    said = replaying.would_change(event, endl=endl, by=checker, now=timezone.now())
    assert said == ["Nothing: it is completed here, which does not turn back to pending."]


def test_a_preview_of_a_new_deposit_says_that_it_would_appear(event, submitted, checker, endl, emulator):
    other = {"depositId": "cdp_other", "customerId": submitted.customer_endl_id, "status": "completed"}
    emulator.seed(deposits=[{**other, "amount": {"amount": "7.00", "currency": "USD"}}])
    WebhookEvent.objects.update(object_endl_id="cdp_other")
    event.refresh_from_db()
    (said,) = replaying.would_change(event, endl=endl, by=checker, now=timezone.now())
    assert said == "A deposit would appear here: 7.00 USD, completed."


def test_an_unknown_type_is_never_replayed(event, checker):
    WebhookEvent.objects.update(state=State.UNKNOWN_TYPE)
    with pytest.raises(replaying.NothingToDo):
        replaying.replay(event=event, by=checker, now=timezone.now())


def test_an_auditor_looks_and_replays_nothing(event, auditor, endl, emulator):
    replaying.would_change(event, endl=endl, by=auditor, now=timezone.now())
    with pytest.raises(NotAllowed):
        replaying.replay(event=event, by=auditor, now=timezone.now())
    assert Entry.objects.get(verb="webhook.replay").result == "refused"
