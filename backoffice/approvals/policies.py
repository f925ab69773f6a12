"""The active rules: read, locked, kept; and the set that comes with the house."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from backoffice.approvals import rules
from backoffice.approvals.models import Rule, RuleSet, RuleSetChange
from backoffice.approvals.rules import CHECKER, Step, Total

CEILING_RULE = "within the manager's ceiling"
_LARGE = Decimal("10000.00")
# Smaller deposits are no pieces of a large one: eleven of them would each pass before a checker.
_PIECE = Decimal("1000.00")


class NoActiveRules(Exception):
    """The database has no active rule set: `manage.py migrate` makes the first one."""


def active() -> RuleSet:
    """The rule set that holds now. Raises NoActiveRules."""
    found = RuleSet.objects.filter(state=RuleSet.State.ACTIVE).first()
    if found is None:
        raise NoActiveRules("There are no active rules: run `manage.py migrate`.")
    return found


def lock_active() -> RuleSet:
    """The active rule set, locked until the transaction ends.

    Whoever makes a request holds this lock from counting running totals until the request is committed: two
    requests at once both count, and the rules do not change in between.
    """
    held = RuleSet.objects.select_for_update(no_key=True)
    # A change that committed while we waited has made another one active.
    for _ in range(3):
        if (found := held.filter(state=RuleSet.State.ACTIVE).first()) is not None:
            return found
    raise NoActiveRules("There are no active rules: run `manage.py migrate`.")


def rules_of(rule_set: RuleSet) -> tuple[rules.Rule, ...]:
    """The rules of a set, in order."""
    return rules.from_json([rule.content for rule in rule_set.rules.order_by("number")])


@transaction.atomic
def activate(
    proposed: Sequence[rules.Rule], *, version: int, change: RuleSetChange | None, now: datetime
) -> RuleSet:
    """Make a new version and let it take the place of the active one, in the caller's transaction."""
    made = RuleSet.objects.create(version=version, made_at=now, change=change)
    Rule.objects.bulk_create(
        Rule(
            rule_set=made,
            number=number,
            name=rule.name,
            kind=rule.kind,
            asks_nobody=rule.asks_nobody,
            content=rules.as_json([rule])[0],
        )
        for number, rule in enumerate(proposed, 1)
    )
    RuleSet.objects.filter(state=RuleSet.State.ACTIVE).update(state=RuleSet.State.RETIRED)
    RuleSet.objects.filter(pk=made.pk).update(state=RuleSet.State.ACTIVE)
    made.refresh_from_db()
    return made


def first_rules() -> tuple[rules.Rule, ...]:
    """The rules that a new office begins with; later ones are agreed on by two administrators."""
    each, day = (Decimal(int(cents)).scaleb(-2) for cents in _ceilings())
    one, two = (Step(1, CHECKER),), (Step(2, CHECKER),)
    return (
        rules.Rule("large deposit", kind="deposit", least=_LARGE, steps=two),
        rules.Rule(
            "deposits of one maker that add up", kind="deposit", least=_PIECE,
            totals=(Total("maker", 24, least=_LARGE),), steps=two,
        ),
        rules.Rule(
            "deposits from one wallet that add up", kind="deposit", least=_PIECE,
            totals=(Total("wallet", 24, least=_LARGE),), steps=two,
        ),
        rules.Rule("deposit", kind="deposit", steps=one),
        rules.Rule(
            CEILING_RULE, kind="card_order", currency="USD", most=each,
            totals=(Total("maker", 24, most=day),),
        ),
        rules.Rule("card order above the ceiling", kind="card_order", steps=one),
    )  # fmt: skip


def _ceilings() -> tuple[int, int]:
    return settings.ORDER_CEILING_CENTS, settings.ORDER_DAY_CEILING_CENTS


def keep_first_rules(using: str = "default", **_kwargs: Any) -> None:
    """Make version 1 where there is none, after every migrate. Safe to run at any time."""
    from django.db import connections

    if RuleSet._meta.db_table not in connections[using].introspection.table_names():
        return
    if not RuleSet.objects.exists():
        activate(first_rules(), version=1, change=None, now=timezone.now())
