"""Whether a list of rules makes sense, in sentences for whoever proposes it."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from backoffice.approvals.rules import LONGEST_HOURS, MOST_PEOPLE, MOST_RULES, MOST_STEPS, WHOSE, Rule

# Of each kind of request: the roles that may be asked about it.
Roles = Mapping[str, frozenset[str]]


def problems(rules: Sequence[Rule], roles: Roles) -> list[str]:
    """What is wrong with a rule set, one sentence each; empty when it can be used.

    Args:
        rules: the proposed set.
        roles: the kinds there are, each with the roles that may be asked.
    """
    return list(_of_set(rules)) + [each for rule in rules for each in _of_rule(rule, roles)]


def _of_set(rules: Sequence[Rule]) -> Iterator[str]:
    if not 0 < len(rules) <= MOST_RULES:
        yield f"A rule set has from 1 to {MOST_RULES} rules."
    names = [rule.name.strip().casefold() for rule in rules]
    if len(set(names)) < len(names):
        yield "Two rules have the same name."


def _of_rule(rule: Rule, roles: Roles) -> Iterator[str]:
    name = rule.name.strip()
    if not name or len(name) > 100:
        yield "Every rule has a name of up to 100 letters."
    if rule.kind and rule.kind not in roles:
        yield f"{name}: there are no requests of the kind {rule.kind}."
    if rule.asks_nobody and (not rule.kind or rule.most is None):
        yield f"{name}: a rule that asks nobody must say for which kind, and up to which amount."
    yield from (f"{name}: {told}" for told in _of_ranges(rule))
    yield from (f"{name}: {told}" for told in _of_steps(rule, roles))


def _of_ranges(rule: Rule) -> Iterator[str]:
    for least, most in ((rule.least, rule.most), *((each.least, each.most) for each in rule.totals)):
        if any(end is not None and not 0 <= end < Decimal(10) ** 12 for end in (least, most)):
            yield "amounts are from 0 to less than a million millions."
        if least is not None and most is not None and least > most:
            yield "a range begins with its smaller end."
    for total in rule.totals:
        if total.of not in WHOSE:
            yield "a running total is of the maker, the wallet or the customer."
        if not 0 < total.hours <= LONGEST_HOURS:
            yield f"a running total looks back from 1 to {LONGEST_HOURS} hours."
        if total.least is None and total.most is None:
            yield "a running total has a smallest or a largest value."


def _of_steps(rule: Rule, roles: Roles) -> Iterator[str]:
    if len(rule.steps) > MOST_STEPS:
        yield f"at most {MOST_STEPS} steps."
    kinds = [rule.kind] if rule.kind in roles else list(roles)
    for step in rule.steps:
        if not 0 < step.people <= MOST_PEOPLE:
            yield f"a step asks from 1 to {MOST_PEOPLE} people."
        for kind in kinds:
            if step.role not in roles[kind]:
                yield f"{step.role or 'a blank role'} cannot be asked about a {kind.replace('_', ' ')}."
