"""A deposit, from the wish to the money: two people, two browsers, no shell."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from cards.models import Customer
from funding.models import DepositRequest, Wallet
from tests.journeys.desk import Desk
from tests.journeys.office import Office

pytestmark = pytest.mark.browser
SitDown = Callable[..., Desk]


def request_deposit(maker: Desk, wallet: Wallet, amount: str = "12.50") -> str:
    """Ask for a deposit from the home page; answers the path of its page."""
    maker.go("/")
    maker.open("Request deposit")
    maker.choose("From wallet", wallet.label)
    maker.fill("Amount", amount)
    maker.fill("Note", "Card spend in March")
    maker.picture("filled-in")
    maker.press("Request deposit")
    maker.sees_state("requested")
    return maker.page.url


def find_and_open(checker: Desk, customer: Customer) -> None:
    """Find what waits for a decision, from the home page."""
    checker.go("/")
    checker.open("Deposit requests")
    checker.page.get_by_label("Search this list").fill(customer.name)
    checker.page.keyboard.press("Enter")
    checker.page.locator("table").get_by_role("link").filter(visible=True, has_text="USDC").first.click()


def test_one_asks_another_approves_and_a_webhook_completes(
    office: Office, sit_down: SitDown, wallet: Wallet
) -> None:
    office.settings(settle_seconds=2.0, deposit_fee="0.25")
    maker, checker = sit_down("maker"), sit_down("checker")
    page = request_deposit(maker, wallet)
    maker.sees("You made this request: another person must decide on it.", "Nothing was sent yet.")
    assert not maker.has_button("Approve")
    maker.picture("requested")

    find_and_open(checker, wallet.customer)
    assert checker.page.url.partition("?")[0] == page
    shown = checker.page.locator(".body-bytes pre").inner_text()
    wish = DepositRequest.objects.get(wallet=wallet)
    assert shown.replace("\n", "").replace(" ", "") == bytes(wish.body).decode().replace(" ", "")
    checker.sees(wallet.endl_id, wish.idempotency_key, "POST /api/v0/cards/", "12.50", office.endl_url)
    checker.picture("to-decide-on")
    checker.press("Approve")
    checker.sees("is approved; it is sent within seconds.")
    # Nobody loads a page again by hand from here on.
    checker.sees_state("submitted")
    checker.picture("submitted")
    for desk in (checker, maker):
        desk.sees_state("completed")
    checker.picture("completed")
    checker.open("cdp_")
    checker.sees("Completed", "0.25")
    checker.picture("the-deposit-at-endl")
    assert len(office.effects("start_deposit", wallet.customer.endl_id)) == 1


def test_without_webhooks_asking_endl_completes_it(office: Office, sit_down: SitDown, wallet: Wallet) -> None:
    office.settings(webhook_url=None)
    maker, checker = sit_down("maker"), sit_down("checker")
    page = request_deposit(maker, wallet, "20")
    checker.go(page)
    checker.press("Approve")
    checker.sees_state("completed")


def test_whoever_decides_second_is_told_who_was_first(sit_down: SitDown, wallet: Wallet) -> None:
    page = request_deposit(sit_down("maker"), wallet, "21")
    first, second = sit_down("checker"), sit_down("checker2")
    for desk in (first, second):
        desk.go(page)
    first.press("Approve")
    first.sees("is approved")
    second.press("Approve")
    second.sees("checker")
    second.picture("somebody-was-first")
    wish = DepositRequest.objects.get(wallet=wallet)
    assert wish.approval is not None
    assert [str(made.person.username) for made in wish.approval.decisions.all()] == ["checker"]


def test_a_rejection_says_why_and_sends_nothing(office: Office, sit_down: SitDown, wallet: Wallet) -> None:
    maker, checker = sit_down("maker"), sit_down("checker")
    page = request_deposit(maker, wallet, "22")
    checker.go(page)
    checker.press("Reject")
    checker.sees("Say why you reject it: the maker will read it.")
    checker.fill("Reason", "The card spend of March is paid already.")
    checker.press("Reject")
    checker.sees_state("rejected")
    maker.sees_state("rejected")
    maker.sees("The card spend of March is paid already.")
    maker.picture("rejected")
    assert not office.effects("start_deposit", wallet.customer.endl_id)


def too_much(office: Office, wallet: Wallet) -> str:
    pot = {"chain": "base", "currency": "USDC", "balance": "40.00"}
    office.seed(wallets=[{"walletId": wallet.endl_id, "customerId": wallet.customer.endl_id, **pot}])
    return "41"


def an_employee(office: Office, wallet: Wallet) -> str:
    office.seed(customers=[{"customerId": wallet.customer.endl_id, "type": "employee"}])
    return "23"


def somebody_elses_wallet(office: Office, wallet: Wallet) -> str:
    office.seed(wallets=[{"walletId": wallet.endl_id, "customerId": "cus_somebody_else"}])
    return "23"


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (too_much, "Not enough funds"),
        (an_employee, "employee"),
        (somebody_elses_wallet, "wallet"),
    ],
)
def test_what_endl_refuses_shows_its_reason_and_what_to_do(
    office: Office,
    sit_down: SitDown,
    wallet: Wallet,
    trouble: Callable[[Office, Wallet], str],
    reason: str,
) -> None:
    amount = trouble(office, wallet)
    page = request_deposit(sit_down("maker"), wallet, amount)
    checker = sit_down("checker")
    checker.go(page)
    checker.press("Approve")
    checker.sees_state("refused")
    checker.sees("Endl said", "What to do")
    said = checker.page.get_by_label("Endl said", exact=True)
    expect(said).to_contain_text(reason)
    checker.picture("refused")
    assert not office.effects("start_deposit", wallet.customer.endl_id)


def test_where_no_answer_came_the_page_says_so_and_a_repeat_ends_it(
    office: Office, sit_down: SitDown, wallet: Wallet
) -> None:
    office.fault(operation="start_deposit", kind="drop", when="after", customer=wallet.customer.endl_id)
    # The first repeat gets no answer either, so that there is time to look.
    office.fault(operation="start_deposit", kind="drop", when="before", customer=wallet.customer.endl_id)
    page = request_deposit(sit_down("maker"), wallet, "24")
    checker = sit_down("checker")
    checker.go(page)
    checker.press("Approve")
    checker.sees_state("unknown")
    checker.sees("It was sent, and no clear answer came: it may have happened.", "It may have happened")
    checker.picture("unknown")
    checker.sees_state("completed")
    checker.picture("and-yet-it-ended")
    assert len(office.effects("start_deposit", wallet.customer.endl_id)) == 1


def test_a_failed_one_says_why(office: Office, sit_down: SitDown, wallet: Wallet) -> None:
    office.settings(failing_amounts=["25.00"], failure_reason={"code": "NET_7", "detail": "no route"})
    page = request_deposit(sit_down("maker"), wallet, "25.00")
    checker = sit_down("checker")
    checker.go(page)
    checker.press("Approve")
    checker.sees_state("failed")
    checker.sees("no route")
    checker.picture("failed")
