"""The main job against servers that read the documents in other ways: with each it comes to its end.

What is the same for all of them: one cardholder, one card, one deposit, and a card's page that shows the
last four of the number that was really issued.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from cards.models import Card, CardholderRequest, CardOrder, Customer
from funding.models import DepositRequest
from tests.journeys.clerk import Clerk, Page, Staff
from tests.journeys.office import Office, until

pytestmark = pytest.mark.worker
ALL_READS = ["get_deposit", "list_deposits", "list_withdrawals"]
POSTS = ["register_cardholder", "issue_card", "start_deposit"]
SECONDS = 40


@dataclass(frozen=True)
class Server:
    """One way to be Endl.

    Attributes:
        switches: how the emulator is set.
        wallet_id: the wallet's id there; likewise the customer's.
        by_hand: nothing tells how a deposit ends, so a person does.
    """

    switches: dict[str, Any] = field(default_factory=dict)
    customer_id: str = "cus_{}"
    wallet_id: str = "wlt_{}"
    by_hand: bool = False


def lacking(reads: list[str], status: int) -> Server:
    return Server({"reads_off": reads, "reads_off_status": status})


SERVERS = {
    "as we think it is": Server(),
    **{f"no assumed read, {status}": lacking(ALL_READS, status) for status in (404, 405, 501)},
    **{f"no {read}": lacking([read], 405) for read in ALL_READS},
    "no assumed read, no webhooks": Server({"reads_off": ALL_READS, "webhook_url": None}, by_hand=True),
    "no webhooks": Server({"webhook_url": None}),
    "no webhooks and only the list": Server({"webhook_url": None, "reads_off": ["get_deposit"]}),
    "lists as objects": Server({"list_form": "object"}),
    "lists by pages": Server({"list_form": "paged", "page_size": 1}),
    "keys insisted on everywhere": Server({"keys_required": POSTS, "unknown_fields": "refuse"}),
    "keys of registrations ignored": Server(
        {"registration_keys": "ignore", "duplicate_emails": True, "keys_required": []}
    ),
    "200 for what is made": Server({"success_status": 200}),
    "deposits completed at once": Server({"deposit_status": "completed"}),
    "JWE": Server({"envelope_form": "jwe"}),
    "RSA alone, as text": Server({"envelope_form": "direct", "plaintext_names": "pan"}),
    "RSA alone, as an object": Server({"envelope_form": "direct-object", "plaintext_names": "card"}),
    "RSA alone, as data": Server({"envelope_form": "direct-data", "plaintext_names": "expiry"}),
    "the tag at the end, base64url": Server({"envelope_tag": "appended", "envelope_base64": "url"}),
    "ids without prefixes": Server({"id_form": "uuid"}, "7b0e1d62-0c7f-4b7e-9a51-6f0f3c{:06d}", "{:d}"),
}


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_the_main_job_comes_to_its_right_end(
    office: Office, staff: Staff, server: Server, number: int
) -> None:
    office.settings(**server.switches)
    job = Job(office, staff, server.customer_id.format(number), server.wallet_id.format(number))
    job.begin()
    job.issue_a_card()
    job.deposit(by_hand=server.by_hand)
    for operation in POSTS:
        assert len(office.effects(operation, job.customer_id)) == 1, operation


@pytest.mark.parametrize("replay", ["409", "first-result"])
def test_a_card_whose_answer_was_lost_is_found_or_told_again(
    office: Office, staff: Staff, number: int, replay: str
) -> None:
    job = Job(office, staff, f"cus_{number}", f"wlt_{number}")
    job.begin()
    office.settings(card_replay=replay)
    office.fault(operation="issue_card", kind="drop", when="after", customer=job.customer_id)
    if replay == "409":
        job.order_a_card("details_lost")
        found = CardOrder.objects.filter(cardholder__customer=job.customer, card__isnull=False)
        customer = staff.manager.look(f"/admin/cards/customer/{job.customer.pk}/change/")
        staff.manager.press(customer, "Sync now")
        assert until(found.exists, SECONDS)
        page = staff.manager.look(f"/admin/cards/card/{found.get().card_id}/change/")
        assert office.effects("issue_card", job.customer_id)[0]["object_id"] in page.text
    else:
        job.issue_a_card()
    assert len(office.effects("issue_card", job.customer_id)) == 1


@pytest.mark.parametrize("names_field", [True, False])
def test_what_a_field_broke_is_shown_whether_endl_names_the_field_or_not(
    office: Office, staff: Staff, number: int, names_field: bool
) -> None:
    office.settings(name_field=names_field)
    job = Job(office, staff, f"cus_{number}", f"wlt_{number}")
    job.begin()
    # A rule of Endl's that this office does not know.
    office.fault(
        operation="register_cardholder", kind="status", code=400,
        body={"code": 400, "message": "Bad Request", "status": "ERROR", "data": None, "errors": [
            {"code": "ERRCRD_1005", "message": "email must not be a role address",
             "field": "email" if names_field else None}]},
    )  # fmt: skip
    page = job.register("info@example.com", "refused")
    assert "email must not be a role address" in page.text
    again = staff.manager.look(page.links["Register again with changes"])
    assert again.form_with("Register cardholder").fields["email"] == "info@example.com"


@pytest.fixture
def number(new_customer: Callable[..., str]) -> int:
    """A number that no other journey has."""
    return int(new_customer().removeprefix("cus_journey"))


@dataclass
class Job:
    """The main job, step by step, for one customer."""

    office: Office
    staff: Staff
    customer_id: str
    wallet_id: str

    @property
    def customer(self) -> Customer:
        return Customer.objects.get(endl_id=self.customer_id)

    def begin(self) -> None:
        """The customer, a cardholder whom compliance approves, a wallet."""
        pot = {"chain": "base", "currency": "USDC", "balance": "500.00"}
        self.office.seed(
            customers=[{"customerId": self.customer_id, "name": "Elsewhere"}],
            wallets=[{"walletId": self.wallet_id, "customerId": self.customer_id, **pot}],
        )
        self.staff.manager.ask_for(
            "cards/customer", "Add customer", endl_id=self.customer_id, name="Elsewhere", type="business"
        )
        self.register(f"omar.{self.customer_id}@example.com", "registered")
        holder = self._holder_page()
        page = self.staff.compliance.look(holder)
        assert "is approved." in self.staff.compliance.press(page, "Approve").text
        self.staff.maker.ask_for(
            "funding/wallet", "Add wallet", customer=self.customer.pk, endl_id=self.wallet_id, label="Pot",
            chain="base", currency="USDC",
        )  # fmt: skip

    def register(self, email: str, expected: str) -> Page:
        page = self.staff.manager.ask_for(
            "cards/cardholderrequest", "Register cardholder", customer=self.customer.pk, first_name="Omar",
            last_name="Díaz", email=email, phone="+12025550179",
        )  # fmt: skip
        return comes_to(self.staff.manager, page, expected)

    def _holder_page(self) -> str:
        wish = CardholderRequest.objects.get(customer=self.customer)
        return f"/admin/cards/cardholder/{wish.cardholder_id}/change/"

    def order_a_card(self, expected: str) -> Page:
        holder = CardholderRequest.objects.get(customer=self.customer).cardholder_id
        page = self.staff.manager.ask_for(
            "cards/cardorder", "Issue card", cardholder=holder, amount="19.99", purpose="Train"
        )
        return comes_to(self.staff.manager, page, expected)

    def issue_a_card(self) -> None:
        """Order a card and look at it. Endl leaves out the last four, so its envelope has to be opened."""
        spoil = {"operation": "issue_card", "kind": "mutate", "field": "last4", "mutation": "absent"}
        self.office.fault(**spoil, customer=self.customer_id)
        self.order_a_card("issued")
        card = Card.objects.get(cardholder__customer=self.customer)
        details = self.office.ask(f"details/{card.endl_id}")
        manager = self.staff.manager
        page = manager.look(f"/admin/cards/card/{card.pk}/change/")
        shown = manager.press(page, "Show last four and expiry")
        assert f"•••• {details['number'][-4:]}" in shown.text
        assert f"Expires {details['expiryMonth']:02d}/{details['expiryYear'] % 100:02d}" in shown.text

    def deposit(self, *, by_hand: bool = False) -> None:
        """Ask for a deposit, approve it, and see it through to its end."""
        wallet = self.customer.wallets.get()
        page = self.staff.maker.ask_for(
            "funding/depositrequest", "Request deposit", wallet=wallet.pk, amount="12.50"
        )
        checker = self.staff.checker
        page = checker.press(checker.look(page.url), "Approve")
        if by_hand:
            page = comes_to(checker, page, "submitted")
            assert until(lambda: "Record how it ended" in checker.look(page.url).links, SECONDS)
            asked = checker.look(checker.look(page.url).links["Record how it ended"])
            checker.press(asked, "Record how it ended", status="completed", said="Ada at Endl, by phone")
        comes_to(checker, page, "completed")
        made = DepositRequest.objects.get(wallet=wallet).deposit
        assert made is not None
        assert made.endl_id == self.office.effects("start_deposit", self.customer_id)[0]["object_id"]


def comes_to(clerk: Clerk, page: Page, state: str) -> Page:
    """Look at a request's page until it is in a state."""
    assert until(lambda: clerk.look(page.url).state == state, SECONDS), clerk.look(page.url).text[-3000:]
    return clerk.look(page.url)
