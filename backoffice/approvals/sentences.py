"""Rules as people read them: when a rule fits, and whom it asks then."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from backoffice.approvals.rules import Rule, Step, Total
from backoffice.money import plain
from backoffice.pages.parts import grouped


@dataclass(frozen=True)
class Sentence:
    """A rule in words.

    Attributes:
        name: of the rule.
        conditions: what must all hold, one sentence each.
        asks: who decides then.
    """

    name: str
    conditions: tuple[str, ...]
    asks: str

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it but the name, to be compared with another."""
        return (*self.conditions, self.asks)


def told(rule: Rule) -> Sentence:
    """A rule in words."""
    return Sentence(rule.name, tuple(_conditions(rule)) or ("Whatever it is.",), asks(rule.steps))


def asks(steps: tuple[Step, ...]) -> str:
    """Whom steps ask, in words."""
    if not steps:
        return "The rule itself approves: nobody is asked."
    return ", then ".join(_step(step) for step in steps) + (" decides." if _is_one(steps) else " decide.")


def _is_one(steps: tuple[Step, ...]) -> bool:
    return len(steps) == 1 and steps[0].people == 1


def _step(step: Step) -> str:
    word = {1: "One", 2: "Two", 3: "Three"}.get(step.people, str(step.people))
    return f"{word} of the role {step.role}"


def _conditions(rule: Rule) -> Iterator[str]:
    if rule.kind:
        yield f"It is a {rule.kind.replace('_', ' ')}."
    if rule.currency:
        yield f"It is in {rule.currency}."
    if amounts := _range(rule.least, rule.most):
        yield f"The amount is {amounts}{' ' + rule.currency if rule.currency else ''}."
    if rule.customers:
        yield f"The customer is {' or '.join(rule.customers)}."
    if rule.is_first is not None:
        yield (
            "Nothing was asked for to this wallet before."
            if rule.is_first
            else "Something was asked for to this wallet before."
        )
    yield from (_total(total) for total in rule.totals)


def _total(total: Total) -> str:
    hours = "24 hours" if total.hours == 24 else f"{total.hours} hours"
    return f"With it, the {total.of}'s requests of {hours} come to {_range(total.least, total.most)}."


def _range(least: Decimal | None, most: Decimal | None) -> str:
    ends = [None if end is None else grouped(plain(end)) for end in (least, most)]
    if ends[0] and ends[1]:
        return f"from {ends[0]} to {ends[1]}"
    if ends[0]:
        return f"{ends[0]} or more"
    return f"{ends[1]} or less" if ends[1] else ""
