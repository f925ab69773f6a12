"""One request of each kind on its way, and what Endl's ledger says came of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from backoffice.access.models import User
from backoffice.delivery import checkpoint, sender
from backoffice.delivery.models import Attempt, Request, State
from backoffice.delivery.road import Road
from backoffice.endl import Client
from cards import issuing, registering
from cards.models import Cardholder, Customer
from funding import deposits
from funding.models import Wallet
from tests.wishes import Clock, a_registration, an_approved_deposit, an_order

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

KINDS = ("deposit", "card_order", "registration")
OPERATIONS = {"deposit": "start_deposit", "card_order": "issue_card", "registration": "register_cardholder"}
GOOD_ENDS = {"deposit": State.SUBMITTED, "card_order": State.ISSUED, "registration": State.REGISTERED}


@dataclass
class Trip:
    """A request on the road, the clock that the road looks at, and the emulator at its end."""

    kind: str
    road: Road[Any, Any]
    pk: int
    endl: Client
    clock: Clock
    emulator: "Emulator"

    @property
    def operation(self) -> str:
        return OPERATIONS[self.kind]

    @property
    def row(self) -> Any:
        """The request, as the database has it now."""
        return self.road.model._default_manager.get(pk=self.pk)

    @property
    def state(self) -> str:
        return str(self.row.state)

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts, oldest first."""
        return list(Attempt.objects.filter(kind=self.kind, request_id=self.pk).order_by("number"))

    @property
    def effects(self) -> list[dict[str, Any]]:
        """What really came into being at Endl under this request's key, or for the registered e-mail."""
        return [entry for entry in self.emulator.ledger() if entry["key"] == self.row.idempotency_key]

    @property
    def requests_seen(self) -> int:
        """How often Endl was asked with this request's key."""
        seen = self.emulator.requests_seen()["last"]
        return sum(1 for request in seen if request["key"] == self.row.idempotency_key)

    def fault(self, kind: str, **how: Any) -> None:
        """Let something go wrong at the coming call of this kind."""
        self.emulator.fault(operation=self.operation, kind=kind, **how)

    def deliver(self, *, endl: Client | None = None) -> Any:
        """Drive it as far as it goes now. Returns the row."""
        sender.deliver(self.road, self.pk, endl=endl or self.endl, clock=self.clock)
        return self.row

    def deliver_until_it_rests(self, *, tries: int = 4, minutes: float = 2) -> Any:
        """Deliver again and again, as the sweep does, with the clock moving on."""
        for _ in range(tries):
            if self.row.has_ended or self.state == State.SUBMITTED or self.row.needs_person:
                break
            self.clock.advance(minutes=minutes)
            self.deliver()
        return self.row


def is_good(trip: Trip) -> bool:
    """Whether a request came to the end that people hoped for."""
    return trip.state == GOOD_ENDS[trip.kind]


@pytest.fixture
def clock(now: datetime) -> Clock:
    return Clock(now)


@pytest.fixture
def start(
    request: pytest.FixtureRequest, db: None, emulator: "Emulator", endl: Client, clock: Clock
) -> Callable[[str], Trip]:
    """Ask for something of a kind, ready to be sent."""

    def make(kind: str) -> Trip:
        made: Request
        road: Road[Any, Any]
        if kind == "deposit":
            wallet: Wallet = request.getfixturevalue("wallet")
            maker: User = request.getfixturevalue("maker")
            checker: User = request.getfixturevalue("checker")
            made = an_approved_deposit(wallet, by=maker, checker=checker, now=clock())
            road = deposits.ROAD
        elif kind == "card_order":
            cardholder: Cardholder = request.getfixturevalue("cardholder")
            made = an_order(cardholder, by=request.getfixturevalue("manager"), now=clock())
            road = issuing.ROAD
        else:
            business: Customer = request.getfixturevalue("business")
            made = a_registration(business, by=request.getfixturevalue("manager"), now=clock())
            road = registering.ROAD
        return Trip(kind, road, made.pk, endl, clock, emulator)

    return make


@pytest.fixture(params=KINDS)
def trip(request: pytest.FixtureRequest, start: Callable[[str], Trip]) -> Trip:
    """A request of each kind in turn."""
    return start(request.param)


@pytest.fixture
def deposit(start: Callable[[str], Trip]) -> Trip:
    return start("deposit")


@pytest.fixture
def order(start: Callable[[str], Trip]) -> Trip:
    return start("card_order")


@pytest.fixture
def registration(start: Callable[[str], Trip]) -> Trip:
    return start("registration")


class Crash(BaseException):
    """The process died: nothing that handles errors may handle this."""


@pytest.fixture
def crash_at() -> Iterator[Callable[[str], None]]:
    """Let the process die when it reaches a checkpoint, the next time only."""

    def plan(name: str) -> None:
        def die(reached: str) -> None:
            if reached == name:
                checkpoint.hooks.remove(die)
                raise Crash(name)

        checkpoint.hooks.append(die)

    yield plan
    checkpoint.hooks.clear()
