"""The queue behind the page of approvals: whose turn, which rows, in which order, and how much they move."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.apps import apps
from django.conf import settings
from django.db.models import BooleanField, Case, Count, F, Q, QuerySet, Value, When

from backoffice.access.models import User
from backoffice.approvals import turns
from backoffice.approvals.books import all_books
from backoffice.approvals.models import Approval
from backoffice.pages.fields import is_hidden

TURNS = {"mine": "Mine to decide", "others": "Waiting on others", "all": "All"}
ON_A_PAGE = 50
_LONGEST_SEARCH = 200
_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Asked:
    """What the address asks for. Whatever makes no sense there is left out."""

    turn: str = "mine"
    kind: str = ""
    state: str = ""
    text: str = ""
    page: int = 1
    at: int | None = None

    def url(self, **changes: Any) -> str:
        """The query of the same page with something else in it."""
        other = replace(self, **changes)
        given = {
            "turn": other.turn,
            "kind": other.kind,
            "state": other.state,
            "q": other.text,
            "p": other.page if other.page > 1 else "",
            "at": other.at or "",
        }
        return "?" + urlencode({name: value for name, value in given.items() if value})

    @property
    def filters(self) -> str:
        """What narrows the list, in words; blank when nothing does."""
        words = [self.kind.replace("_", " "), self.state, f"“{self.text}”" if self.text else ""]
        return ", ".join(word for word in words if word)


def asked(given: Mapping[str, Any]) -> Asked:
    """Read the address of a queue page, leniently."""
    turn, kind, state = (str(given.get(name) or "") for name in ("turn", "kind", "state"))
    text = "".join(letter for letter in str(given.get("q") or "") if not is_hidden(letter))
    return Asked(
        turn=turn if turn in TURNS else "mine",
        kind=kind if kind in {book.kind for book in all_books()} else "",
        state=state if turn == "all" and state in Approval.State.values else "",
        text=text.strip()[:_LONGEST_SEARCH],
        page=_number(given.get("p")) or 1,
        at=_number(given.get("at")),
    )


def _number(given: Any) -> int | None:
    text = str(given or "")
    is_number = text.isascii() and text.isdigit() and len(text) < 11
    return int(text) if is_number and 0 < int(text) <= _LARGEST else None


@dataclass
class Tab:
    """How much waits behind one tab, and since when."""

    turn: str
    label: str
    count: int = 0
    oldest: datetime | None = None
    sums: dict[str, Decimal] = field(default_factory=dict)


class Queue:
    """What one person sees of the queue. `rows` are the approvals that they may open."""

    def __init__(self, rows: QuerySet[Approval], person: User, wanted: Asked, *, now: datetime) -> None:
        self.person, self.asked = person, wanted
        self.mine = turns.mine(person, now=now)
        self.rows = _narrowed(rows, wanted)

    def tabs(self) -> list[Tab]:
        """The tabs with their counts, ages and sums: two queries, however much waits."""
        tabs = {turn: Tab(turn, label) for turn, label in TURNS.items()}
        is_mine = Case(When(self.mine, then=Value(True)), default=Value(False), output_field=BooleanField())
        waiting = self.rows.filter(state=Approval.State.PENDING).annotate(mine_now=is_mine)
        # Added up here: SQLite would do it with floats.
        for mine_now, amount, currency, since in waiting.values_list(
            "mine_now", "amount", "currency", turns.WAITS_SINCE
        ):
            tab = tabs["mine" if mine_now else "others"]
            tab.count += 1
            tab.oldest = since if tab.oldest is None else min(tab.oldest, since)
            if amount is not None:
                tab.sums[currency] = tab.sums.get(currency, Decimal(0)) + amount
        tabs["all"].count = self.rows.count()
        return list(tabs.values())

    def ordered(self) -> QuerySet[Approval]:
        """The rows of the tab: due first, and what is decided after that, the latest first."""
        pending = Q(state=Approval.State.PENDING)
        if self.asked.turn == "all":
            has_ended = Case(When(pending, then=Value(0)), default=Value(1))
            due = Case(When(pending, then=turns.WAITS_SINCE))
            return self.rows.order_by(has_ended, due, F("decided_at").desc(), "pk")
        waiting = self.rows.filter(pending).order_by(turns.WAITS_SINCE, "pk")
        own = self.rows.filter(self.mine)
        return (
            waiting.filter(self.mine)
            if self.asked.turn == "mine"
            else waiting.exclude(pk__in=own.values("pk"))
        )

    def listed(self) -> list[Approval]:
        """The rows of one page, with who made them and how many have decided."""
        first = (self.asked.page - 1) * ON_A_PAGE
        given = Count("decisions", filter=Q(decisions__verdict="approve"))
        rows = self.ordered().select_related("maker").annotate(given=given)
        return list(rows[first : first + ON_A_PAGE])

    def after(self, pk: int) -> int | None:
        """The next one that this person can decide on, once they have decided on this one."""
        waiting = self.rows.filter(self.mine).order_by(turns.WAITS_SINCE, "pk")
        keys = list(waiting.values_list("pk", flat=True))
        if pk not in keys:
            return keys[0] if keys else None
        place = keys.index(pk)
        others = keys[place + 1 :] + keys[:place]
        return others[0] if others else None


def _narrowed(rows: QuerySet[Approval], wanted: Asked) -> QuerySet[Approval]:
    if wanted.kind:
        rows = rows.filter(kind=wanted.kind)
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    if wanted.text:
        customers = apps.get_model(settings.CUSTOMER_MODEL)._default_manager
        named = customers.filter(name__icontains=wanted.text).values("endl_id")
        rows = rows.filter(
            Q(summary__icontains=wanted.text)
            | Q(maker__username__icontains=wanted.text)
            | Q(customer_endl_id__icontains=wanted.text)
            | Q(customer_endl_id__in=named)
        )
    return rows


def names_of(approvals: Iterable[Approval]) -> dict[str, str]:
    """The names of their customers, by Endl id."""
    customers = apps.get_model(settings.CUSTOMER_MODEL)._default_manager
    wanted = {approval.customer_endl_id for approval in approvals}
    return dict(customers.filter(endl_id__in=wanted).values_list("endl_id", "name"))
