"""Lists made true: what is new, changed, missing, unreadable; and nothing written for what did not change."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from backoffice.audit.models import Entry
from backoffice.endl import Client
from backoffice.mirror import pull
from backoffice.mirror.models import Pull, Read
from cards.models import Customer
from funding import sync
from funding.models import Deposit, Wallet, Withdrawal

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db


def deposits(customer: Customer, endl: Client, now: datetime | None = None) -> pull.Taken:
    return sync.sync_deposits(customer=customer, endl=endl, by="system: sync", now=now or timezone.now())


def withdrawals(customer: Customer, endl: Client, now: datetime | None = None) -> pull.Taken:
    return sync.sync_withdrawals(customer=customer, endl=endl, by="system: sync", now=now or timezone.now())


def sow(emulator: "Emulator", customer: Customer, count: int, kind: str = "deposits") -> None:
    name, prefix = ("depositId", "cdp") if kind == "deposits" else ("withdrawalId", "cwd")
    emulator.seed(**{kind: [{name: f"{prefix}_{n}", "customerId": customer.endl_id} for n in range(count)]})


class TestForms:
    @pytest.mark.parametrize("form", ["array", "object", "paged"])
    @pytest.mark.parametrize("kind", ["deposits", "withdrawals"])
    def test_every_form_of_a_list_is_read(
        self, emulator: "Emulator", business: Customer, endl: Client, form: str, kind: str
    ) -> None:
        emulator.settings(list_form=form, page_size=3)
        sow(emulator, business, 10, kind)
        taken = (deposits if kind == "deposits" else withdrawals)(business, endl)
        assert taken == pull.Taken(added=10)
        assert Pull.objects.get(kind=kind).items == 10

    def test_a_page_that_fails_leaves_every_row_as_it_was(
        self, emulator: "Emulator", business: Customer, endl: Client
    ) -> None:
        emulator.settings(list_form="paged", page_size=3)
        sow(emulator, business, 10)
        deposits(business, endl)
        emulator.fault(operation="list_deposits", kind="error", code="ERRCRD_1005", skip=2)
        assert deposits(business, endl) == pull.Taken()
        assert not Deposit.objects.exclude(missing_since=None).exists()
        assert Pull.objects.get(kind="deposits").trouble == "A field broke a rule"

    def test_what_cannot_be_read_is_counted_and_may_be_any_row(
        self, emulator: "Emulator", business: Customer, endl: Client
    ) -> None:
        emulator.settings(list_form="paged", page_size=2)
        sow(emulator, business, 3)
        deposits(business, endl)
        emulator.fault(operation="list_deposits", kind="mutate", field="items.depositId", mutation="null")
        assert deposits(business, endl) == pull.Taken()
        assert Pull.objects.get(kind="deposits").unreadable == 2
        assert not Deposit.objects.exclude(missing_since=None).exists()

    @pytest.mark.parametrize("status", [404, 405, 501])
    def test_a_list_that_endl_lacks_is_switched_off_and_said(
        self, emulator: "Emulator", business: Customer, endl: Client, status: int
    ) -> None:
        Customer.objects.update(is_known=True)
        business.refresh_from_db()
        emulator.settings(reads_off=["list_deposits", "list_withdrawals"], reads_off_status=status)
        deposits(business, endl)
        withdrawals(business, endl)
        assert Read.objects.exclude(off_since=None).count() == 2
        assert Pull.objects.get(kind="deposits").trouble == "Endl has no such list on this connection."
        before = emulator.requests_seen()
        deposits(business, endl)
        assert emulator.requests_seen() == before


class TestRows:
    def test_a_row_that_a_whole_list_lacks_is_marked_and_cleared_when_it_is_back(
        self, emulator: "Emulator", business: Customer, endl: Client
    ) -> None:
        sow(emulator, business, 2)
        deposits(business, endl)
        Deposit.objects.filter(endl_id="cdp_0").update(endl_id="cdp_gone")
        assert deposits(business, endl) == pull.Taken(added=1, missing=1)
        gone = Deposit.objects.get(endl_id="cdp_gone")
        assert gone.missing_since is not None
        emulator.seed(deposits=[{"depositId": "cdp_gone", "customerId": business.endl_id}])
        assert deposits(business, endl).changed == 1
        gone.refresh_from_db()
        assert gone.missing_since is None

    def test_a_row_that_came_after_the_question_is_not_missing(
        self, business: Customer, endl: Client, emulator: "Emulator", now: datetime
    ) -> None:
        sow(emulator, business, 1)
        deposits(business, endl)
        Deposit.objects.update(endl_id="cdp_new", first_seen_at=now + timedelta(minutes=1))
        deposits(business, endl, now)
        assert Deposit.objects.get(endl_id="cdp_new").missing_since is None

    def test_a_row_never_changes_hands(self, emulator: "Emulator", business: Customer, endl: Client) -> None:
        other = Customer.objects.create(
            endl_id="cus_other", name="Other", type="business", added_by=business.added_by
        )
        sow(emulator, business, 1)
        deposits(business, endl)
        emulator.seed(customers=[{"customerId": "cus_other"}])
        emulator.seed(deposits=[{"depositId": "cdp_0", "customerId": "cus_other"}])
        deposits(other, endl)
        assert Deposit.objects.get().customer == business

    def test_wallets_are_learned_once(self, emulator: "Emulator", business: Customer, endl: Client) -> None:
        emulator.seed(
            deposits=[{"depositId": "cdp_1", "customerId": business.endl_id, "walletId": "wlt_seen"}],
            withdrawals=[
                {
                    "withdrawalId": "cwd_1",
                    "customerId": business.endl_id,
                    "destination": {"walletId": "wlt_seen"},
                }
            ],
        )
        deposits(business, endl)
        withdrawals(business, endl)
        wallet = Wallet.objects.get()
        assert (wallet.endl_id, wallet.source, wallet.currency) == ("wlt_seen", Wallet.Source.LEARNED, "")
        assert Deposit.objects.get().wallet == Withdrawal.objects.get().destination_wallet == wallet

    def test_news_make_one_entry_and_no_news_none(
        self, emulator: "Emulator", business: Customer, endl: Client
    ) -> None:
        sow(emulator, business, 5)
        deposits(business, endl)
        deposits(business, endl)
        entry = Entry.objects.get(verb="customer.sync_deposits")
        assert entry.new == {"added": 5, "changed": 0, "missing": 0}

    def test_an_unchanged_row_is_not_written_again(
        self, emulator: "Emulator", business: Customer, endl: Client, django_assert_max_num_queries: Any
    ) -> None:
        sow(emulator, business, 10)
        deposits(business, endl)
        before = Deposit.objects.get(endl_id="cdp_0").changed_at
        with django_assert_max_num_queries(40) as seen:
            deposits(business, endl)
            few, written = len(seen), [query["sql"] for query in seen if query["sql"].startswith("UPDATE")]
        assert not [sql for sql in written if "funding_deposit" in sql and "missing_since" not in sql]
        assert Deposit.objects.get(endl_id="cdp_0").changed_at == before
        sow(emulator, business, 200)
        deposits(business, endl)
        with django_assert_max_num_queries(few):
            deposits(business, endl)
        assert Deposit.objects.count() == 200


class TestTwoAtOnce:
    def test_one_that_runs_keeps_the_next_away(
        self, emulator: "Emulator", business: Customer, endl: Client, now: datetime
    ) -> None:
        sow(emulator, business, 1)
        assert pull.start("deposits", business.endl_id, now=now) is not None
        assert deposits(business, endl, now) == pull.Taken()
        assert not Deposit.objects.exists()
        later = now + pull.GIVEN_UP_AFTER + timedelta(seconds=1)
        assert deposits(business, endl, later).added == 1

    @pytest.mark.django_db(transaction=True)
    def test_of_four_one_asks(self, emulator: "Emulator", business: Customer, endl: Client) -> None:
        sow(emulator, business, 3)
        emulator.fault(operation="list_deposits", kind="hang", seconds=0.5, then="answer", when="after")

        def one(_: int) -> pull.Taken:
            try:
                return deposits(business, endl)
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            taken = list(pool.map(one, range(4)))
        assert sorted(each.added for each in taken) == [0, 0, 0, 3]
        assert Entry.objects.filter(verb="customer.sync_deposits").count() == 1
