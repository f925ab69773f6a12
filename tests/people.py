"""The people of every test, who always mean the same, and the few things that they work with.

maker and checker work for finance, manager issues cards, compliance reviews cardholders, auditor reads,
administrator keeps people. outsider is a manager who works for no customer; superuser has no role at all.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice import connections
from backoffice.access import roles
from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.endl import Client
from cards import customers, registering, review
from cards.models import Assignment, Cardholder, CardholderReview, Customer
from funding import wallets
from funding.models import Wallet

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

PASSWORD = "practice"
BUSINESS_ID, WALLET_ID = "cus_harbour", "wlt_harbour"
BALANCE = "10000.00"


def a_person(username: str, *role_names: str, works_for_all: bool = True, **more: Any) -> User:
    """Make a person with these roles, who works for every customer unless told otherwise."""
    person = User.objects.create_user(username, password=PASSWORD, **more)
    person.groups.set(Group.objects.filter(name__in=role_names))
    if works_for_all:
        Assignment.objects.create(user=person)
    return person


def as_now(person: User) -> User:
    """The person as the database has them now: permissions are remembered on the object."""
    return User.objects.get(pk=person.pk)


@pytest.fixture
def now() -> datetime:
    """Aware time now: the emulator has a real clock."""
    return timezone.now()


@pytest.fixture
def maker(db: None) -> User:
    return a_person("maker", roles.FINANCE_MAKER)


@pytest.fixture
def checker(db: None) -> User:
    return a_person("checker", roles.FINANCE_CHECKER)


@pytest.fixture
def checker2(db: None) -> User:
    return a_person("checker2", roles.FINANCE_CHECKER)


@pytest.fixture
def manager(db: None) -> User:
    return a_person("manager", roles.MANAGER)


@pytest.fixture
def compliance(db: None) -> User:
    return a_person("compliance", roles.COMPLIANCE)


@pytest.fixture
def auditor(db: None) -> User:
    return a_person("auditor", roles.AUDITOR)


@pytest.fixture
def administrator(db: None) -> User:
    return a_person("administrator", roles.ADMINISTRATOR)


@pytest.fixture
def outsider(db: None) -> User:
    """A manager who works for no customer."""
    return a_person("outsider", roles.MANAGER, works_for_all=False)


@pytest.fixture
def superuser(db: None) -> User:
    """Keeps the house, and has no role."""
    return a_person("superuser", is_superuser=True)


@pytest.fixture
def endl(emulator: "Emulator") -> Iterator[Client]:
    """The office's line to the emulator."""
    client = connections.open_endl()
    yield client
    client.close()


@pytest.fixture
def registered_key(emulator: "Emulator", key_pair: tuple[Path, str], settings: Settings) -> Path:
    """The private key's file; the public key is registered, and the office reads this file."""
    path, public = key_pair
    emulator.register_key(public)
    settings.ENDL_PRIVATE_KEY_FILES = [path]
    return path


@pytest.fixture
def business(emulator: "Emulator", registered_key: Path, manager: User, now: datetime) -> Customer:
    """A business that Endl knows and has enabled for cards and deposits."""
    emulator.seed(customers=[{"customerId": BUSINESS_ID, "name": "Harbour & Sons"}])
    return customers.add_customer(
        endl_id=BUSINESS_ID, name="Harbour & Sons", type=Customer.Type.BUSINESS, by=manager, now=now
    )


@pytest.fixture
def cardholder(
    business: Customer, manager: User, compliance: User, endl: Client, now: datetime
) -> Cardholder:
    """Somebody whom manager registered and compliance approved."""
    wish = registering.register_cardholder(
        customer=business, first_name="Nadia", last_name="Berg", email="nadia.berg@example.com",
        phone="+12025550143", form_token="nadia", by=manager, now=now,
    )  # fmt: skip
    sender.deliver(registering.ROAD, wish.pk, endl=endl)
    wish.refresh_from_db()
    assert wish.cardholder is not None
    review.review_cardholder(
        cardholder=wish.cardholder,
        verdict=CardholderReview.Verdict.APPROVED,
        reason="",
        by=compliance,
        now=now,
    )
    return Cardholder.objects.get(pk=wish.cardholder.pk)


@pytest.fixture
def wallet(emulator: "Emulator", business: Customer, maker: User, now: datetime) -> Wallet:
    """The business's wallet, with 10,000 USDC in it."""
    emulator.seed(
        wallets=[
            {
                "walletId": WALLET_ID, "customerId": business.endl_id, "label": "Treasury", "chain": "base",
                "currency": "USDC", "balance": BALANCE,
            }
        ]
    )  # fmt: skip
    return wallets.add_wallet(
        customer=business,
        endl_id=WALLET_ID,
        label="Treasury",
        chain="base",
        currency="USDC",
        by=maker,
        now=now,
    )


@pytest.fixture
def client_of(db: None) -> Callable[[User], Browser]:
    """A browser in which a person has just signed in with their password, so that the step-up is fresh."""
    # The limit on sign-ins counts by address, and every test comes from the same one.
    cache.clear()

    def sign_in(person: User) -> Browser:
        browser = Browser(enforce_csrf_checks=False)
        answer = browser.post("/accounts/login/", {"login": person.username, "password": PASSWORD})
        assert answer.status_code == 302, answer.content.decode()
        return browser

    return sign_in


@pytest.fixture
def another(db: None) -> Callable[..., User]:
    """Make one more person: `another("manager2", roles.MANAGER)`."""
    return a_person
