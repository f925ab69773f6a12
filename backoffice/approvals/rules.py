"""What the rules say of a request: plain values in, plain values out. No Django, no database, no clock.

A rule set is an ordered list. The first rule whose conditions all hold decides what is asked: nobody, or
people of certain roles in one step or several. Where no rule fits, two people besides the maker decide.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

Of = Literal["maker", "wallet", "customer"]
WHOSE: tuple[Of, ...] = ("maker", "wallet", "customer")

CHECKER, COMPLIANCE = "finance checker", "compliance"
MOST_RULES, MOST_STEPS, MOST_PEOPLE = 50, 4, 5
LONGEST_HOURS = 24 * 31
# Nobody foresaw such a request: then two people besides the maker look at it.
UNFORESEEN = 2


@dataclass(frozen=True)
class Step:
    """So many people of one role, all before the next step begins."""

    people: int
    role: str


@dataclass(frozen=True)
class Total:
    """A condition on a running total: this request and what else was asked for in the hours before it.

    Attributes:
        of: whose requests are added up; the wallet of a card order is its cardholder.
        hours: how far back.
        least, most: the total must be in this range, both ends included; None leaves an end open.
    """

    of: Of
    hours: int
    least: Decimal | None = None
    most: Decimal | None = None


@dataclass(frozen=True)
class Rule:
    """Conditions that must all hold, and what is asked when they do. Blank conditions always hold.

    Attributes:
        name: what people call it; unique in its set.
        kind: "deposit" or "card_order".
        currency: to which amounts and totals of the rule belong.
        least, most: the amount's range, both ends included.
        customers: Endl ids; the request is for one of them.
        is_first: True where nothing was asked for to this wallet before, False where something was.
        totals: conditions on running totals.
        steps: who is asked, in order; none means that the rule itself approves.
    """

    name: str
    kind: str = ""
    currency: str = ""
    least: Decimal | None = None
    most: Decimal | None = None
    customers: tuple[str, ...] = ()
    is_first: bool | None = None
    totals: tuple[Total, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def asks_nobody(self) -> bool:
        return not self.steps


@dataclass(frozen=True)
class Wish:
    """What somebody asked for, as far as rules look at it.

    Attributes:
        amount: in `currency`.
        maker: the person's key.
        wallet: the wallet's Endl id; of a card order, its cardholder's.
        at: when it was asked for.
        gone_at: when it came to nothing (rejected, cancelled, expired, refused); None while it stands.
        key: the request's own key in its table.
    """

    kind: str
    amount: Decimal
    currency: str
    maker: int
    customer: str
    wallet: str
    at: datetime
    gone_at: datetime | None = None
    key: int | None = None

    def whose(self, of: Of) -> int | str:
        """The maker, wallet or customer whose totals it counts for."""
        if of == "maker":
            return self.maker
        return self.wallet if of == "wallet" else self.customer


@dataclass(frozen=True)
class Figures:
    """What was true around a wish when it was asked for.

    Attributes:
        totals: by (of, hours): the sum of this kind in the wish's currency, the wish included.
        is_first: whether nothing that stood was asked for to this wallet before.
    """

    totals: Mapping[tuple[Of, int], Decimal] = field(default_factory=dict)
    is_first: bool = False


@dataclass(frozen=True)
class Asked:
    """What the rules ask: the name of the rule (blank where none fitted) and the steps (none: nobody)."""

    rule: str
    steps: tuple[Step, ...]

    @property
    def people(self) -> int:
        return sum(step.people for step in self.steps)


def ask(rules: Iterable[Rule], wish: Wish, figures: Figures) -> Asked:
    """What a rule set asks for a wish: the first rule that fits decides, else two finance checkers."""
    for rule in rules:
        if fits(rule, wish, figures):
            return Asked(rule.name, rule.steps)
    return Asked("", (Step(UNFORESEEN, CHECKER),))


def could_ask(rules: Iterable[Rule], wish: Wish, name: str) -> tuple[Step, ...] | None:
    """What the named rule asks for a wish, where it can have been the one that decided; else None.

    For looking back, when the figures of the time are gone: a rule that looks at none of them, fits and
    stands earlier would have decided instead. A blank name means that no rule fitted.
    """
    for rule in rules:
        if rule.name == name:
            return rule.steps if fits_alone(rule, wish) else None
        if not rule.totals and rule.is_first is None and fits_alone(rule, wish):
            return None
    return None if name else (Step(UNFORESEEN, CHECKER),)


def fits(rule: Rule, wish: Wish, figures: Figures) -> bool:
    """Whether all conditions of a rule hold."""
    return (
        fits_alone(rule, wish)
        and rule.is_first in (None, figures.is_first)
        and all(
            is_between(figures.totals[total.of, total.hours], total.least, total.most)
            for total in rule.totals
        )
    )


def fits_alone(rule: Rule, wish: Wish) -> bool:
    """Whether the conditions hold that a wish answers by itself, without figures."""
    return (
        rule.kind in ("", wish.kind)
        and rule.currency in ("", wish.currency)
        and is_between(wish.amount, rule.least, rule.most)
        and (not rule.customers or wish.customer in rule.customers)
    )


def is_between(amount: Decimal, least: Decimal | None, most: Decimal | None) -> bool:
    return (least is None or amount >= least) and (most is None or amount <= most)


def windows_of(rules: Iterable[Rule]) -> set[tuple[Of, int]]:
    """The running totals, as (of, hours), that a rule set looks at."""
    return {(total.of, total.hours) for rule in rules for total in rule.totals}


def begin_of(at: datetime, hours: int) -> datetime:
    """Where a window that ends at this moment begins; the beginning itself is no longer inside."""
    return at - timedelta(hours=hours)


def asks_more(now: Sequence[Step], then: Sequence[Step]) -> bool:
    """Whether `now` asks for anybody that `then` did not: more people of a role, whatever the order."""
    asked, given = _people_by_role(now), _people_by_role(then)
    return any(people > given.get(role, 0) for role, people in asked.items())


def _people_by_role(steps: Iterable[Step]) -> dict[str, int]:
    people: dict[str, int] = {}
    for step in steps:
        people[step.role] = people.get(step.role, 0) + step.people
    return people


# --- As JSON: how a set is kept, sent by a page, and hashed ------------------------------------------


class NotRules(ValueError):
    """What should be rules is none; the text says what is wanted."""


def as_json(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Rules as plain values; `from_json` reads them back. Amounts are text: JSON's numbers are floats."""
    return [_rule_as_json(rule) for rule in rules]


def _rule_as_json(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "kind": rule.kind,
        "currency": rule.currency,
        "least": _text(rule.least),
        "most": _text(rule.most),
        "customers": list(rule.customers),
        "is_first": rule.is_first,
        "totals": [
            {"of": each.of, "hours": each.hours, "least": _text(each.least), "most": _text(each.most)}
            for each in rule.totals
        ],
        "steps": steps_as_json(rule.steps),
    }


def steps_as_json(steps: Iterable[Step]) -> list[dict[str, Any]]:
    return [{"people": step.people, "role": step.role} for step in steps]


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def from_json(values: Any) -> tuple[Rule, ...]:
    """Read rules back. Raises NotRules with a sentence for whoever wrote them."""
    if not isinstance(values, list):
        raise NotRules("The rules are a list.")
    return tuple(_rule_from_json(value, number) for number, value in enumerate(values, 1))


def _rule_from_json(value: Any, number: int) -> Rule:
    try:
        return Rule(
            name=_str(value["name"]),
            kind=_str(value.get("kind") or ""),
            currency=_str(value.get("currency") or ""),
            least=_amount(value.get("least")),
            most=_amount(value.get("most")),
            customers=tuple(_str(each) for each in value.get("customers") or ()),
            is_first=_yes_no(value.get("is_first")),
            totals=tuple(
                Total(
                    each["of"], _whole(each["hours"]), _amount(each.get("least")), _amount(each.get("most"))
                )
                for each in value.get("totals") or ()
            ),
            steps=tuple(
                Step(_whole(each["people"]), _str(each["role"])) for each in value.get("steps") or ()
            ),
        )
    except (KeyError, TypeError, AttributeError, ValueError, InvalidOperation):
        raise NotRules(f"Rule {number} has a value that is missing or of the wrong kind.") from None


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def _yes_no(value: Any) -> bool | None:
    if not isinstance(value, bool | None):
        raise TypeError
    return value


def _amount(value: Any) -> Decimal | None:
    amount = None if value is None else Decimal(_str(value))
    if amount is not None and not amount.is_finite():
        raise ValueError
    return amount
