"""The office that journeys are made in, the people in it, and the ground that they stand on.

One office serves all journeys in a row, on a database of its own: no test here asks for `db`, since the rows
are real and other processes read them. Each journey has a customer of its own instead.
"""

import itertools
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.test import override_settings
from django.test.utils import setup_databases, teardown_databases
from django.utils import timezone
from playwright.sync_api import Browser
from pytest_django import DjangoDbBlocker

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.celery import app
from backoffice.connections import open_endl
from backoffice.delivery.models import Pause
from backoffice.mirror.models import Read
from cards import customers, review, sync
from cards.models import Cardholder, CardholderReview, Customer
from funding import wallets
from funding.models import DepositRequest, Wallet, Withdrawal
from tests.conftest import CHROMIUM
from tests.journeys.clerk import Clerk, Staff
from tests.journeys.desk import Album, Desk
from tests.journeys.office import API_KEY, Office
from tests.people import PASSWORD, a_person

PEOPLE = {
    "maker": [roles.FINANCE_MAKER],
    "checker": [roles.FINANCE_CHECKER],
    "checker2": [roles.FINANCE_CHECKER],
    "manager": [roles.MANAGER],
    "compliance": [roles.COMPLIANCE],
    "auditor": [roles.AUDITOR],
    # Two hats that nobody should wear together, and what is refused to them all the same.
    "deputy": [roles.MANAGER, roles.COMPLIANCE],
}
HERE = Path(__file__).resolve().parent
SCREENSHOTS = HERE.parents[1] / "var" / "screenshots"
_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first journey of a process waits for the whole office to start, on a machine that may be busy."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="package")
def office(
    tmp_path_factory: pytest.TempPathFactory,
    key_pair: tuple[Path, str],
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Office]:
    """The running office, with its people."""
    with django_db_blocker.unblock(), a_database_of_our_own():
        ports = [a_free_port(), a_free_port()]
        made = Office(
            tmp_path_factory.mktemp("office"),
            web_port=ports[0],
            endl_port=ports[1],
            keys=key_pair,
            environ=dict(os.environ),
        )
        app.control.purge()
        hire()
        with override_settings(ENDL_BASE_URL=made.endl_url, ENDL_API_KEY=API_KEY):
            try:
                made.start()
                yield made
            finally:
                made.stop()


@pytest.fixture(autouse=True)
def a_fresh_day(office: Office) -> None:
    """Endl as usual, nothing switched off, and nobody's sign-ins counted."""
    office.usual_endl()
    cache.clear()
    # Endl has forgotten what earlier journeys left: asked for it, it would seem to lack the read itself.
    Customer.objects.update(is_active=False)
    DepositRequest.objects.update(follow_at=None)
    Withdrawal.objects.update(missing_since=timezone.now())
    Read.objects.update(off_since=None, tried_at=None)
    Pause.objects.filter(lifted_at=None).update(lifted_at=timezone.now())


# --- How it is opened --------------------------------------------------------------------------------


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def a_database_of_our_own() -> Iterator[None]:
    """A database for the office alone, with every table in it, in the place of the other tests' one."""
    tests, name = connection.settings_dict["TEST"], str(connection.settings_dict["NAME"])
    before = tests["NAME"]
    beside = f"{name}_journeys{os.environ.get('PYTEST_XDIST_WORKER', '')}"
    tests["NAME"] = str(Path(name).with_name("journeys.sqlite3")) if "/" in name else beside
    # Only what stands in there counts, whatever django-stubs says of it; nothing is to be serialized.
    alone: dict[str, Any] = {DEFAULT_DB_ALIAS: None}
    # One manager orders for all journeys, in any order: none may use up what another one counts on.
    with override_settings(ORDER_DAY_CEILING_CENTS=10**9):
        made = setup_databases(verbosity=0, interactive=False, aliases=alone, serialized_aliases=())
    try:
        yield
    finally:
        tests["NAME"] = before
        connections.close_all()
        teardown_databases(made, verbosity=0)


def hire() -> None:
    """Make the people, with passwords that the web server's own settings can read."""
    # The tests' quick hasher is not known there; one hash, worked out once, serves everybody.
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "onesaltforeverybody")
    for name, held in PEOPLE.items():
        person = a_person(name, *held)
        User.objects.filter(pk=person.pk).update(password=hashed)


# --- The ground -------------------------------------------------------------------------------------


@pytest.fixture
def person(office: Office) -> Callable[[str], User]:
    """A person as the database has them."""
    return lambda name: User.objects.get(username=name)


@pytest.fixture
def new_customer(office: Office) -> Callable[..., str]:
    """Let Endl have one more customer, whom the office does not know yet: answers its id."""

    def make(**more: Any) -> str:
        identity = f"cus_journey{next(_numbers)}"
        office.seed(customers=[{"customerId": identity, "name": f"Journey {identity}", **more}])
        return identity

    return make


@pytest.fixture
def business(new_customer: Callable[..., str], person: Callable[[str], User]) -> Customer:
    """A business that both sides know."""
    identity = new_customer()
    return customers.add_customer(
        endl_id=identity, name=f"Harbour {identity}", type=Customer.Type.BUSINESS, by=person("manager"),
        now=timezone.now(),
    )  # fmt: skip


@pytest.fixture
def wallet(office: Office, business: Customer, person: Callable[[str], User]) -> Wallet:
    """The business's wallet, with 10,000 USDC in it."""
    identity = business.endl_id.replace("cus_", "wlt_")
    pot = {"chain": "base", "currency": "USDC", "balance": "10000.00"}
    office.seed(wallets=[{"walletId": identity, "customerId": business.endl_id, **pot}])
    return wallets.add_wallet(
        customer=business, endl_id=identity, label=f"Treasury {identity}", chain="base", currency="USDC",
        by=person("maker"), now=timezone.now(),
    )  # fmt: skip


@pytest.fixture
def cardholder(office: Office, business: Customer, person: Callable[[str], User]) -> Cardholder:
    """Somebody at the business whom compliance has approved."""
    identity = business.endl_id.replace("cus_", "chd_")
    names = {"firstName": "Nadia", "lastName": f"Berg {identity}"}
    office.seed(cardholders=[{"cardholderId": identity, "customerId": business.endl_id, **names}])
    now = timezone.now()
    sync.sync_cardholders(customer=business, endl=open_endl(), by="system: journeys", now=now)
    holder = Cardholder.objects.get(endl_id=identity)
    review.review_cardholder(
        cardholder=holder, verdict=CardholderReview.Verdict.APPROVED, reason="", by=person("compliance"),
        now=now,
    )  # fmt: skip
    return Cardholder.objects.get(pk=holder.pk)


@pytest.fixture(scope="package")
def staff(office: Office) -> Staff:
    """People who work through the pages without a browser."""
    return Staff(*(Clerk(office.url, name) for name in ("manager", "compliance", "maker", "checker")))


# --- Browsers ---------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The system's Chromium, which asks nobody anything by itself."""
    quiet = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
    return {
        "executable_path": str(CHROMIUM), "args": ["--no-sandbox", "--disable-gpu", *quiet],
    }  # fmt: skip


@pytest.fixture
def sit_down(
    office: Office, browser: Browser, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Desk]]:
    """Open a browser of its own for a person: `sit_down("maker")` has them signed in.

    Whatever went wrong in any of the browsers fails the test at its end.
    """
    album = Album(SCREENSHOTS / re.sub(r"\W+", "-", request.node.name.replace("chromium", "")).strip("-"))
    desks: list[Desk] = []

    def open_one(name: str = "", *, width: int = 1400, height: int = 900) -> Desk:
        context = browser.new_context(viewport={"width": width, "height": height}, base_url=office.url)
        context.set_default_timeout(20_000)
        desk = Desk(context, name or "somebody", album)
        desks.append(desk)
        if name:
            desk.sign_in(name)
        return desk

    yield open_one
    troubles = [f"{desk.who}: {trouble}" for desk in desks for trouble in desk.troubles]
    for desk in desks:
        desk.context.close()
    assert not troubles, "\n".join(troubles)
