"""The people of a fault run and what they ask for, through the office's own operations."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Group
from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.connections import open_endl
from backoffice.delivery import bell
from backoffice.delivery.models import Request
from cards import customers, review, sync
from cards.models import Assignment, Cardholder, CardholderRequest, CardholderReview, CardOrder, Customer
from funding import wallets
from funding.models import DepositRequest, Wallet
from tests import wishes
from tests.faults.office import Office

PASSWORD = "a password of the fault run"
MODELS: dict[str, type[Request]] = {
    "deposit": DepositRequest,
    "card": CardOrder,
    "registration": CardholderRequest,
}
TASKS = {
    "deposit": "funding.tasks.send_deposit",
    "card": "cards.tasks.send_order",
    "registration": "cards.tasks.send_registration",
}
OPERATIONS = {"deposit": "start_deposit", "card": "issue_card", "registration": "register_cardholder"}
# Longer than a database takes to come back.
_TRIES = 60


@dataclass
class History:
    """One request of a cell, and what may become of it.

    Attributes:
        may_lose: the answer with a card's details may never have come to a process that lived.
        may_wait: it may end waiting for a person, who is told so by an alert.
    """

    kind: str
    pk: int
    may_lose: bool = False
    may_wait: bool = False
    note: str = ""
    rested_at: float | None = None

    @property
    def row(self) -> Any:
        """The request as the database has it now."""
        return patiently(lambda: MODELS[self.kind]._default_manager.get(pk=self.pk))


def patiently[T](ask: Callable[[], T]) -> T:
    """Ask the database, again while it comes back from a crash."""
    for _ in range(_TRIES):
        try:
            return ask()
        except (OperationalError, InterfaceError):
            connections.close_all()
            time.sleep(0.25)
    return ask()


@dataclass
class Place:
    """A customer of its own for a cell, with a wallet and an approved cardholder."""

    customer: Customer
    wallet: Wallet
    cardholder: Cardholder


@dataclass
class Desk:
    """Where people ask for things, and where they are approved."""

    office: Office
    people: dict[str, User] = field(default_factory=dict)
    places: int = 0

    def hire(self) -> None:
        """Make the people."""
        wanted = {
            "maker": roles.FINANCE_MAKER,
            "checker": roles.FINANCE_CHECKER,
            "checker2": roles.FINANCE_CHECKER,
            "manager": roles.MANAGER,
            "compliance": roles.COMPLIANCE,
        }
        for name, role in wanted.items():
            person = User.objects.create_user(name, password=PASSWORD)
            person.groups.set(Group.objects.filter(name=role))
            Assignment.objects.create(user=person)
            self.people[name] = User.objects.get(pk=person.pk)

    def place(self) -> Place:
        """A new customer at Endl and here."""
        self.places += 1
        customer_id, wallet_id = f"cus_faults_{self.places}", f"wlt_faults_{self.places}"
        now, manager, compliance = timezone.now(), self.people["manager"], self.people["compliance"]
        self.office.endl(
            "seed",
            customers=[{"customerId": customer_id, "name": f"Faults {self.places}"}],
            wallets=[
                {"walletId": wallet_id, "customerId": customer_id, "currency": "USDC", "balance": "9000000"}
            ],
            cardholders=[{"cardholderId": f"chd_faults_{self.places}", "customerId": customer_id}],
        )  # fmt: skip
        customer = customers.add_customer(
            endl_id=customer_id,
            name=f"Faults {self.places}",
            type=Customer.Type.BUSINESS,
            by=manager,
            now=now,
        )
        wallet = wallets.add_wallet(
            customer=customer, endl_id=wallet_id, label="", chain="base", currency="USDC",
            by=self.people["maker"], now=now,
        )  # fmt: skip
        holder = self._synced(customer)
        review.review_cardholder(
            cardholder=holder, verdict=CardholderReview.Verdict.APPROVED, reason="", by=compliance, now=now
        )
        return Place(customer, wallet, Cardholder.objects.get(pk=holder.pk))

    def _synced(self, customer: Customer) -> Cardholder:
        """The cardholder that Endl has; asked for again while Endl wants everybody to wait."""
        for _ in range(_TRIES):
            sync.sync_cardholders(
                customer=customer, endl=open_endl(), by="system: faults", now=timezone.now()
            )
            holder = Cardholder.objects.filter(customer=customer).first()
            if holder is not None:
                return holder
            time.sleep(0.5)
        raise RuntimeError("The cardholders could not be synced.")

    def wish(self, kind: str, place: Place) -> History:
        """Something of a kind, approved and ready to be sent; nobody has rung yet."""
        now = timezone.now()
        made: Request
        if kind == "deposit":
            made = wishes.an_approved_deposit(
                place.wallet, by=self.people["maker"], checker=self.people["checker"], now=now
            )
        elif kind == "card":
            made = wishes.an_order(place.cardholder, by=self.people["manager"], now=now)
        else:
            email = f"{secrets.token_hex(6)}@example.com"
            made = wishes.a_registration(place.customer, by=self.people["manager"], now=now, email=email)
        return History(kind, made.pk)

    def ring(self, *histories: History) -> None:
        """Tell a worker, as the desk does after the commit."""
        for history in histories:
            bell.ring(TASKS[history.kind], history.pk)

    def next_pks(self) -> dict[str, int]:
        """For each kind's task, the smallest id that a request made from now on can have."""
        newest = {kind: model._default_manager.order_by("-pk").first() for kind, model in MODELS.items()}
        return {TASKS[kind]: (row.pk if row else 0) + 1 for kind, row in newest.items()}
