"""What a request says when Endl refused it, when nobody knows, and when nothing can be read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.delivery.models import State
from backoffice.endl import Client
from funding import deposits
from funding.models import DepositRequest
from tests.funding.conftest import Request, text_of
from tests.funding.desk import LIST, page_of

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]


class TestRefused:
    @pytest.mark.parametrize(
        ("amount", "seed", "reason", "remedy"),
        [
            (
                "10000.01",
                {},
                "Not enough funds in the wallet",
                "Put money into the wallet, or ask for a smaller deposit.",
            ),
            (
                "5",
                {"wallets": [{"walletId": "wlt_harbour", "customerId": "cus_other"}]},
                "The wallet is not the customer's",
                "Check the wallet's id, and that it is this customer's.",
            ),
            (
                "5",
                {"customers": [{"customerId": "cus_harbour", "type": "employee"}]},
                "Deposits for an employee are refused",
                "Use a wallet of a business or an individual: employees cannot deposit.",
            ),
            (
                "5",
                {"customers": [{"customerId": "cus_harbour", "enrolment": "none"}]},
                "The customer is not enrolled",
                "Ask the Endl contact to enrol this customer, then ask for the deposit again.",
            ),
        ],
    )
    def test_says_why_and_what_to_do(
        self,
        *,
        client_of: SignIn,
        maker: User,
        send: Request,
        emulator: "Emulator",
        amount: str,
        seed: dict[str, Any],
        reason: str,
        remedy: str,
    ) -> None:
        emulator.seed(customers=[{"customerId": "cus_other"}])
        emulator.seed(**seed)
        wish = send(amount)
        assert wish.state == State.REFUSED
        shown = text_of(client_of(maker).get(page_of(wish)))
        assert reason in shown
        assert remedy in shown
        assert "Request again with changes" in shown

    def test_an_unknown_chain_leads_to_the_field(
        self, client_of: SignIn, maker: User, send: Request, emulator: "Emulator"
    ) -> None:
        wish = send("5", chain="moon")
        shown = text_of(client_of(maker).get(page_of(wish)))
        assert "Leave the chain empty, or name one that this wallet supports." in shown


class TestUnknown:
    @pytest.fixture
    def unclear(
        self, request_deposit: Request, approve: Any, endl: Client, emulator: "Emulator"
    ) -> DepositRequest:
        wish: DepositRequest = approve(request_deposit())
        emulator.fault(operation="start_deposit", kind="drop", when="after")
        sender.deliver(deposits.ROAD, wish.pk, endl=endl)
        wish.refresh_from_db()
        assert wish.state == State.UNKNOWN
        return wish

    def test_says_what_was_sent_when_and_what_happens_next(
        self, client_of: SignIn, maker: User, unclear: DepositRequest
    ) -> None:
        shown = text_of(client_of(maker).get(page_of(unclear)))
        assert "It may have happened" in shown
        assert unclear.idempotency_key in shown
        assert "The same bytes are sent again with the same key" in shown
        assert "Next try" in shown

    def test_checker_records_that_nothing_happened(
        self, client_of: SignIn, checker: User, unclear: DepositRequest
    ) -> None:
        browser = client_of(checker)
        url = f"{LIST}{unclear.pk}/outcome/"
        answer = browser.post(url, {"outcome": "completed", "said": "Ann at Endl, by phone"})
        assert "Write down the deposit's id, as Endl named it." in text_of(answer)
        assert browser.post(url, {"outcome": "nothing", "said": ""}).status_code == 200
        assert browser.post(url, {"outcome": "nothing", "said": "Ann at Endl, by phone"}).status_code == 302
        unclear.refresh_from_db()
        assert unclear.state == State.REFUSED

    def test_maker_does_not(self, client_of: SignIn, maker: User, unclear: DepositRequest) -> None:
        assert (
            client_of(maker)
            .post(f"{LIST}{unclear.pk}/outcome/", {"outcome": "nothing", "said": "x"})
            .status_code
            == 403
        )
        unclear.refresh_from_db()
        assert unclear.state == State.UNKNOWN


class TestWithoutReads:
    @pytest.fixture
    def submitted(self, send: Request, endl: Client, emulator: "Emulator") -> DepositRequest:
        emulator.settings(reads_off=["get_deposit", "list_deposits"])
        wish = send()
        deposits.follow(wish, endl=endl, now=timezone.now())
        wish.refresh_from_db()
        assert wish.state == State.SUBMITTED
        return wish

    def test_the_page_says_how_it_ends(
        self, client_of: SignIn, maker: User, submitted: DepositRequest, settings: Settings
    ) -> None:
        browser = client_of(maker)
        shown = text_of(browser.get(page_of(submitted)))
        assert "How this ends" in shown
        assert "Endl's signed event ends it by itself." in shown
        settings.ENDL_WEBHOOK_SECRETS = []
        assert "Webhooks are off" in text_of(browser.get(page_of(submitted)))

    def test_checker_records_how_it_ended(
        self, client_of: SignIn, checker: User, submitted: DepositRequest
    ) -> None:
        given = {"status": "completed", "said": "Statement of today"}
        assert client_of(checker).post(f"{LIST}{submitted.pk}/end/", given).status_code == 302
        submitted.refresh_from_db()
        assert submitted.state == State.COMPLETED

    def test_where_endl_can_be_asked_nobody_records_an_end(
        self, client_of: SignIn, checker: User, send: Request
    ) -> None:
        wish = send()
        given = {"status": "completed", "said": "Statement of today"}
        assert client_of(checker).post(f"{LIST}{wish.pk}/end/", given).status_code == 403
