"""What the pages of deposits and withdrawals have in common."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.mirror.admin import MirrorAdmin
from backoffice.mirror.models import Pull
from backoffice.pages.parts import (
    NOTHING,
    Fact,
    Panel,
    Table,
    badge,
    code,
    endl_status,
    link,
    money,
    name,
    when,
)
from cards.scoping import Scoped
from funding.admin.filters import DayRange, Missing
from funding.models.mirrors import Movement


class MovementAdmin(Scoped, MirrorAdmin):
    """Money in or out, as Endl last told it."""

    scope_path = "customer"
    is_live = True
    list_filter: Any = ("status", "currency", ("created_at", DayRange), Missing)
    allowed_lookups: ClassVar[frozenset[str]] = frozenset({"created_at_from", "created_at_to", "missing"})
    search_fields: Any = ("endl_id", "transaction_hash", "customer__name", "customer__endl_id")
    search_help_text = "Search by id, transaction hash or customer."
    ordering = ("-created_at", "-id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        pulls = Pull.objects.filter(kind=self.pull_kind, customer_endl_id=OuterRef("customer__endl_id"))
        rows = super().get_queryset(request)
        found: QuerySet[Any] = rows.annotate(listed_at=Subquery(pulls.values("confirmed_at")[:1]))
        return found

    @display(description="Amount", ordering="amount")
    def shown_amount(self, moved: Any) -> Any:
        return money(moved.amount_text, moved.currency)

    @display(description="Customer", ordering="customer__name")
    def shown_customer(self, moved: Any) -> Any:
        return name(moved.customer.name)

    @display(description="Status", ordering="status")
    def shown_status(self, moved: Any) -> Any:
        return self.badge_of(moved)

    @display(description="Created", ordering="created_at")
    def created(self, moved: Any) -> Any:
        return when(moved.created_at)

    @display(description="Completed", ordering="completed_at")
    def completed(self, moved: Any) -> Any:
        return when(moved.completed_at)

    @display(description="Last confirmed")
    def confirmed(self, moved: Any) -> Any:
        if moved.missing_since:
            return badge("missing")
        return when(max(filter(None, (moved.changed_at, moved.listed_at))))

    def badge_of(self, obj: Any) -> Any:
        return endl_status(obj.status, obj.KNOWN_STATUSES)

    def is_under_way(self, obj: Any) -> bool:
        return not obj.has_ended and obj.missing_since is None


def alarm(obj: Movement, *more: str) -> Iterable[Panel]:
    """What a person has to look at, before anything else."""
    told = [text for text in (obj.contradiction, *more) if text]
    if told:
        yield Panel(
            "A person has to look at this",
            [Fact("Alarm", badge("unknown", text)) for text in dict.fromkeys(told)],
            note="What Endl says now does not follow from what was known before. Ask Endl about it.",
        )


def money_facts(obj: Any) -> Iterable[Fact]:
    """The facts that both have."""
    yield Fact("Amount", money(obj.amount_text, obj.currency))
    yield Fact("Customer", link(obj.customer), obj.customer.endl_id)
    yield Fact("Status", endl_status(obj.status, obj.KNOWN_STATUSES))
    yield Fact("Chain", name(obj.chain))
    yield Fact("Transaction", code(obj.transaction_hash))
    yield Fact("Created", when(obj.created_at))
    yield Fact("Completed", when(obj.completed_at))
    if obj.failure_reason:
        yield Fact("Why it failed", name(obj.failure_reason))


def fees_panel(obj: Movement) -> Panel:
    """Each fee, as Endl told it."""
    rows = [(name(_text(fee.get("type"))), _amount(fee.get("amount"))) for fee in obj.fees]
    return Panel("Fees", table=Table(("Type", "Amount"), rows, numeric=(1,)), empty="Endl has named no fees.")


def _amount(told: Any) -> Any:
    if isinstance(told, dict):
        return money(_text(told.get("amount")), _text(told.get("currency")))
    return name(_text(told)) if told is not None else NOTHING


def _text(told: Any) -> str:
    return "" if told is None else str(told)[:200]
