"""What the pages offer where nobody knows whether a card was issued or somebody registered."""

import secrets
from collections.abc import Callable

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.delivery.models import State
from cards import issuing, registering
from cards.models import Cardholder, CardholderRequest, CardOrder
from tests.cards.desk import a_business, an_approved_cardholder, cardholders_of, errors, texts_of, url

SignIn = Callable[[User], Browser]


@pytest.fixture
def holder(manager: User) -> Cardholder:
    return an_approved_cardholder(a_business(manager))


@pytest.fixture
def order(holder: Cardholder, manager: User) -> CardOrder:
    made = issuing.request_card(
        cardholder=holder, amount_cents=1999, purpose="x", form_token=secrets.token_hex(16), by=manager,
        now=timezone.now(),
    )  # fmt: skip
    CardOrder.objects.update(state=State.UNKNOWN, unclear_at=timezone.now(), first_attempt_at=timezone.now())
    return made


@pytest.fixture
def registration(holder: Cardholder, manager: User) -> CardholderRequest:
    made = registering.register_cardholder(
        customer=holder.customer, first_name="Ann", last_name="Lee", email="ann@example.com", phone="",
        form_token=secrets.token_hex(16), by=manager, now=timezone.now(),
    )  # fmt: skip
    CardholderRequest.objects.update(state=State.UNKNOWN, unclear_at=timezone.now())
    return made


def test_an_unclear_order_says_so_and_offers_another_try(
    order: CardOrder, manager: User, client_of: SignIn
) -> None:
    browser = client_of(manager)
    page = texts_of(browser, url("cardorder", "change", order.pk))
    assert "It may have happened" in page
    assert "Try again now" in page
    assert "Record what Endl said" not in page
    browser.post(url("cardorder", "ask", order.pk))
    order.refresh_from_db()
    assert order.next_attempt_at is not None


def test_an_auditor_only_reads_it(order: CardOrder, auditor: User, client_of: SignIn) -> None:
    browser = client_of(auditor)
    assert "Try again now" not in texts_of(browser, url("cardorder", "change", order.pk))
    for act in ("ask", "outcome"):
        assert browser.post(url("cardorder", act, order.pk)).status_code == 403


@pytest.mark.parametrize(("outcome", "state"), [("nothing", State.REFUSED), ("happened", State.DETAILS_LOST)])
def test_another_person_records_what_endl_said_of_an_order(
    outcome: str, state: str, order: CardOrder, checker: User, client_of: SignIn
) -> None:
    browser = client_of(checker)
    wrong = browser.post(url("cardorder", "outcome", order.pk), {"outcome": outcome, "said": " "})
    assert list(errors(wrong)) == ["said"]
    browser.post(url("cardorder", "outcome", order.pk), {"outcome": outcome, "said": "Mia at Endl, by phone"})
    order.refresh_from_db()
    assert order.state == state
    assert "Mia at Endl, by phone" in texts_of(browser, url("cardorder", "change", order.pk))


def test_a_registration_names_whom_it_became(
    registration: CardholderRequest, checker: User, client_of: SignIn
) -> None:
    browser = client_of(checker)
    found = cardholders_of(registration.customer, 1, first_name="Ann", last_name="Lee")[0]
    address = url("cardholderrequest", "outcome", registration.pk)
    said = {"outcome": "happened", "said": "Mia at Endl"}
    assert "cardholder" in errors(browser.post(address, said))
    assert "cardholder" in errors(
        browser.post(address, {**said, "outcome": "nothing", "cardholder": found.pk})
    )
    browser.post(address, {**said, "cardholder": found.pk})
    registration.refresh_from_db()
    assert (registration.state, registration.cardholder) == (State.REGISTERED, found)
