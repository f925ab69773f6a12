"""The books: what each kind of request tells the rules about. The applications keep one for each kind.

The office knows them only as strings, in `settings.APPROVAL_BOOKS`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Max, Model, Q, QuerySet, Sum
from django.utils.module_loading import import_string

from backoffice.approvals.rules import Figures, Of, Wish, begin_of

# A request that ended so moves nothing, and counts for nothing from then on.
CAME_TO_NOTHING = ("rejected", "cancelled", "expired", "refused")
# So far may two processes' clocks, or the waits for a lock, put the times of two requests in the wrong order.
_CLOCKS_DIFFER = timedelta(minutes=5)


@dataclass(frozen=True)
class Book:
    """How one kind of request reads for the rules.

    Attributes:
        kind: the word of the request's model.
        model: its table, with `maker`, `created_at`, `state`, `state_at` and `approval`.
        roles: whom rules may ask, each with the permission that its people must hold.
        facts: what an approval binds to, rebuilt from a row.
        summary: the line that a queue shows.
        amount: the column of the amount.
        shift: how many digits of that column stand behind the point, where it is a whole number.
        currency: the column of the currency, or the currency itself in capitals.
        customer: the path to the customer's Endl id.
        wallet: the path to the wallet's Endl id; of a card order, its cardholder's.
        select: what `facts` reads beside the row.
    """

    kind: str
    model: type[Any]
    roles: Mapping[str, str]
    facts: Callable[[Any], dict[str, Any]]
    summary: Callable[[Any], str]
    amount: str
    currency: str
    customer: str
    wallet: str
    shift: int = 0
    select: tuple[str, ...] = ()

    def wish_of(self, request: Any) -> Wish:
        """A request as the rules read it, saved or not."""
        return Wish(
            kind=self.kind,
            amount=self._exact(getattr(request, self.amount)),
            currency=self.currency if self._has_one_currency else getattr(request, self.currency),
            maker=request.maker_id,
            customer=_follow(request, self.customer),
            wallet=_follow(request, self.wallet),
            at=request.created_at,
            gone_at=request.state_at if request.state in CAME_TO_NOTHING else None,
            key=request.pk,
        )

    def wishes(self, rows: QuerySet[Any]) -> Iterable[Wish]:
        """Many requests as the rules read them, without loading the rows."""
        currency = () if self._has_one_currency else (self.currency,)
        columns = (
            "pk",
            self.amount,
            "maker_id",
            self.customer,
            self.wallet,
            "created_at",
            "state",
            "state_at",
        )
        for pk, amount, maker, customer, wallet, at, state, state_at, *own in rows.values_list(
            *columns, *currency
        ).iterator(chunk_size=5000):
            yield Wish(
                kind=self.kind,
                amount=self._exact(amount),
                currency=own[0] if own else self.currency,
                maker=maker,
                customer=customer,
                wallet=wallet,
                at=at,
                gone_at=state_at if state in CAME_TO_NOTHING else None,
                key=pk,
            )

    def figures_of(self, wish: Wish, windows: Iterable[tuple[Of, int]]) -> Figures:
        """The totals of a wish as of when it was asked for, itself included; and whether it is first."""
        totals = {(of, hours): wish.amount + self._sum_beside(wish, of, hours) for of, hours in windows}
        before = self._standing_at(wish).filter(**{self.wallet: wish.wallet})
        return Figures(totals, is_first=not before.exists())

    def _sum_beside(self, wish: Wish, of: Of, hours: int) -> Decimal:
        mine = {self.path_of(of): wish.whose(of), "created_at__gt": begin_of(wish.at, hours)}
        rows = self._standing_at(wish).filter(self._in_currency(wish.currency), **mine)
        if connection.vendor == "postgresql":
            return self._exact(rows.aggregate(sum=Sum(self.amount))["sum"] or 0)
        # Added up here: SQLite would do it with floats.
        return sum((self._exact(amount) for amount in rows.values_list(self.amount, flat=True)), Decimal(0))

    def _standing_at(self, wish: Wish) -> QuerySet[Any]:
        """What was asked for before a wish and had not come to nothing by then."""
        gone = Q(state__in=CAME_TO_NOTHING, state_at__lte=wish.at)
        if wish.key is None:
            # About to be made, under the lock: what another made "a moment later" is there and counts.
            earlier = Q(created_at__lte=wish.at + _CLOCKS_DIFFER)
        else:
            earlier = Q(created_at__lt=wish.at) | Q(created_at=wish.at, pk__lt=wish.key)
        rows: QuerySet[Any] = self.model._default_manager.filter(earlier).exclude(gone)
        return rows

    def known_wallets(self, *, before: datetime) -> dict[str, datetime | None]:
        """The wallets that were used before a moment; None, or until when what was asked for stood."""
        rows = self.model._default_manager.filter(created_at__lt=before)
        gone = rows.filter(state__in=CAME_TO_NOTHING).values_list(self.wallet).annotate(Max("state_at"))
        known: dict[str, datetime | None] = dict(gone.order_by())
        standing = rows.exclude(state__in=CAME_TO_NOTHING).values_list(self.wallet, flat=True)
        return known | dict.fromkeys(standing.order_by().distinct())

    def request_of(self, approval_pk: int) -> Any:
        """The request of an approval; None where it has another one by now."""
        return self.model._default_manager.select_related(*self.select).filter(approval=approval_pk).first()

    def path_of(self, of: Of) -> str:
        """How a row leads to whose totals it counts for."""
        return {"maker": "maker_id", "wallet": self.wallet, "customer": self.customer}[of]

    def _in_currency(self, currency: str) -> Q:
        return Q() if self._has_one_currency else Q(**{self.currency: currency})

    @property
    def _has_one_currency(self) -> bool:
        return self.currency.isupper()

    def _exact(self, amount: Any) -> Decimal:
        return Decimal(amount).scaleb(-self.shift)


def all_books() -> list[Book]:
    """The books of all kinds, in the order of the settings."""
    return list(_books().values())


def book_of(kind: str) -> Book:
    """The book of a kind of request."""
    return _books()[kind]


def roles_by_kind() -> dict[str, frozenset[str]]:
    """Whom rules may ask, for each kind."""
    return {book.kind: frozenset(book.roles) for book in all_books()}


@cache
def _books() -> dict[str, Book]:
    books: list[Book] = [import_string(name) for name in settings.APPROVAL_BOOKS]
    return {book.kind: book for book in books}


def _follow(row: Model, path: str) -> str:
    value: Any = row
    for name in path.split("__"):
        value = getattr(value, name)
    return str(value)
