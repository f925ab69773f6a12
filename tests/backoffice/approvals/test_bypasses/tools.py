"""What those who try to get around an approval do over and over, and how one sees that it came to nothing."""

import time
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import Error, connection, transaction
from django.test import Client as Browser

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import changes, limits, policies
from backoffice.approvals.models import Approval, Decision, RuleSetChange
from backoffice.delivery import sender
from backoffice.endl import Client
from cards import issuing
from cards.models import CardOrder
from funding import deposits
from funding.models import DepositRequest
from tests.backoffice.approvals.rulebook import rule
from tests.wishes import approval_of

SignIn = Callable[[User], Browser]
REQUESTS = "/admin/funding/depositrequest/"


def press(browser: Browser, wish: DepositRequest, verdict: str = "approve", **forged: Any) -> Any:
    """Post the decision's form as a browser would, with whatever else somebody puts into it."""
    given = {"seen": approval_of(wish).facts_hash, "verdict": verdict, "reason": "", **forged}
    return browser.post(f"{REQUESTS}{wish.pk}/decide/", given)


def is_untouched(wish: DepositRequest, state: str = "requested") -> bool:
    """Whether a request still waits, and nobody's decision stands on its approval."""
    wish.refresh_from_db()
    approval = approval_of(wish)
    return wish.state == state and approval.state == "pending" and not approval.decisions.exists()


def refused_by_the_database(sql: str, *values: Any) -> str:
    """Run raw SQL that the database must refuse; returns its words."""
    with pytest.raises(Error) as told, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)
    return str(told.value)


def forget_the_proof(browser: Browser) -> None:
    """Make the session's proof older than a step-up lasts."""
    session = browser.session
    for record in session["account_authentication_methods"]:
        record["at"] = time.time() - 301
    session.save()


def to_the_gate(wish: Any, endl: Client, now: datetime) -> str:
    """Try to send it, and say what became of it."""
    road: Any = issuing.ROAD if isinstance(wish, CardOrder) else deposits.ROAD
    sender.deliver(road, wish.pk, endl=endl, clock=lambda: now)
    wish.refresh_from_db()
    return str(wish.state)


def a_limit(person: User, by: User, now: datetime, one: str, day: str = "") -> Any:
    """Set a limit in USDC; the day's is the same unless given."""
    return limits.set_limit(
        person=person, currency="USDC", per_decision=Decimal(one), per_day=Decimal(day or one),
        reason="A test", by=by, now=now,
    )  # fmt: skip


def a_change(by: User, now: datetime, most: str = "500.00") -> RuleSetChange:
    """Propose that deposits up to an amount need nobody."""
    easy = [rule("easy", kind="deposit", most=most, steps=()), *policies.first_rules()]
    return changes.propose(proposed=easy, base=policies.active(), reason="Faster", by=by, now=now)


def a_decision(approval: Approval, person: User, now: datetime, **other: Any) -> Decision:
    """A decision as somebody would write it into the table."""
    given: dict[str, Any] = {
        "approval": approval, "person": person, "maker_id": approval.maker_id, "made_at": now,
        "verdict": "approve", "seen_hash": approval.facts_hash, "permission": approval.permission,
        "roles": [roles.FINANCE_CHECKER], **other,
    }  # fmt: skip
    return Decision(**given)
