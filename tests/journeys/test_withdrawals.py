"""Withdrawals begin at Endl: they are found by sync or by their id, and followed until they end."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from cards.models import Customer
from funding.models import Withdrawal
from tests.journeys.desk import Desk
from tests.journeys.office import Office

pytestmark = pytest.mark.browser
SitDown = Callable[..., Desk]
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


def withdraw(office: Office, customer: Customer, **more: Any) -> str:
    """Have Endl begin a withdrawal; answers its id."""
    identity = customer.endl_id.replace("cus_", "cwd_")
    seed = {
        "withdrawalId": identity, "customerId": customer.endl_id, "status": "pending",
        "amount": {"amount": "310.40", "currency": "USDC"}, "destination": {"address": ADDRESS},
        "fees": [{"type": "transaction_fee", "amount": {"amount": "1.10", "currency": "USDC"}}],
        **more,
    }  # fmt: skip
    office.seed(withdrawals=[seed])
    return identity


def follow(maker: Desk, customer: Customer, identity: str) -> None:
    maker.go("/")
    maker.open("Withdrawals", "Follow a withdrawal")
    maker.choose("Customer", customer.name)
    maker.fill("Withdrawal id", identity)
    maker.press("Follow a withdrawal")


def test_sync_finds_it_and_its_page_follows_it_to_the_end(
    office: Office, sit_down: SitDown, business: Customer
) -> None:
    identity = withdraw(office, business)
    maker = sit_down("maker")
    maker.go("/")
    maker.open("Customers", business.name)
    maker.press("Sync now")
    maker.sees("is being synced; this page shows when it is done.", "This page follows the state by itself.")
    expect(maker.page.get_by_text("This page follows the state by itself.")).to_have_count(0, timeout=40_000)
    maker.open("Withdrawals")
    maker.page.get_by_role("row", name=business.name).get_by_role("link").first.click()
    maker.sees_state("pending")
    maker.sees("310.40", "1.10", ADDRESS, identity)
    # Ids are the same to the letter wherever they stand.
    expect(maker.page.get_by_role("heading", level=1)).to_contain_text(identity)
    maker.picture("pending")
    office.ask(f"withdrawals/{identity}/settle", status="completed")
    maker.sees_state("completed")
    hash_at_endl = office.ask(f"things/withdrawals/{identity}")["transactionHash"]
    maker.sees(hash_at_endl)
    maker.picture("completed")


def test_its_id_is_enough_and_a_failure_says_why(
    office: Office, sit_down: SitDown, business: Customer
) -> None:
    identity = withdraw(office, business)
    maker = sit_down("maker")
    follow(maker, business, identity)
    maker.sees("is followed: Endl says pending.")
    maker.sees_state("pending")
    office.ask(f"withdrawals/{identity}/settle", status="failed", failureReason="The address is closed")
    maker.sees_state("failed")
    maker.sees("Why it failed", "The address is closed")
    maker.picture("failed")


def test_an_id_that_endl_does_not_know_gets_a_sentence_and_stays_in_the_form(
    sit_down: SitDown, business: Customer
) -> None:
    maker = sit_down("maker")
    follow(maker, business, "cwd_nobody_has_this")
    maker.sees("Endl has no such withdrawal for this customer")
    expect(maker.field("Withdrawal id")).to_have_value("cwd_nobody_has_this")
    maker.picture("no-such-withdrawal")
    assert not Withdrawal.objects.filter(endl_id="cwd_nobody_has_this").exists()
