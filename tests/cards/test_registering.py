"""Who can be registered, under which business, by whom."""

from collections.abc import Callable
from datetime import datetime

import pytest

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import sender
from backoffice.delivery.desk import NotTheMaker, NotYourPage
from backoffice.delivery.models import State
from backoffice.emulator import Emulator
from backoffice.endl import Client
from cards import registering
from cards.models import Cardholder, CardholderRequest, Customer
from cards.registering import AlreadyThere, NoCards
from tests.wishes import a_registration


def test_it_waits_without_an_approval(business: Customer, manager: User, now: datetime) -> None:
    wish = a_registration(business, by=manager, now=now)
    assert (wish.state, wish.approval) == (State.REQUESTED, None)
    assert Entry.objects.get(verb="registration.request").actor == manager


def test_the_cardholder_comes_from_endls_answer(
    business: Customer, manager: User, endl: Client, now: datetime
) -> None:
    wish = a_registration(business, by=manager, now=now)
    sender.deliver(registering.ROAD, wish.pk, endl=endl)
    holder = Cardholder.objects.get()
    assert (holder.full_name, holder.email) == ("Omar Díaz", "omar.diaz@example.com")
    assert holder.review_state == Cardholder.Review.UNREVIEWED
    assert holder.registration == wish


@pytest.mark.parametrize(
    "who", ["maker", "checker", "compliance", "auditor", "administrator", "superuser", "outsider"]
)
def test_only_managers_of_the_customer(
    business: Customer, who: str, request: pytest.FixtureRequest, now: datetime
) -> None:
    with pytest.raises(NotAllowed):
        a_registration(business, by=request.getfixturevalue(who), now=now)
    assert Entry.objects.get(verb="registration.request").result == Entry.Result.REFUSED


def test_the_same_e_mail_once(business: Customer, manager: User, now: datetime) -> None:
    a_registration(business, by=manager, now=now)
    with pytest.raises(AlreadyThere):
        a_registration(business, by=manager, now=now, email="OMAR.DIAZ@example.com")


def test_nobody_who_is_on_the_list_already(cardholder: Cardholder, manager: User, now: datetime) -> None:
    with pytest.raises(AlreadyThere):
        a_registration(cardholder.customer, by=manager, now=now, email=cardholder.email.upper())


def test_again_after_it_was_refused(
    business: Customer, manager: User, emulator: Emulator, endl: Client, now: datetime
) -> None:
    first = a_registration(business, by=manager, now=now)
    emulator.fault(operation="register_cardholder", kind="error", code="ERRCRD_1010")
    sender.deliver(registering.ROAD, first.pk, endl=endl)
    assert CardholderRequest.objects.get().state == State.REFUSED
    a_registration(business, by=manager, now=now)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"is_active": False}, "not in use"),
        ({"is_known": False}, "does not know"),
        ({"type": "individual"}, "not a business"),
        ({"type": "employee"}, "not a business"),
        ({"is_business": False}, "not a business"),
        ({"is_enabled": False}, "not enabled"),
    ],
)
def test_not_where_no_cards_are_possible(
    business: Customer, manager: User, now: datetime, column: dict[str, object], words: str
) -> None:
    Customer.objects.update(**column)
    with pytest.raises(NoCards, match=words):
        a_registration(Customer.objects.get(), by=manager, now=now)


def test_a_second_click_finds_the_first(business: Customer, manager: User, now: datetime) -> None:
    made = [register(business, manager, now) for _ in range(2)]
    assert made[0] == made[1]
    assert CardholderRequest.objects.count() == 1


def test_somebody_elses_page_is_not_answered(
    business: Customer, manager: User, now: datetime, other_manager: User
) -> None:
    register(business, manager, now)
    with pytest.raises(NotYourPage):
        register(business, other_manager, now)


def test_only_its_maker_takes_it_back(
    business: Customer, manager: User, now: datetime, other_manager: User
) -> None:
    wish = a_registration(business, by=manager, now=now)
    with pytest.raises(NotTheMaker):
        registering.cancel_registration(request=wish, by=other_manager, now=now)
    assert registering.cancel_registration(request=wish, by=manager, now=now).state == State.CANCELLED


@pytest.fixture
def other_manager(another: Callable[..., User]) -> User:
    return another("manager2", "manager")


def register(business: Customer, by: User, now: datetime) -> CardholderRequest:
    return registering.register_cardholder(
        customer=business, first_name="Lena", last_name="Ito", email="lena@example.com", phone="",
        form_token="one page", by=by, now=now,
    )  # fmt: skip
