"""The pages of deposits that people ask for: the list, the form, the page to decide on."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.approvals import decisions
from backoffice.approvals.forms import DecideForm
from backoffice.approvals.models import Decision
from backoffice.delivery import bell, desk
from backoffice.delivery import pages as road
from backoffice.delivery.models import State
from backoffice.money import plain
from backoffice.pages.forms import FormAdmin, OptionalReasonForm
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, code, link, money, name, when
from cards.scoping import Scoped
from funding import deposits, tasks
from funding.forms import RequestDepositForm
from funding.models import DepositRequest


@admin.register(DepositRequest)
class DepositRequestAdmin(Scoped, FormAdmin):
    """Deposits on their way, from the wish to their end."""

    scope_path = "wallet__customer"
    add_form_class = RequestDepositForm
    act_names = ("decide", "cancel")
    is_live = True
    list_display = ("shown_amount", "customer", "shown_wallet", "shown_state", "maker", "asked_at")
    list_filter = ("state", "currency", ("created_at", admin.DateFieldListFilter))
    list_select_related = ("wallet__customer", "maker")
    search_fields = ("wallet__endl_id", "wallet__label", "wallet__customer__name", "deposit__endl_id", "note")
    ordering = ("-created_at",)

    @display(description="Amount", ordering="amount")
    def shown_amount(self, wish: DepositRequest) -> Any:
        return money(plain(wish.amount), wish.currency)

    @display(description="Customer", ordering="wallet__customer__name")
    def customer(self, wish: DepositRequest) -> Any:
        return name(wish.wallet.customer.name)

    @display(description="Wallet")
    def shown_wallet(self, wish: DepositRequest) -> Any:
        return name(str(wish.wallet))

    @display(description="State", ordering="state")
    def shown_state(self, wish: DepositRequest) -> Any:
        return road.state_badge(wish)

    @display(description="Requested", ordering="created_at")
    def asked_at(self, wish: DepositRequest) -> Any:
        return when(wish.created_at)

    def badge_of(self, obj: DepositRequest) -> Any:
        return road.state_badge(obj)

    def lead_of(self, obj: DepositRequest) -> str:
        return obj.meaning

    def after_form(self, request: HttpRequest, made: Any) -> None:
        """Nothing to ring for yet: a checker comes first."""

    def acts(self, request: HttpRequest, obj: DepositRequest) -> Iterable[Act]:
        person = the_person(request)
        assert obj.approval is not None
        yield Act(
            "decide",
            "Decide",
            partial(_decide, obj, person),
            form=DecideForm,
            why_not=decisions.why_not(obj.approval, person),
            is_embedded=True,
            lead="You agree to exactly what is shown below, to the byte.",
        )
        if desk.may_cancel(obj, person):
            yield Act(
                "cancel",
                "Cancel request",
                partial(_cancel, obj, person),
                form=OptionalReasonForm,
                tone="danger",
            )

    def panels(self, request: HttpRequest, obj: DepositRequest) -> Iterable[Panel]:
        yield Panel("Deposit", list(_facts(obj)))
        for panel in (road.outcome_panel(obj), road.unknown_panel(obj), road.decisions_panel(obj.approval)):
            if panel is not None:
                yield panel
        yield road.sent_panel(obj)
        yield road.attempts_panel(obj)


def _facts(wish: DepositRequest) -> Iterable[Fact]:
    yield Fact("Amount", money(plain(wish.amount), wish.currency))
    yield Fact("Customer", link(wish.wallet.customer), wish.wallet.customer.endl_id)
    yield Fact("From wallet", link(wish.wallet), wish.wallet.endl_id)
    yield Fact("Chain", wish.chain or f"{wish.wallet.chain or 'not known'} (the wallet's own)")
    yield Fact("Note", wish.note)
    yield Fact("Requested by", str(wish.maker))
    yield Fact("Requested at", when(wish.created_at))
    yield Fact("In this state since", when(wish.state_at))
    if wish.deposit is not None:
        yield Fact("Deposit at Endl", link(wish.deposit))
        yield Fact("Transaction", code(wish.deposit.transaction_hash))


def _decide(wish: DepositRequest, person: User, given: dict[str, Any]) -> str:
    now = timezone.now()
    if given["verdict"] == Decision.Verdict.REJECT:
        deposits.reject_deposit(request=wish, by=person, seen=given["seen"], reason=given["reason"], now=now)
        return f"{wish} is rejected."
    made = deposits.approve_deposit(
        request=wish, by=person, seen=given["seen"], reason=given["reason"], now=now
    )
    if made.state == State.APPROVED:
        bell.ring(tasks.SEND_DEPOSIT, wish.pk)
        return f"{wish} is approved; it is sent within seconds."
    return "Your approval is noted; another one is needed."


def _cancel(wish: DepositRequest, person: User, given: dict[str, Any]) -> str:
    deposits.cancel_deposit(request=wish, by=person, reason=given["reason"], now=timezone.now())
    return f"{wish} is cancelled."
