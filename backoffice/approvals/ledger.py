"""Figures of many wishes at once, in one pass through time: what `Book.figures_of` says of a single one."""

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from backoffice.approvals.rules import Figures, Of, Wish

Window = tuple[Of, int]
_ZERO = Decimal(0)


@dataclass
class _Running:
    """A running total: what is in it, and when each part of it leaves."""

    total: Decimal = _ZERO
    leaving: list[tuple[datetime, int, Decimal]] = field(default_factory=list)

    def as_of(self, moment: datetime) -> Decimal:
        """The total at a moment that is not before an earlier one."""
        while self.leaving and self.leaving[0][0] <= moment:
            self.total -= heapq.heappop(self.leaving)[2]
        return self.total

    def add(self, amount: Decimal, until: datetime, number: int) -> None:
        self.total += amount
        heapq.heappush(self.leaving, (until, number, amount))


def walk(
    wishes: Iterable[Wish], windows: Iterable[Window], known_wallets: Mapping[str, datetime | None]
) -> Iterator[tuple[Wish, Figures]]:
    """Give each wish its figures as of its own time.

    Args:
        wishes: of one kind, oldest first, from so early that every window of those that matter is whole.
        windows: the totals that are wanted.
        known_wallets: wallets that were used before the first wish; None, or until when the wish stood.
    """
    windows = list(windows)
    running: dict[tuple[Window, str, int | str], _Running] = defaultdict(_Running)
    stood: dict[str, datetime | None] = dict(known_wallets)
    numbers = itertools.count()
    for wish in wishes:
        totals = {}
        for of, hours in windows:
            total = running[(of, hours), wish.currency, wish.whose(of)]
            totals[of, hours] = total.as_of(wish.at) + wish.amount
            ends = wish.at + timedelta(hours=hours)
            if wish.gone_at is None or wish.gone_at > wish.at:
                total.add(wish.amount, min(ends, wish.gone_at or ends), next(numbers))
        yield wish, Figures(totals, is_first=_is_first(stood, wish))
        stood[wish.wallet] = _later(stood, wish)


def _is_first(stood: Mapping[str, datetime | None], wish: Wish) -> bool:
    if wish.wallet not in stood:
        return True
    until = stood[wish.wallet]
    return until is not None and until <= wish.at


def _later(stood: Mapping[str, datetime | None], wish: Wish) -> datetime | None:
    """Until when the wallet counts as used: for ever, once anything stands."""
    if wish.gone_at is None:
        return None
    if wish.wallet not in stood:
        return wish.gone_at
    before = stood[wish.wallet]
    return None if before is None else max(before, wish.gone_at)
