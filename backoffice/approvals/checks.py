"""Graded checks of a request that waits: what a careful person would look at, with what passes shown too.

A check decides nothing. "stop" says that an approval would be refused or would come to nothing; "look" says
that something is out of the ordinary.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings
from django.utils.module_loading import import_string

from backoffice.approvals import drawing, surroundings
from backoffice.approvals.books import Book
from backoffice.approvals.facts import hash_of
from backoffice.approvals.models import Approval
from backoffice.approvals.rules import Wish
from backoffice.approvals.surroundings import Habit
from backoffice.money import plain

Grade = Literal["pass", "look", "stop"]
GRADES: tuple[Grade, ...] = ("stop", "look", "pass")
# With fewer amounts than this, a 95th percentile says nothing.
ENOUGH = 5
OLD = timedelta(hours=24)


@dataclass(frozen=True)
class Check:
    """One check: its name, how it went, and the sentence that says so."""

    name: str
    grade: Grade
    sentence: str


@dataclass(frozen=True)
class Told:
    """A line about who and what a request is for."""

    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True)
class Tells:
    """What the application that keeps a kind of request tells of one: its parties, and checks of its own."""

    parties: tuple[Told, ...] = ()
    checks: tuple[Check, ...] = ()


def tells_of(request: Any) -> Tells:
    """What its application tells of a request."""
    told: Tells = import_string(settings.DOSSIER_TELLERS[request.kind])(request)
    return told


def checks_of(
    approval: Approval, book: Book, request: Any, *, habits: Iterable[Habit], tells: Tells, now: datetime
) -> list[Check]:
    """Every check of a request, the worst first; those of one grade in a fixed order."""
    wish = book.wish_of(request)
    found = [
        _is_unchanged(approval, book, request),
        _fits_the_rules(approval),
        *tells.checks,
        _is_alone(wish, now),
        *_is_known(wish),
        *_is_usual(wish, habits),
        _is_fresh(approval, now),
    ]
    return sorted(found, key=lambda check: GRADES.index(check.grade))


def worst_of(checks: Iterable[Check]) -> Grade:
    """The worst grade among checks; "pass" where there are none."""
    return min((check.grade for check in checks), key=GRADES.index, default="pass")


def _is_unchanged(approval: Approval, book: Book, request: Any) -> Check:
    name = "What would be sent"
    if hash_of(book.facts(request)) == approval.facts_hash:
        return Check(name, "pass", "It is what was asked for, to the byte.")
    return Check(name, "stop", "It is not what was asked for any more: an approval would not hold.")


def _fits_the_rules(approval: Approval) -> Check:
    if drawing.asks_more_now(approval):
        return Check("Rules", "stop", "The active rules ask for more: who approves gets it drawn up anew.")
    rule = f"The rule “{approval.rule}” fits." if approval.rule else "No rule fits, so two people decide."
    return Check("Rules", "pass", rule)


def _is_alone(wish: Wish, now: datetime) -> Check:
    count = surroundings.alike(wish, now=now).count()
    amount = f"{plain(wish.amount)} {wish.currency}"
    if not count:
        return Check("Same amount", "pass", f"No other request for {amount} to the same place in 24 hours.")
    requests = "One other request" if count == 1 else f"{count} other requests"
    return Check("Same amount", "look", f"{requests} for {amount} to the same place in 24 hours.")


def _is_known(wish: Wish) -> Iterator[Check]:
    firsts = surroundings.firsts(wish)
    place = surroundings.word_of("wallet", wish.kind)
    yield _first(f"First for this {place}", firsts["wallet"], f"Nothing for this {place} stood before.")
    yield _first("First by this maker", firsts["maker"], "This person asked for nothing of the kind before.")
    yield _first("First for this customer", firsts["customer"], "Nothing of the kind stood before.")


def _first(name: str, is_first: bool, sentence: str) -> Check:
    return Check(name, "look", sentence) if is_first else Check(name, "pass", "No: there were others before.")


def _is_usual(wish: Wish, habits: Iterable[Habit]) -> Iterator[Check]:
    for habit in habits:
        longest = habit.spans[-1]
        name = f"Usual for this {habit.word}"
        if longest.p95 is None or longest.count < ENOUGH:
            yield Check(name, "pass", f"Too few others in {longest.days} days to compare: {longest.count}.")
            continue
        usual = f"95 of 100 are up to {plain(longest.p95)} {wish.currency}, in {longest.days} days."
        if wish.amount > longest.p95:
            yield Check(name, "look", f"More than usual: {usual}")
        else:
            yield Check(name, "pass", f"Within what is usual: {usual}")


def _is_fresh(approval: Approval, now: datetime) -> Check:
    if approval.state == Approval.State.PENDING and now - approval.created_at > OLD:
        return Check("Age", "look", "It has waited for more than a day: ask whether it is still wanted.")
    return Check("Age", "pass", "It was asked for within a day of being looked at.")
