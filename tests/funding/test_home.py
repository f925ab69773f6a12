"""What the home page says of money: counts that lead to lists, and thirty days in a picture and a table."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.delivery.models import State
from cards.models import Customer
from funding import home
from funding.models import Deposit, DepositRequest, Withdrawal
from tests.funding.conftest import Request, text_of
from tests.funding.movements import a_deposit, a_withdrawal
from tests.people import a_person, as_now

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]


def facts(person: User) -> dict[str, str]:
    """The counts, each with the address that it leads to."""
    return {fact.label: str(fact.value) for panel in home.panels(as_now(person)) for fact in panel.facts}


def followed(browser: Browser, fact: str) -> int:
    """How many rows the list shows that a count leads to."""
    url = fact.split('href="')[1].split('"', maxsplit=1)[0].replace("&amp;", "&")
    return int(browser.get(url).context["cl"].result_count)


class TestCounts:
    def test_lead_to_lists_of_as_many(
        self, client_of: SignIn, maker: User, checker: User, request_deposit: Request, business: Customer
    ) -> None:
        for amount in ("1", "2", "3", "4"):
            request_deposit(amount)
        now = timezone.now()
        DepositRequest.objects.filter(amount=3).update(
            state=State.UNKNOWN, state_at=now, unclear_at=now, needs_person=True
        )
        DepositRequest.objects.filter(amount=4).update(state=State.REFUSED, state_at=now)
        a_withdrawal(business)
        expected = {
            "Deposits waiting for my decision": 2,
            "Unknown outcomes": 1,
            "Needing a person": 1,
            "Refused in the last 7 days": 1,
            "Pending withdrawals": 1,
            "Failed webhook events": 0,
        }
        found, browser = facts(checker), client_of(checker)
        assert {label: followed(browser, fact) for label, fact in found.items()} == expected
        for label, count in expected.items():
            assert f">{count}</a>" in found[label], label
        assert ">3</a>" in facts(maker)["My open requests"]

    def test_only_what_a_role_may_see(self, request: pytest.FixtureRequest) -> None:
        for who in ("manager", "superuser", "outsider", "administrator"):
            assert home.panels(request.getfixturevalue(who)) == []

    def test_only_the_customers_of_the_person(self, request_deposit: Request, business: Customer) -> None:
        request_deposit()
        a_deposit(business, createdAt=timezone.now().isoformat())
        stranger = a_person("stranger", roles.FINANCE_CHECKER, works_for_all=False)
        assert all(">0</a>" in fact for fact in facts(stranger).values())
        (picture,) = [panel for panel in home.panels(stranger) if panel.template]
        assert json.loads(picture.context["chart"])["datasets"] == []

    def test_takes_as_many_questions_for_many_as_for_few(
        self, checker: User, business: Customer, request_deposit: Request, django_assert_max_num_queries: Any
    ) -> None:
        request_deposit("1")
        with django_assert_max_num_queries(40) as one:
            home.panels(as_now(checker))
            few = len(one)
        for number in range(2, 12):
            request_deposit(str(number))
            a_deposit(business, depositId=f"cdp_{number}", createdAt=timezone.now().isoformat())
        with django_assert_max_num_queries(few):
            home.panels(as_now(checker))


class TestPicture:
    @pytest.fixture
    def moved(self, business: Customer) -> None:
        now = timezone.now()
        for number, (days, status, currency) in enumerate(
            [
                (0, "completed", "USDC"),
                (0, "completed", "USD"),
                (2, "failed", "USDC"),
                (29, "pending", "USDC"),
                (31, "completed", "USDC"),
                (1, "on_hold", "USDC"),
            ]
        ):
            a_deposit(
                business,
                depositId=f"cdp_{number}",
                status=status,
                amount={"amount": f"{number + 1}.50", "currency": currency},
                createdAt=(now - timedelta(days=days)).isoformat(),
            )
        a_withdrawal(business, createdAt=now.isoformat())

    @pytest.mark.usefixtures("moved")
    def test_counts_by_day_and_state(self, auditor: User) -> None:
        (picture,) = [panel for panel in home.panels(auditor) if panel.template]
        chart = json.loads(picture.context["chart"])
        bars = {bar["label"]: bar["data"] for bar in chart["datasets"]}
        assert len(chart["labels"]) == 30
        assert bars["Deposits completed"][-1] == 2
        assert bars["Deposits failed"][-3] == 1
        assert bars["Deposits pending"][0] == 1
        assert bars["Deposits on_hold"][-2] == 1
        assert bars["Withdrawals pending"][-1] == 1
        assert sum(sum(data) for data in bars.values()) == 6

    @pytest.mark.usefixtures("moved")
    def test_never_mixes_currencies(self, client_of: SignIn, auditor: User) -> None:
        (picture,) = [panel for panel in home.panels(auditor) if panel.template]
        today = f"{timezone.localdate():%Y-%m-%d}"
        sums = [
            text
            for day, kind, _, _, text in picture.context["table"].rows
            if (day, kind) == (today, "Deposits")
        ]
        assert ["1.50" in str(text) or "2.50" in str(text) for text in sums] == [True, True]
        page = client_of(auditor).get("/admin/")
        assert "The same as a table, with sums per currency" in text_of(page)
        assert "data-value=" in page.content.decode()

    def test_a_row_without_a_date_counts_from_when_it_was_seen(
        self, auditor: User, business: Customer
    ) -> None:
        a_deposit(business, createdAt=None)
        assert Deposit.objects.get().created_at is None
        (picture,) = [panel for panel in home.panels(auditor) if panel.template]
        assert json.loads(picture.context["chart"])["datasets"][0]["data"][-1] == 1

    def test_a_quiet_month_says_so(self, client_of: SignIn, auditor: User) -> None:
        assert not Withdrawal.objects.exists()
        assert "Nothing moved in these days." in text_of(client_of(auditor).get("/admin/"))
