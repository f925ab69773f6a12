"""What is not right in a form gets a sentence, keeps what was typed, and reaches nobody."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import expect

from cards.models import Cardholder, CardholderRequest, CardOrder, Customer
from funding.models import DepositRequest, Wallet, Withdrawal
from tests.journeys.desk import Desk
from tests.journeys.office import Office

pytestmark = pytest.mark.browser
SitDown = Callable[..., Desk]
A_CARD_NUMBER = "4111 1111 1111 1111"


@dataclass(frozen=True)
class Mistake:
    """What somebody types, and what they are told."""

    typed: dict[str, str]
    told: tuple[str, ...]
    chosen: dict[str, str] = field(default_factory=dict)


def make(desk: Desk, button: str, mistakes: list[Mistake]) -> None:
    """Make each of these mistakes, one after another, in the form on the page."""
    for number, mistake in enumerate(mistakes, 1):
        for label, words in mistake.chosen.items():
            desk.choose(label, words)
        for label, text in mistake.typed.items():
            desk.fill(label, text)
        desk.press(button)
        desk.sees(*mistake.told)
        for label, text in mistake.typed.items():
            expect(desk.field(label)).to_have_value(text)
        for label, words in mistake.chosen.items():
            expect(desk.field(label).locator("option:checked")).to_contain_text(words)
        desk.picture(f"mistake-{number}")


def test_customers(sit_down: SitDown) -> None:
    desk = sit_down("manager")
    desk.open("Add customer")
    make(
        desk,
        "Add customer",
        [
            Mistake(
                {"Endl id": "cus_../etc", "Name": "Quay"},
                ("Copy the id from Endl, such as cus_1Xb7", "it cannot stay empty."),
            ),
            Mistake(
                {"Endl id": "cus_mistake", "Name": f"Quay {A_CARD_NUMBER}"},
                ("This looks like a card number.",),
                {"Type": "Business"},
            ),
        ],
    )
    assert not Customer.objects.filter(endl_id__startswith="cus_mistake").exists()


def test_registrations(office: Office, sit_down: SitDown, business: Customer) -> None:
    desk = sit_down("manager")
    desk.open("Register cardholder")
    mine = {"Business": business.name}
    make(
        desk,
        "Register cardholder",
        [
            Mistake(
                {"First name": "Zoë", "E-mail": "zoe@", "Phone": "555 0143"},
                (
                    "Write the last name.",
                    "Write the whole address, such as name@example.com.",
                    "no country is guessed",
                ),
                mine,
            ),
            Mistake(
                {
                    "First name": "Zo\u202eë",
                    "Last name": "Berg",
                    "E-mail": "zoe@example.com",
                    "Phone": "+1 202 555 0143 ext 4",
                },
                ("Take out the control or direction characters", "no extension"),
                mine,
            ),
        ],
    )
    assert not CardholderRequest.objects.filter(customer=business).exists()
    assert not office.effects("register_cardholder", business.endl_id)


def test_card_orders(sit_down: SitDown, cardholder: Cardholder) -> None:
    desk = sit_down("manager")
    desk.open("Issue card")
    mine = {"Cardholder": cardholder.endl_id}
    make(
        desk,
        "Issue card",
        [
            Mistake(
                {"Amount in US dollars": "1e3"},
                ("Write the amount in plain digits with a point", "Say what the card is for."),
                mine,
            ),
            Mistake(
                {"Amount in US dollars": "12.345", "Purpose": A_CARD_NUMBER},
                ("This currency takes", "This looks like a card number."),
                mine,
            ),
            Mistake(
                {"Amount in US dollars": "100000.01", "Purpose": "A car"},
                ("Give an amount from 0.01 to 100,000.00 USD.",),
                mine,
            ),
        ],
    )
    assert not CardOrder.objects.filter(cardholder=cardholder).exists()


def test_deposits(sit_down: SitDown, wallet: Wallet) -> None:
    desk = sit_down("maker")
    desk.open("Request deposit")
    mine = {"From wallet": wallet.label}
    make(
        desk,
        "Request deposit",
        [
            Mistake({"Amount": "12,50", "Note": "March"}, ("it cannot stay empty.",)),
            Mistake(
                {"Amount": "12,50", "Note": "March"}, ("Write the amount in plain digits with a point",), mine
            ),
            Mistake({"Amount": "0", "Note": "March"}, ("The amount must be more than zero.",), mine),
            Mistake(
                {"Amount": "0.1234567", "Note": A_CARD_NUMBER},
                ("This currency takes", "This looks like a card number."),
                mine,
            ),
        ],
    )
    assert not DepositRequest.objects.filter(wallet=wallet).exists()


def test_the_same_deposit_again_is_asked_about(sit_down: SitDown, wallet: Wallet) -> None:
    desk = sit_down("maker")
    for _ in range(2):
        desk.go("/")
        desk.open("Request deposit")
        desk.choose("From wallet", wallet.label)
        desk.fill("Amount", "40")
        desk.press("Request deposit")
    desk.sees("Tick if this is another one.")
    expect(desk.field("Amount")).to_have_value("40")
    desk.picture("asked")
    desk.page.get_by_label("Yes, a second deposit").check()
    desk.press("Request deposit")
    desk.sees_state("requested")
    assert DepositRequest.objects.filter(wallet=wallet).count() == 2


def test_wallets(sit_down: SitDown, business: Customer) -> None:
    desk = sit_down("maker")
    desk.open("Wallets", "Add wallet")
    mine = {"Customer": business.name}
    make(
        desk,
        "Add wallet",
        [
            Mistake(
                {"Endl id": "wlt a b", "Currency": "usdc"},
                ("Copy the id from Endl, such as wlt_1Xb7", "Write the code in capital letters"),
                mine,
            ),
        ],
    )
    assert not Wallet.objects.filter(customer=business).exists()


def test_withdrawals(sit_down: SitDown, business: Customer) -> None:
    desk = sit_down("maker")
    desk.open("Withdrawals", "Follow a withdrawal")
    make(
        desk,
        "Follow a withdrawal",
        [
            Mistake(
                {"Withdrawal id": "cwd_%2e%2e/x"},
                ("Copy the id from Endl, such as cwd_1Xb7", "it cannot stay empty."),
            ),
        ],
    )
    assert not Withdrawal.objects.filter(customer=business).exists()
