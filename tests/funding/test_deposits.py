"""Deposits: who may ask, what is sent, how they end, and what is an alarm."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import line, sender
from backoffice.delivery.desk import NotYourPage
from backoffice.delivery.models import State
from backoffice.emulator import Emulator
from backoffice.endl import Client
from cards.models import Customer
from funding import deposits
from funding.models import Deposit, DepositRequest, Wallet
from tests.wishes import a_deposit, an_approved_deposit, approval_of


class TestAsking:
    def test_the_bytes_are_written_down_at_once(self, wallet: Wallet, maker: User, now: datetime) -> None:
        wish = a_deposit(wallet, by=maker, now=now, amount="1250.5")
        assert wish.state == State.REQUESTED
        assert wish.path == "/api/v0/cards/cus_harbour/deposits"
        assert json.loads(bytes(wish.body))["amount"] == {"amount": "1250.50", "currency": "USDC"}
        entry = Entry.objects.get(verb="deposit.request")
        assert (entry.actor, entry.reason) == (maker, "Card spend")

    def test_the_note_stays_here(self, wallet: Wallet, maker: User, now: datetime) -> None:
        assert b"Card spend" not in bytes(a_deposit(wallet, by=maker, now=now).body)

    def test_a_chain_is_sent_where_one_is_chosen(self, wallet: Wallet, maker: User, now: datetime) -> None:
        wish = deposits.request_deposit(
            wallet=wallet, amount=Decimal(5), chain="polygon", note="", form_token="t", by=maker, now=now
        )
        assert json.loads(bytes(wish.body))["chain"] == "polygon"

    @pytest.mark.parametrize(
        "who", ["checker", "manager", "compliance", "auditor", "administrator", "superuser", "outsider"]
    )
    def test_only_makers_of_the_customer(
        self, wallet: Wallet, who: str, request: pytest.FixtureRequest, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            a_deposit(wallet, by=request.getfixturevalue(who), now=now)
        assert Entry.objects.get(verb="deposit.request").result == Entry.Result.REFUSED

    @pytest.mark.parametrize(
        ("customer", "purse", "words"),
        [
            ({"is_active": False}, {}, "not in use"),
            ({"is_known": False}, {}, "does not know"),
            ({"type": "employee"}, {}, "employee"),
            ({}, {"is_active": False}, "not in use"),
            ({}, {"currency": ""}, "no currency"),
        ],
    )
    def test_not_from_every_wallet(
        self, wallet: Wallet, maker: User, now: datetime, *, customer: dict[str, object],
        purse: dict[str, object], words: str,
    ) -> None:  # fmt: skip
        for model, columns in ((Customer, customer), (Wallet, purse)):
            if columns:
                model._default_manager.update(**columns)
        with pytest.raises(deposits.NoDeposit, match=words):
            a_deposit(Wallet.objects.get(), by=maker, now=now)
        assert not DepositRequest.objects.exists()

    def test_a_second_click_finds_the_first_and_nobody_elses(
        self, wallet: Wallet, maker: User, now: datetime, another: Callable[..., User]
    ) -> None:
        def click(by: User) -> DepositRequest:
            return deposits.request_deposit(
                wallet=wallet, amount=Decimal(5), chain="", note="", form_token="page", by=by, now=now
            )

        assert click(maker) == click(maker)
        with pytest.raises(NotYourPage):
            click(another("maker2", "finance maker"))
        assert DepositRequest.objects.count() == 1
        assert Entry.objects.filter(verb="deposit.request", result="done").count() == 1

    def test_equal_requests_of_a_day_are_found(self, wallet: Wallet, maker: User, now: datetime) -> None:
        first = a_deposit(wallet, by=maker, now=now)
        later = now + timedelta(hours=23)
        assert list(deposits.alike(wallet=wallet, amount=Decimal(25), now=later)) == [first]
        assert not deposits.alike(wallet=wallet, amount=Decimal(25), now=now + timedelta(hours=25)).exists()
        deposits.cancel_deposit(request=first, by=maker, now=now)
        assert not deposits.alike(wallet=wallet, amount=Decimal(25), now=later).exists()


@pytest.fixture
def approved(wallet: Wallet, maker: User, checker: User, now: datetime) -> DepositRequest:
    return an_approved_deposit(wallet, by=maker, checker=checker, now=now)


@pytest.fixture
def sent(approved: DepositRequest, endl: Client) -> DepositRequest:
    """A deposit that Endl has taken and is working on."""
    sender.deliver(deposits.ROAD, approved.pk, endl=endl)
    return DepositRequest.objects.get(pk=approved.pk)


def follow(wish: DepositRequest, endl: Client, now: datetime) -> DepositRequest:
    deposits.follow(DepositRequest.objects.get(pk=wish.pk), endl=endl, now=now)
    return DepositRequest.objects.get(pk=wish.pk)


class TestEnding:
    def test_pending_is_submitted(self, sent: DepositRequest) -> None:
        assert sent.state == State.SUBMITTED
        assert sent.deposit is not None
        assert sent.deposit.status == "pending"

    def test_completed_at_once(self, approved: DepositRequest, emulator: Emulator, endl: Client) -> None:
        emulator.settings(deposit_status="completed")
        sender.deliver(deposits.ROAD, approved.pk, endl=endl)
        assert DepositRequest.objects.get().state == State.COMPLETED

    def test_a_status_nobody_knows_is_on_its_way(
        self, approved: DepositRequest, emulator: Emulator, endl: Client
    ) -> None:
        emulator.fault(operation="start_deposit", kind="mutate", field="status", mutation="unknown")
        sender.deliver(deposits.ROAD, approved.pk, endl=endl)
        assert DepositRequest.objects.get().state == State.SUBMITTED
        assert Deposit.objects.get().status == "something_new"

    def test_by_polling(self, sent: DepositRequest, emulator: Emulator, endl: Client, now: datetime) -> None:
        assert follow(sent, endl, now).state == State.SUBMITTED
        emulator.settle()
        ended = follow(sent, endl, now)
        assert (ended.state, ended.follow_at) == (State.COMPLETED, None)
        assert Entry.objects.filter(verb="deposit.completed", actor_name="system: follow").exists()

    def test_failed_with_its_reason(
        self, sent: DepositRequest, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.settings(failing_wallets=[sent.wallet.endl_id])
        emulator.settle()
        ended = follow(sent, endl, now)
        assert ended.state == State.FAILED
        assert "rejected by the network" in ended.outcome_message

    def test_where_endl_has_no_read_of_one_the_list_is_read(
        self, sent: DepositRequest, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.settings(reads_off=["get_deposit"])
        emulator.settle()
        assert follow(sent, endl, now).state == State.COMPLETED

    def test_where_nothing_answers_it_is_looked_at_again_later(
        self, sent: DepositRequest, emulator: Emulator, now: datetime
    ) -> None:
        emulator.fault(operation="*", kind="status", code=502, times=-1)
        with Client(base_url=emulator.base_url, api_key=emulator.api_key, retries=0) as hasty:
            still = follow(sent, hasty, now)
        assert still.state == State.SUBMITTED
        assert still.follow_at is not None
        assert still.follow_at > now
        assert not line.health().is_well

    def test_by_sync(self, sent: DepositRequest, emulator: Emulator, endl: Client, now: datetime) -> None:
        emulator.settle()
        deposits.sync_money(customer=sent.wallet.customer, endl=endl, by="system: sync", now=now)
        assert DepositRequest.objects.get().state == State.COMPLETED

    def test_an_end_never_turns_back(
        self, sent: DepositRequest, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.settle()
        follow(sent, endl, now)
        Deposit.objects.update(status="failed")
        deposits.settle(Deposit.objects.get(), by="system: test", now=now)
        assert DepositRequest.objects.get().state == State.COMPLETED

    def test_an_older_word_is_no_news(self, sent: DepositRequest, now: datetime) -> None:
        deposits.settle(Deposit.objects.get(), by="system: test", now=now)
        assert DepositRequest.objects.get().state == State.SUBMITTED


class TestAlarms:
    @pytest.mark.parametrize(
        ("field", "value"),
        [("amount.amount", "26.00"), ("amount.currency", "USDT"), ("walletId", "wlt_other")],
    )
    def test_another_deposit_than_was_asked_for(
        self, approved: DepositRequest, emulator: Emulator, endl: Client,
        *, field: str, value: str,
    ) -> None:  # fmt: skip
        emulator.fault(operation="start_deposit", kind="mutate", field=field, mutation="value", value=value)
        sender.deliver(deposits.ROAD, approved.pk, endl=endl)
        assert DepositRequest.objects.get().state == State.SUBMITTED
        assert value.removesuffix(".00") in Deposit.objects.get().contradiction
        assert Entry.objects.filter(verb="deposit.differs").exists()

    def test_none_when_all_is_as_asked(self, sent: DepositRequest) -> None:
        assert Deposit.objects.get().contradiction == ""
        assert not Entry.objects.filter(verb="deposit.differs").exists()


def test_what_was_taken_teaches_that_the_customer_is_enrolled(sent: DepositRequest) -> None:
    customer = Customer.objects.get()
    assert (customer.is_known, customer.is_enrolled) == (True, True)


def test_the_checker_sees_exactly_what_is_bound(wallet: Wallet, maker: User, now: datetime) -> None:
    wish = a_deposit(wallet, by=maker, now=now)
    facts = approval_of(wish).facts
    assert facts == deposits.facts_of(DepositRequest.objects.get())
    assert (facts["amount"], facts["currency"], facts["wallet"]) == ("25.00", "USDC", "wlt_harbour")
