"""What stands around a request: what is usual, what is the same, what is the first, what is not sent yet."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from backoffice.approvals import usual
from backoffice.approvals.books import CAME_TO_NOTHING, all_books, book_of
from backoffice.approvals.rules import WHOSE, Of, Wish
from backoffice.approvals.usual import Usual

ALIKE_WITHIN = timedelta(hours=24)
# What is on its way or not begun; what Endl has taken is not among them.
NOT_SENT = ("requested", "approved")
FIRST_FEW = 10


@dataclass(frozen=True)
class Habit:
    """What a maker, a wallet or a customer usually asks for, over some spans of days, shortest first."""

    of: Of
    word: str
    spans: Sequence[Usual]


def habits(wish: Wish, *, now: datetime) -> list[Habit]:
    """What is usual around a request."""
    return [Habit(of, word_of(of, wish.kind), usual.usual(of, wish, now=now)) for of in WHOSE]


def word_of(of: Of, kind: str) -> str:
    """How people call it: the wallet of a card order is its cardholder."""
    return "cardholder" if of == "wallet" and kind != "deposit" else of


def alike(wish: Wish, *, now: datetime) -> QuerySet[Any]:
    """Other requests of the last 24 hours for the same amount to the same place that still stand."""
    book = book_of(wish.kind)
    amount = wish.amount if not book.shift else int(wish.amount.scaleb(book.shift))
    own = {book.wallet: wish.wallet, book.amount: amount}
    return _others(wish).filter(created_at__gt=now - ALIKE_WITHIN, **own).order_by("-created_at")


def firsts(wish: Wish) -> dict[Of, bool]:
    """Whether nothing that stands was asked for before: by this maker, to this wallet, for this customer."""
    book = book_of(wish.kind)
    earlier = _others(wish).filter(created_at__lte=wish.at)
    return {of: not earlier.filter(**{book.path_of(of): wish.whose(of)}).exists() for of in WHOSE}


def _others(wish: Wish) -> QuerySet[Any]:
    rows: QuerySet[Any] = book_of(wish.kind).model._default_manager.exclude(pk=wish.key)
    return rows.exclude(state__in=CAME_TO_NOTHING)


@dataclass(frozen=True)
class Unsent:
    """What a customer has of one kind and currency that is not sent yet."""

    kind: str
    currency: str
    count: int
    total: Decimal
    oldest: datetime


def unsent(customer_endl_id: str, *, beside: Wish) -> list[Unsent]:
    """Deposits and card orders of a customer that are not sent yet, the request itself left out."""
    found: dict[tuple[str, str], list[Wish]] = defaultdict(list)
    for book in all_books():
        rows = book.model._default_manager.filter(**{book.customer: customer_endl_id}, state__in=NOT_SENT)
        for wish in book.wishes(rows.order_by("created_at")):
            if (wish.kind, wish.key) != (beside.kind, beside.key):
                found[wish.kind, wish.currency].append(wish)
    return [
        Unsent(kind, currency, len(own), sum((wish.amount for wish in own), Decimal(0)), own[0].at)
        for (kind, currency), own in found.items()
    ]
