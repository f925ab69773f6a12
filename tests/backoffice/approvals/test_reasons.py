"""Why a button is off, who can instead, and since when."""

from datetime import datetime, timedelta
from decimal import Decimal

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import limits, reasons
from backoffice.approvals.models import Approval
from cards.models import Assignment
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.desk import approve
from tests.people import a_person
from tests.wishes import a_deposit, approval_of


def test_who_can_is_told_nothing(approval: Approval, checker: User, now: datetime) -> None:
    why = reasons.why(approval, checker, now=now)
    assert (why.can, why.sentence) == (True, "")


def test_the_maker_is_told_who_can_and_since_when(
    approval: Approval, maker: User, checker: User, checker2: User, now: datetime
) -> None:
    why = reasons.why(approval, maker, now=now)
    assert [reason.name for reason in why.reasons] == ["SameHands", "NotAllowed"][:1]
    assert why.who_can == (checker, checker2)
    assert why.since == now
    assert why.sentence.endswith("checker or checker2 can decide.")


def test_names_are_of_people_who_see_the_customer(
    approval: Approval, maker: User, checker: User, wallet: Wallet, now: datetime
) -> None:
    stranger = a_person("stranger", roles.FINANCE_CHECKER, works_for_all=False)
    assert stranger not in reasons.why(approval, maker, now=now).who_can
    # And whoever does not see the customer is given no names.
    told = reasons.why(approval, stranger, now=now)
    assert (told.can, told.who_can) == (False, ())
    Assignment.objects.create(user=stranger, customer=wallet.customer)
    assert stranger in reasons.why(approval, maker, now=now).who_can


def test_limits_are_reasons_too(
    approval: Approval, checker: User, checker2: User, administrator: User, now: datetime
) -> None:
    limits.set_limit(
        person=checker, currency="USDC", per_decision=Decimal(1), per_day=Decimal(1), reason="New",
        by=administrator, now=now,
    )  # fmt: skip
    why = reasons.why(approval, checker, now=now)
    assert [reason.name for reason in why.reasons] == ["OverLimit"]
    assert why.who_can == (checker2,)
    assert "Your limit is 1.00 USDC per decision" in why.sentence


def test_who_has_decided_leaves_the_rest_to_others(
    wallet: Wallet, maker: User, checker: User, checker2: User, now: datetime
) -> None:
    large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
    approve(large, checker, now + timedelta(minutes=5))
    why = reasons.why(approval_of(large), checker, now=now)
    assert [reason.name for reason in why.reasons] == ["AlreadyDecided"]
    assert why.who_can == (checker2,)


def test_nobody_can(approval: Approval, maker: User, now: datetime) -> None:
    assert "Nobody who can decide" in reasons.why(approval, maker, now=now).sentence


def test_what_has_ended_has_one_reason_and_waits_for_nobody(
    wish: DepositRequest, maker: User, checker: User, now: datetime
) -> None:
    approve(wish, checker, now)
    why = reasons.why(approval_of(wish), maker, now=now)
    assert (len(why.reasons), why.who_can, why.since, why.asks) == (1, (), None, "")
