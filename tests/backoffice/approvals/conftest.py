"""A deposit that waits for a decision."""

from datetime import datetime

import pytest

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals.models import Approval
from funding.models import DepositRequest, Wallet
from tests.people import a_person
from tests.wishes import a_deposit, approval_of


@pytest.fixture
def wish(wallet: Wallet, maker: User, now: datetime) -> DepositRequest:
    return a_deposit(wallet, by=maker, now=now)


@pytest.fixture
def approval(wish: DepositRequest) -> Approval:
    return approval_of(wish)


@pytest.fixture
def administrator2(db: None) -> User:
    return a_person("administrator2", roles.ADMINISTRATOR)
