"""The pages of customers: what we say of them, what Endl says, and how fresh it is."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html_join
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import bell
from backoffice.mirror.models import Pull
from backoffice.mirror.pull import GIVEN_UP_AFTER
from backoffice.pages.forms import FormAdmin
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, code, endl_status, link, name, when
from cards import customers, registering, tasks
from cards.admin.common import FIRST_FEW, add_url, list_url
from cards.forms import AddCustomerForm, ChangeCustomerForm
from cards.models import Assignment, Cardholder, CardholderRequest, Customer
from cards.scoping import Scoped

# The task of money's that syncs a customer, by its name: this application does not know money.
_SYNC_MONEY = "funding.tasks.sync_customer"
_LISTS = {"cardholders": "Cardholders and cards", "deposits": "Deposits", "withdrawals": "Withdrawals"}
# A bell that no worker heard by then is not waited for any longer.
_HEARD_WITHIN = timedelta(seconds=60)


@admin.register(Customer)
class CustomerAdmin(Scoped, FormAdmin):
    """Customers, by their Endl id."""

    scope_path = "pk"
    add_form_class = AddCustomerForm
    act_names = ("sync", "details")
    is_live = True
    list_display = ("shown_name", "shown_id", "type", "endl_says", "last_confirmed")
    list_filter = ("type", "is_active", "is_known", "is_enabled", "is_enrolled")
    search_fields = ("name", "endl_id")
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        pulls = Pull.objects.filter(customer_endl_id=OuterRef("endl_id"), confirmed_at__isnull=False)
        newest = pulls.order_by("-confirmed_at").values("confirmed_at")[:1]
        rows: QuerySet[Any] = super().get_queryset(request).annotate(confirmed=Subquery(newest))
        return rows

    @display(description="Name", ordering="name")
    def shown_name(self, customer: Customer) -> Any:
        return name(customer.name)

    @display(description="Endl id", ordering="endl_id")
    def shown_id(self, customer: Customer) -> Any:
        return code(customer.endl_id)

    @display(description="Endl says")
    def endl_says(self, customer: Customer) -> Any:
        return format_html_join(" ", "{}", ((shown,) for shown in _badges(customer)))

    @display(description="Last confirmed", ordering="confirmed")
    def last_confirmed(self, customer: Any) -> Any:
        return when(customer.confirmed)

    def badge_of(self, obj: Customer) -> Any:
        return format_html_join(" ", "{}", ((shown,) for shown in _badges(obj)))

    def lead_of(self, obj: Customer) -> str:
        return f"{obj.get_type_display()} at Endl, as we know it."

    def is_under_way(self, obj: Customer) -> bool:
        return _is_running(obj, timezone.now())

    def state_of(self, obj: Customer) -> str:
        return "syncing" if self.is_under_way(obj) else "at rest"

    def after_form(self, request: HttpRequest, made: Any) -> None:
        _ring(made)

    def acts(self, request: HttpRequest, obj: Customer) -> Iterable[Act]:
        person = the_person(request)
        if person.has_perm("cards.sync_customer"):
            yield Act("sync", "Sync now", partial(_sync, obj, person), tone="primary")
        if person.has_perm("cards.add_cardholderrequest"):
            yield Act(
                "register",
                "Register cardholder",
                href=add_url(CardholderRequest, customer=obj.pk),
                why_not=registering.why_no_cards(obj),
            )
        if person.has_perm("cards.change_customer"):
            yield Act("details", "Change details", partial(_change, obj, person), form=ChangeCustomerForm)

    def panels(self, request: HttpRequest, obj: Customer) -> Iterable[Panel]:
        person = the_person(request)
        yield Panel("Customer", list(_facts(obj)))
        yield Panel("What Endl says", list(_learned(obj)))
        yield _freshness(obj)
        if person.has_perm("cards.view_cardholder"):
            yield _cardholders(obj)
        if person.has_perm("cards.view_assignment"):
            yield _who_works_for(obj)


def _facts(customer: Customer) -> Iterable[Fact]:
    yield Fact("Endl id", code(customer.endl_id))
    yield Fact("Type", customer.get_type_display())
    yield Fact("In use", "Yes" if customer.is_active else "No: nothing is synced or requested for it")
    yield Fact("Added by", str(customer.added_by))
    yield Fact("Added at", when(customer.added_at))


_SAID = (
    ("is_known", "Known to Endl", "Unknown to Endl"),
    ("is_business", "A business", "Not a business"),
    ("is_enabled", "Enabled for cards", "Not enabled for cards"),
    ("is_enrolled", "Enrolled for deposits", "Not enrolled for deposits"),
)


def _badges(customer: Customer) -> list[Any]:
    """What Endl has said, a badge each; one that says so where it has said nothing."""
    said = [
        badge(f"{column}_{'yes' if value else 'no'}", yes if value else no, tone="good" if value else "bad")
        for column, yes, no in _SAID
        if (value := getattr(customer, column)) is not None
    ]
    return said or [badge("not_asked", "Endl has not said yet", tone="wait")]


def _learned(customer: Customer) -> Iterable[Fact]:
    yield Fact("So far", format_html_join(" ", "{}", ((shown,) for shown in _badges(customer))))
    for sentence in _what_to_do(customer):
        yield Fact("What to do", sentence)
    if customer.learned_message:
        yield Fact("Endl's words", customer.learned_message)
    yield Fact("Learned at", when(customer.learned_at))


def _what_to_do(customer: Customer) -> Iterable[str]:
    if customer.is_known is False:
        yield (
            f"Endl does not know {customer.endl_id}. Compare the id with Endl's; where it is wrong, take "
            "this customer out of use and add the right one."
        )
    if customer.type == Customer.Type.BUSINESS and customer.is_business is False:
        yield "Endl says that this is not a business. Change its type; cards need a business customer."
    if customer.is_enabled is False:
        yield "Ask your Endl contact to enable this business for cards, then press Sync now."
    if customer.is_enrolled is False:
        yield "Ask your Endl contact to enrol this customer for deposits."


def _kinds(customer: Customer) -> list[str]:
    return [kind for kind in _LISTS if kind != "cardholders" or customer.type == Customer.Type.BUSINESS]


def _pulls(customer: Customer) -> dict[str, Pull]:
    return {pull.kind: pull for pull in Pull.objects.filter(customer_endl_id=customer.endl_id)}


def _freshness(customer: Customer) -> Panel:
    now, pulls = timezone.now(), _pulls(customer)
    rows = [
        _pull_row(label, pulls.get(kind), now) for kind, label in _LISTS.items() if kind in _kinds(customer)
    ]
    headers = ("List", "Last confirmed", "Rows", "Unreadable", "Now", "In the way")
    return Panel("Synced with Endl", table=Table(headers, rows, numeric=(2, 3)))


def _pull_row(label: str, pull: Pull | None, now: datetime) -> tuple[Any, ...]:
    if pull is None:
        return (label, "never", "—", "—", "—", "")
    running = f"running since {pull.started_at:%H:%M:%S %Z}" if _runs(pull, now) else "—"
    return (label, when(pull.confirmed_at), pull.items, pull.unreadable, running, pull.trouble)


def _runs(pull: Pull, now: datetime) -> bool:
    """Whether the list is being read right now."""
    if pull.started_at is None or pull.started_at < now - GIVEN_UP_AFTER:
        return False
    return not any(ended and ended >= pull.started_at for ended in (pull.confirmed_at, pull.trouble_at))


def _is_running(customer: Customer, now: datetime) -> bool:
    """Whether a list is being read, or somebody asked for it and no worker has begun."""
    pulls = _pulls(customer)
    if any(_runs(pull, now) for pull in pulls.values()):
        return True
    asked_at = _asked_at(customer)
    if not customer.is_active or asked_at < now - _HEARD_WITHIN:
        return False
    started = [pulls[kind].started_at if kind in pulls else None for kind in _kinds(customer)]
    return any(moment is None or moment < asked_at for moment in started)


def _asked_at(customer: Customer) -> datetime:
    """When somebody last wanted it synced; adding a customer is such a wish."""
    asked = Entry.objects.filter(
        object_type=customer._meta.label_lower,
        object_id=str(customer.pk),
        verb="customer.ask_sync",
        result=Entry.Result.DONE,
    ).first()
    return max(asked.at, customer.added_at) if asked else customer.added_at


def _cardholders(customer: Customer) -> Panel:
    holders = list(Cardholder.objects.filter(customer=customer).defer("payload")[: FIRST_FEW + 1])
    rows = [
        (
            link(holder),
            name(holder.email),
            endl_status(holder.status, Cardholder.KNOWN_STATUSES),
            badge(holder.review_state, holder.get_review_state_display()),
        )
        for holder in holders[:FIRST_FEW]
    ]
    more = ("All of them", list_url(Cardholder, customer__id__exact=customer.pk)) if holders else None
    table = Table(("Name", "E-mail", "At Endl", "Review"), rows)
    return Panel("Cardholders", table=table, empty="Endl has told of no cardholder yet.", more=more)


def _who_works_for(customer: Customer) -> Panel:
    given = Assignment.objects.filter(customer=customer).select_related("user", "given_by")
    rows = [(str(each.user), str(each.given_by or "—"), when(each.given_at)) for each in given]
    return Panel(
        "Who works for it",
        table=Table(("Person", "Assigned by", "Since"), rows),
        empty="Nobody is assigned to this customer alone.",
    )


def _ring(customer: Customer) -> None:
    if customer.type == Customer.Type.BUSINESS:
        bell.ring(tasks.SYNC_CARDHOLDERS, customer.pk)
    bell.ring(_SYNC_MONEY, customer.pk)


def _sync(customer: Customer, person: User, _given: dict[str, Any]) -> str:
    customers.ask_sync(customer=customer, by=person)
    _ring(customer)
    return f"{customer} is being synced; this page shows when it is done."


def _change(customer: Customer, person: User, given: dict[str, Any]) -> str:
    changed = customers.change_customer(
        customer=customer, name=given["name"], type=given["type"], is_active=given["is_active"], by=person
    )
    return f"{changed} is changed."
