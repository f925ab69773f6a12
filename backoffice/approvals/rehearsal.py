"""Rehearsing rules: what they would have done to the last 90 days, beside what the active ones do.

Both rule sets look at the same history, with the figures as they stood when each request was made.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from backoffice.access.models import User
from backoffice.approvals import ledger, policies, rules
from backoffice.approvals.books import Book, all_books
from backoffice.approvals.models import Decision
from backoffice.approvals.rules import Asked, Rule, Wish

DAYS = 90


@dataclass(frozen=True)
class Moved:
    """A request that the proposed rules would have treated differently."""

    wish: Wish
    old: Asked
    new: Asked

    @property
    def word(self) -> str:
        """caught (asks people where none were), freed (the other way), more, fewer, or other."""
        if self.old.people == 0 or self.new.people == 0:
            return "caught" if self.old.people == 0 else "freed"
        if self.new.people != self.old.people:
            return "more" if self.new.people > self.old.people else "fewer"
        return "other"


@dataclass(frozen=True)
class PersonLoad:
    """Decisions of one person: made in that time, and what the share of the proposed ones would be."""

    person: User
    made: int
    before: Decimal
    after: Decimal


@dataclass(frozen=True)
class RoleLoad:
    """Decisions that are asked of a role, under the active and under the proposed rules."""

    role: str
    permission: str
    before: int
    after: int
    people: tuple[PersonLoad, ...]


@dataclass
class Rehearsal:
    """What proposed rules would have done.

    Attributes:
        looked_at: how many requests there were.
        caught, freed, changed: those that would newly be asked people for, no longer, or others.
        loads: decisions by role and person.
        by_rule: how many requests each proposed rule would have decided; "" where none fits.
        sums: the amounts newly caught and no longer caught, by (word, currency).
    """

    since: datetime
    until: datetime
    looked_at: int = 0
    caught: list[Moved] = field(default_factory=list)
    freed: list[Moved] = field(default_factory=list)
    changed: list[Moved] = field(default_factory=list)
    loads: list[RoleLoad] = field(default_factory=list)
    by_rule: Counter[str] = field(default_factory=Counter)
    sums: dict[tuple[str, str], Decimal] = field(default_factory=dict)


def rehearse(proposed: Sequence[Rule], *, now: datetime, days: int = DAYS) -> Rehearsal:
    """What proposed rules would have done to the requests of the last days, beside the active rules.

    Writes nothing. A request counts for running totals from when it was made until it came to nothing.
    """
    active = policies.rules_of(policies.active())
    told = Rehearsal(since=now - timedelta(days=days), until=now)
    asked: dict[bool, Counter[tuple[str, str]]] = {False: Counter(), True: Counter()}
    for book in all_books():
        for wish, figures in _history(book, [*active, *proposed], told):
            old, new = rules.ask(active, wish, figures), rules.ask(proposed, wish, figures)
            _note(told, wish, old, new)
            for is_new, each in ((False, old), (True, new)):
                for step in each.steps:
                    asked[is_new][step.role, book.roles[step.role]] += step.people
    told.loads = [
        _load(role, permission, asked[False][role, permission], asked[True][role, permission], told)
        for role, permission in sorted(asked[False] | asked[True])
    ]
    return told


def _history(book: Book, held: Sequence[Rule], told: Rehearsal) -> Iterator[tuple[Wish, rules.Figures]]:
    """The wishes of a book in that time, each with its figures; read once, oldest first."""
    windows = rules.windows_of(held)
    begin = rules.begin_of(told.since, max((hours for _, hours in windows), default=0))
    rows = book.model._default_manager.filter(created_at__gt=begin, created_at__lte=told.until)
    wishes = book.wishes(rows.order_by("created_at", "pk"))
    for wish, figures in ledger.walk(wishes, windows, book.known_wallets(before=begin)):
        if wish.at > told.since:
            yield wish, figures


def _note(told: Rehearsal, wish: Wish, old: Asked, new: Asked) -> None:
    told.looked_at += 1
    told.by_rule[new.rule] += 1
    if old.steps == new.steps:
        return
    moved = Moved(wish, old, new)
    lists = {"caught": told.caught, "freed": told.freed}
    lists.get(moved.word, told.changed).append(moved)
    key = (moved.word, wish.currency)
    told.sums[key] = told.sums.get(key, Decimal(0)) + wish.amount


def _load(role: str, permission: str, before: int, after: int, told: Rehearsal) -> RoleLoad:
    """Share what is asked of a role among its people as they shared what they decided in that time."""
    people = [
        person
        for person in User.objects.filter(is_active=True).order_by("username")
        if person.has_perm(permission)
    ]
    decided = Decision.objects.filter(
        person__in=people, permission__in=(permission, ""), made_at__gt=told.since, made_at__lte=told.until
    )
    made = Counter(decided.values_list("person", flat=True))
    shares = {person.pk: _share(made, person, len(people)) for person in people}
    return RoleLoad(
        role,
        permission,
        before,
        after,
        tuple(
            PersonLoad(person, made[person.pk], before * shares[person.pk], after * shares[person.pk])
            for person in people
        ),
    )


def _share(made: Counter[int], person: User, people: int) -> Decimal:
    """A person's part of the work; even parts where nobody has decided anything yet."""
    total = made.total()
    return Decimal(made[person.pk]) / total if total else Decimal(1) / people
