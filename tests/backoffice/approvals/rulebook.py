"""Rules and wishes as tests write them: short."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from backoffice.approvals.rules import CHECKER, Rule, Step, Total, Wish

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ONE, TWO = (Step(1, CHECKER),), (Step(2, CHECKER),)


def wish(amount: str = "100.00", **other: Any) -> Wish:
    """A deposit of maker 1 from wlt_a of cus_a, at noon."""
    given: dict[str, Any] = {
        "kind": "deposit", "currency": "USDC", "maker": 1, "customer": "cus_a", "wallet": "wlt_a",
        "at": NOON, **other,
    }  # fmt: skip
    return Wish(amount=Decimal(amount), **given)


def rule(name: str = "a rule", *, least: str | None = None, most: str | None = None, **other: Any) -> Rule:
    """A rule with amounts as text; asks one checker unless told otherwise."""
    ends = {
        "least": None if least is None else Decimal(least),
        "most": None if most is None else Decimal(most),
    }
    return Rule(name, **{"steps": ONE, **ends, **other})


def total(of: Any, hours: int, least: str | None = None, most: str | None = None) -> Total:
    return Total(
        of, hours, None if least is None else Decimal(least), None if most is None else Decimal(most)
    )
