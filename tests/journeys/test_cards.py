"""A card, from a customer that nobody here knows to the masked number: three people, no shell."""

import re
import time
from collections.abc import Callable

import pytest
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import expect

from backoffice.access import sessions
from cards.models import Card, Cardholder, CardholderRequest, CardOrder, CardReveal
from tests.journeys.desk import PATIENCE_MS, Desk
from tests.journeys.office import Office

pytestmark = pytest.mark.browser
SitDown = Callable[..., Desk]
NewCustomer = Callable[..., str]


def add_customer(manager: Desk, endl_id: str, name: str, type: str = "Business") -> None:
    manager.go("/")
    manager.open("Add customer")
    manager.fill("Endl id", endl_id)
    manager.fill("Name", name)
    manager.choose("Type", type)
    manager.press("Add customer")
    manager.sees("is added. Endl is being asked about it.")


def register(desk: Desk, email: str) -> None:
    desk.open("Register cardholder")
    desk.fill("First name", "Zoë")
    desk.fill("Last name", "O'Neill-Łukasz")
    desk.fill("E-mail", email)
    desk.fill("Phone", "+1 202 555 0143")
    desk.picture("registration")
    desk.press("Register cardholder")
    desk.sees_state("registered")


def order(manager: Desk, amount: str, purpose: str) -> None:
    manager.fill("Amount in US dollars", amount)
    manager.fill("Purpose", purpose)
    manager.picture("order-filled-in")
    manager.press("Issue card")


def approve_as_compliance(desk: Desk, email: str) -> None:
    desk.go("/")
    desk.open("Cardholders")
    desk.page.get_by_label("Search this list").fill(email)
    desk.page.keyboard.press("Enter")
    desk.page.get_by_role("rowheader").get_by_role("link", name="O'Neill").click()
    desk.picture("to-review")
    desk.press("Approve")
    desk.sees("is approved.")


def test_from_an_id_to_an_issued_card(office: Office, sit_down: SitDown, new_customer: NewCustomer) -> None:
    endl_id = new_customer()
    email = f"zoe.{endl_id}@example.com"
    manager, compliance = sit_down("manager"), sit_down("compliance")
    add_customer(manager, endl_id, f"Quay {endl_id}")
    expect(manager.page.locator(".object-title [data-state=is_enabled_yes]")).to_be_visible(
        timeout=PATIENCE_MS
    )
    manager.press("Sync now")
    manager.sees("is being synced; this page shows when it is done.", "Known to Endl", "Enabled for cards")
    manager.picture("customer")

    register(manager, email)
    manager.follow("Zoë O'Neill-Łukasz")
    assert not manager.has_button("Issue card")
    manager.sees("Compliance has not approved")
    manager.picture("not-approved-yet")
    holder_page = manager.page.url
    assert not manager.has_button("Approve")

    approve_as_compliance(compliance, email)
    manager.go(holder_page)
    manager.open("Issue card")
    # Slow enough to be seen on its way.
    office.fault(operation="issue_card", kind="hang", when="after", seconds=1.5, customer=endl_id)
    order(manager, "19.99", "Hotel in Gdańsk")
    on_its_way = manager.page.locator(".object-title").locator("[data-state=approved], [data-state=sending]")
    expect(on_its_way).to_be_visible()
    manager.picture("on-its-way")
    manager.sees_state("issued")
    manager.sees("Hotel in Gdańsk", "19.99", "Approved by rule")
    manager.picture("issued")

    manager.follow("••••")
    card = Card.objects.get(cardholder__customer__endl_id=endl_id)
    details = office.ask(f"details/{card.endl_id}")
    manager.sees(f"•••• •••• •••• {details['number'][-4:]}")
    manager.sees(f"Expires {details['expiryMonth']:02d}/{details['expiryYear'] % 100:02d}")
    manager.picture("card")
    wish = CardOrder.objects.get(card=card)
    assert (wish.amount_cents, b"Gda" in bytes(wish.body)) == (1999, False)
    assert len(office.effects("issue_card", endl_id)) == 1


def test_what_endl_did_not_say_is_read_from_the_sealed_details_on_the_server(
    office: Office, sit_down: SitDown, cardholder: Cardholder
) -> None:
    endl_id = cardholder.customer.endl_id
    office.fault(operation="issue_card", kind="mutate", field="last4", mutation="absent", customer=endl_id)
    manager = sit_down("manager")
    manager.go(f"/admin/cards/cardholder/{cardholder.pk}/change/")
    manager.open("Issue card")
    order(manager, "5", "Train")
    manager.sees_state("issued")
    manager.follow("••••")
    expect(manager.page.locator(".masked-number")).to_have_text(re.compile(r"•••• \d{4}$"))
    card = Card.objects.get(cardholder=cardholder)
    details = office.ask(f"details/{card.endl_id}")
    assert card.last4 == ""
    manager.sees(f"•••• •••• •••• {details['number'][-4:]}")
    manager.picture("opened-on-the-server")
    looks = CardReveal.objects.filter(details__order__card=card)
    assert [(look.by.username, look.purpose) for look in looks] == [("manager", CardReveal.Purpose.MASK)]
    # Nothing but the last four ever reached the browser.
    assert details["number"] not in manager.page.content()


def test_whoever_registered_somebody_may_not_review_them(
    sit_down: SitDown, new_customer: NewCustomer
) -> None:
    endl_id = new_customer()
    deputy = sit_down("deputy")
    add_customer(deputy, endl_id, f"Pier {endl_id}")
    register(deputy, f"zoe.{endl_id}@example.com")
    deputy.follow("Zoë O'Neill-Łukasz")
    deputy.sees("You registered this cardholder: another person must review them.")
    assert not deputy.has_button("Approve")
    deputy.picture("own-registration")
    assert CardholderRequest.objects.get(customer__endl_id=endl_id).cardholder.review_state == "unreviewed"  # type: ignore[union-attr]


def test_endl_says_when_a_customer_is_no_business_not_enabled_or_unknown(
    sit_down: SitDown, new_customer: NewCustomer
) -> None:
    manager = sit_down("manager")
    for endl_id, words in {
        new_customer(type="individual"): "Not a business",
        new_customer(cardsEnabled=False): "Not enabled for cards",
        "cus_nobody_has_this": "Unknown to Endl",
    }.items():
        add_customer(manager, endl_id, f"Odd {endl_id}")
        badge = manager.page.locator(".object-title").get_by_text(words)
        expect(badge).to_be_visible(timeout=PATIENCE_MS)
        manager.sees("What to do")
        manager.picture(words.lower().replace(" ", "-"))
        assert not manager.has_button("Register cardholder") or words == "Unknown to Endl"


def test_a_large_order_waits_for_a_checker_and_its_page_renews_nobodys_session(
    sit_down: SitDown, cardholder: Cardholder
) -> None:
    manager, checker = sit_down("manager"), sit_down("checker")
    manager.go(f"/admin/cards/cardholder/{cardholder.pk}/change/")
    manager.open("Issue card")
    order(manager, "1000.01", "A machine")
    manager.sees_state("requested")
    long_ago = time.time() - 300
    session = session_of(manager)
    session[sessions.LAST_SEEN] = long_ago
    session.save()
    for _ in range(2):
        with manager.page.expect_response("**/state/"):
            pass
    assert session_of(manager)[sessions.LAST_SEEN] == long_ago
    checker.go(manager.page.url)
    checker.picture("large-order-to-decide-on")
    checker.press("Approve")
    checker.sees_state("issued")
    manager.go("/")
    assert session_of(manager)[sessions.LAST_SEEN] > long_ago


def session_of(desk: Desk) -> SessionStore:
    cookies = {cookie["name"]: cookie["value"] for cookie in desk.context.cookies()}
    return SessionStore(cookies["office_session"])
