"""How decisions are made: how long they take, how fast they are pressed, who approves whom, who does it all.

Everything is counted from a few reads of the days in question, however many decisions they hold.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backoffice.access.models import User
from backoffice.approvals.models import Decision

# A decision that comes sooner than this after the step began was hardly read.
HASTY = timedelta(seconds=10)
# From so many approvals on, a pair that never says no deserves a look.
PAIR = 5


@dataclass(frozen=True)
class PersonFigures:
    """One person's decisions: how many, how many hasty, how long they took, and their share of all."""

    person: str
    made: int
    rejected: int
    hasty: int
    median: timedelta | None
    p95: timedelta | None
    share: float


@dataclass(frozen=True)
class PairFigures:
    """Who decides on whose requests, and how often with a yes."""

    maker: str
    checker: str
    decided: int
    approved: int
    # Of everything of this maker's that was decided on in that time, the part that this person decided.
    share: float

    @property
    def always(self) -> bool:
        """Whether this person never said no, often enough to mean something."""
        return self.decided >= PAIR and self.approved == self.decided


@dataclass(frozen=True)
class Figures:
    """The figures of some days."""

    since: datetime
    until: datetime
    made: int
    approved: int
    rejected: int
    hasty: int
    median: timedelta | None
    p95: timedelta | None
    people: tuple[PersonFigures, ...]
    pairs: tuple[PairFigures, ...]


@dataclass(frozen=True)
class _Made:
    person: int
    maker: int
    is_yes: bool
    took: timedelta


def of_days(since: datetime, until: datetime) -> Figures:
    """The figures of the decisions made from `since` until before `until`."""
    made = list(_made(since, until))
    names = {
        person.pk: str(person)
        for person in User.objects.filter(
            pk__in={each.person for each in made} | {each.maker for each in made}
        )
    }
    took = sorted(each.took for each in made)
    return Figures(
        since=since,
        until=until,
        made=len(made),
        approved=sum(each.is_yes for each in made),
        rejected=sum(not each.is_yes for each in made),
        hasty=_hasty(made),
        median=_median(took),
        p95=_p95(took),
        people=tuple(_people(made, names)),
        pairs=tuple(_pairs(made, names)),
    )


def _made(since: datetime, until: datetime) -> Iterable[_Made]:
    """Each decision with how long its step had waited: since the one before it, else since the request."""
    rows = (
        Decision.objects.filter(made_at__gte=since, made_at__lt=until)
        .order_by("approval", "made_at", "pk")
        .values_list("approval", "person", "maker", "verdict", "made_at", "approval__created_at")
    )
    before: dict[int, datetime] = {}
    for approval, person, maker, verdict, at, asked_at in rows:
        begun = before.get(approval, asked_at)
        before[approval] = at
        yield _Made(person, maker, verdict == Decision.Verdict.APPROVE, max(at - begun, timedelta(0)))


def _hasty(made: Iterable[_Made]) -> int:
    return sum(each.took < HASTY for each in made)


def _median(took: Sequence[timedelta]) -> timedelta | None:
    seconds = [each.total_seconds() for each in took]
    return timedelta(seconds=statistics.median(seconds)) if seconds else None


def _p95(took: Sequence[timedelta]) -> timedelta | None:
    """The nearest-rank 95th percentile of times that are in order."""
    return took[math.ceil(len(took) * 0.95) - 1] if took else None


def _people(made: Sequence[_Made], names: dict[int, str]) -> Iterable[PersonFigures]:
    by_person: dict[int, list[_Made]] = defaultdict(list)
    for each in made:
        by_person[each.person].append(each)
    for person, own in sorted(by_person.items(), key=lambda item: (-len(item[1]), names[item[0]])):
        took = sorted(each.took for each in own)
        yield PersonFigures(
            person=names[person],
            made=len(own),
            rejected=sum(not each.is_yes for each in own),
            hasty=_hasty(own),
            median=_median(took),
            p95=_p95(took),
            share=len(own) / len(made),
        )


def _pairs(made: Sequence[_Made], names: dict[int, str]) -> Iterable[PairFigures]:
    decided = Counter((each.maker, each.person) for each in made)
    approved = Counter((each.maker, each.person) for each in made if each.is_yes)
    of_maker = Counter(each.maker for each in made)
    pairs = [
        PairFigures(
            maker=names[maker],
            checker=names[person],
            decided=count,
            approved=approved[maker, person],
            share=count / of_maker[maker],
        )
        for (maker, person), count in decided.items()
    ]
    return sorted(pairs, key=lambda pair: (not pair.always, -pair.decided, pair.maker, pair.checker))
