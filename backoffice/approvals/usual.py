"""What a maker, a wallet or a customer usually asks for: the middle and the upper end of their amounts."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from backoffice.approvals.books import CAME_TO_NOTHING, book_of
from backoffice.approvals.rules import Of, Wish

SPANS = (30, 90)


@dataclass(frozen=True)
class Usual:
    """Amounts of some days, in one currency. With no amount, median and p95 are None.

    Attributes:
        days: how far back.
        count: how many requests.
        median: the middle amount; between two, halfway.
        p95: the smallest amount that 95 of 100 do not exceed.
        total: their sum.
    """

    days: int
    count: int
    median: Decimal | None
    p95: Decimal | None
    total: Decimal


def usual(of: Of, wish: Wish, *, now: datetime, spans: Sequence[int] = SPANS) -> list[Usual]:
    """What the maker, the wallet or the customer of a request usually asks for.

    Looks at what the same kind of request asked for in the same currency and did not come to nothing, the
    request itself left out.

    Args:
        of: whose habits; the wallet of a card order is its cardholder.
        wish: the request, from `Book.wish_of`.
        spans: how many days back, each.
    """
    book = book_of(wish.kind)
    mine = {book.path_of(of): wish.whose(of)}
    rows = (
        book.model._default_manager.filter(created_at__gt=now - timedelta(days=max(spans)), **mine)
        .exclude(state__in=CAME_TO_NOTHING)
        .exclude(pk=wish.key)
        .order_by("created_at")
    )
    others = [other for other in book.wishes(rows) if other.currency == wish.currency]
    return [
        _told(days, [other.amount for other in others if other.at > now - timedelta(days=days)])
        for days in spans
    ]


def _told(days: int, amounts: list[Decimal]) -> Usual:
    ordered = sorted(amounts)
    return Usual(
        days=days,
        count=len(ordered),
        median=statistics.median(ordered) if ordered else None,
        p95=percentile(ordered, 95) if ordered else None,
        total=sum(ordered, Decimal(0)),
    )


def percentile(ordered: Sequence[Decimal], percent: int) -> Decimal:
    """The nearest-rank percentile of amounts that are in order; there is at least one."""
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]
