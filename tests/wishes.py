"""What people ask for in tests, and a clock that tests move."""

import secrets
from datetime import datetime, timedelta
from decimal import Decimal

from backoffice.access.models import User
from backoffice.approvals.models import Approval
from backoffice.delivery.models import Request
from cards import issuing, registering
from cards.models import Cardholder, CardholderRequest, CardOrder, Customer
from funding import deposits
from funding.models import DepositRequest, Wallet


class Clock:
    """A clock that stands until a test moves it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **how_long: float) -> datetime:
        """Move on by seconds=, minutes= or hours=."""
        self.now += timedelta(**how_long)
        return self.now


def approval_of(request: Request) -> Approval:
    """The approval of a request, as the database has it now."""
    assert request.approval_id is not None
    return Approval.objects.get(pk=request.approval_id)


def a_deposit(wallet: Wallet, *, by: User, now: datetime, amount: str = "25.00") -> DepositRequest:
    """A deposit that waits for a decision."""
    return deposits.request_deposit(
        wallet=wallet, amount=Decimal(amount), chain="", note="Card spend", form_token=secrets.token_hex(16),
        by=by, now=now,
    )  # fmt: skip


def an_approved_deposit(
    wallet: Wallet, *, by: User, checker: User, now: datetime, amount: str = "25.00"
) -> DepositRequest:
    """A deposit that a checker has approved."""
    wish = a_deposit(wallet, by=by, now=now, amount=amount)
    return deposits.approve_deposit(request=wish, by=checker, seen=approval_of(wish).facts_hash, now=now)


def an_order(cardholder: Cardholder, *, by: User, now: datetime, cents: int = 19_99) -> CardOrder:
    """A card order; within the manager's ceiling it is approved at once."""
    return issuing.request_card(
        cardholder=cardholder, amount_cents=cents, purpose="A train ticket", form_token=secrets.token_hex(16),
        by=by, now=now,
    )  # fmt: skip


def a_registration(
    business: Customer, *, by: User, now: datetime, email: str = "omar.diaz@example.com"
) -> CardholderRequest:
    """A registration, ready to be sent."""
    return registering.register_cardholder(
        customer=business, first_name="Omar", last_name="Díaz", email=email, phone="+12025550179",
        form_token=secrets.token_hex(16), by=by, now=now,
    )  # fmt: skip
