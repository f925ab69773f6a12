"""The pages of deposits that people ask for: the list, the form, the page to decide on."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.approvals import blocked
from backoffice.approvals.admin.approvals import comment_act
from backoffice.approvals.forms import DecideForm
from backoffice.approvals.models import Approval, Decision
from backoffice.approvals.pages import dossier_panels
from backoffice.delivery import bell, desk, unknown
from backoffice.delivery import pages as road
from backoffice.delivery.models import State
from backoffice.mirror import reads
from backoffice.money import places_of, plain
from backoffice.pages.forms import FormAdmin, OptionalReasonForm
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, code, link, money, name, when
from cards.scoping import Scoped
from funding import deposits, tasks, words
from funding.admin.filters import DayRange, Queue
from funding.admin.movements import alarm
from funding.forms import RecordEndForm, RecordOutcomeForm, RequestDepositForm, is_key, replaceable
from funding.models import DepositRequest


@admin.register(DepositRequest)
class DepositRequestAdmin(Scoped, FormAdmin):
    """Deposits on their way, from the wish to their end."""

    scope_path = "wallet__customer"
    add_form_class = RequestDepositForm
    act_names = ("decide", "comment", "cancel", "ask", "outcome", "end")
    is_live = True
    list_display = ("shown_amount", "customer", "shown_wallet", "shown_state", "maker", "asked_at")
    list_filter = (Queue, "state", "currency", ("created_at", DayRange))
    allowed_lookups: ClassVar[frozenset[str]] = frozenset({"queue", "created_at_from", "created_at_to"})
    list_select_related = ("wallet__customer", "maker")
    search_fields = ("wallet__endl_id", "wallet__label", "wallet__customer__name", "deposit__endl_id", "note")
    search_help_text = "Search by wallet, customer, deposit id or note."
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

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        # One page needs all of these; a page at a time is no list.
        return found if found is None else _whole().get(pk=found.pk)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """A link may choose the wallet, or an ended request to correct; never an amount of its own."""
        again = replaceable(request.GET.get("again", ""), the_person(request))
        if again is not None:
            return {
                "wallet": again.wallet_id,
                "amount": _typed(again),
                "chain": again.chain,
                "note": again.note,
                "replaces": again.pk,
            }
        wallet = request.GET.get("wallet", "")
        return {"wallet": int(wallet)} if is_key(wallet) else {}

    def acts(self, request: HttpRequest, obj: DepositRequest) -> Iterable[Act]:
        person = the_person(request)
        assert obj.approval is not None
        yield Act(
            "decide",
            "Decide",
            partial(self.decide, obj, person),
            form=DecideForm,
            why_not=blocked.why_blocked(obj.approval, person, now=timezone.now()),
            is_embedded=True,
            hides_when_off=obj.approval.state != Approval.State.PENDING,
            lead="You agree to exactly what this page shows, to the byte.",
        )
        yield comment_act(obj.approval, person)
        if desk.may_cancel(obj, person):
            yield Act(
                "cancel",
                "Cancel request",
                partial(_cancel, obj, person),
                form=OptionalReasonForm,
                tone="danger",
            )
        if obj.state in deposits.CAN_BE_REPLACED and person.has_perm("funding.add_depositrequest"):
            where = f"{reverse('admin:funding_depositrequest_add')}?again={obj.pk}"
            yield Act("again", "Request again with changes", href=where)
        yield from _acts_on_unclear(obj, person)

    def panels(self, request: HttpRequest, obj: DepositRequest) -> Iterable[Panel]:
        if obj.deposit is not None:
            yield from alarm(obj.deposit, deposits.difference(obj, obj.deposit))
        yield Panel("Deposit", list(_facts(obj)))
        shown = (
            road.outcome_panel(obj),
            road.unknown_panel(obj),
            _how_it_ends(obj),
            road.decisions_panel(obj.approval),
        )
        yield from (panel for panel in shown if panel is not None)
        yield road.sent_panel(obj)
        if obj.approval is not None:
            yield from dossier_panels(obj.approval, the_person(request), now=timezone.now(), is_beside=True)
        yield road.attempts_panel(obj)

    def decide(self, wish: DepositRequest, person: User, given: dict[str, Any]) -> str:
        """Approve or reject by the operation, and ring for the sender: the one door, for every page."""
        now = timezone.now()
        if given["verdict"] == Decision.Verdict.REJECT:
            deposits.reject_deposit(
                request=wish, by=person, seen=given["seen"], reason=given["reason"], now=now
            )
            return f"{wish} is rejected."
        made = deposits.approve_deposit(
            request=wish, by=person, seen=given["seen"], reason=given["reason"], now=now
        )
        if made.state == State.APPROVED:
            bell.ring(tasks.SEND_DEPOSIT, wish.pk)
            return f"{wish} is approved; it is sent within seconds."
        return "Your approval is noted; another one is needed."


def _whole() -> QuerySet[DepositRequest]:
    return DepositRequest.objects.select_related(
        "wallet__customer", "maker", "approval__maker", "deposit__customer", "deposit__wallet", "replaces"
    )


def _typed(wish: DepositRequest) -> str:
    """The amount as a person would type it: a currency without places takes no point."""
    return plain(wish.amount) if places_of(wish.currency) else f"{wish.amount.normalize():f}"


def _acts_on_unclear(wish: DepositRequest, person: User) -> Iterable[Act]:
    """What a person can do where nobody knows what became of it, or where nothing can be read."""
    if wish.state == State.UNKNOWN and not wish.needs_person:
        yield Act("ask", "Try again now", partial(_ask_now, wish, person))
    is_own = (
        "You made this request: another person records what Endl said." if wish.maker_id == person.pk else ""
    )
    if not person.has_perm(unknown.PERMISSION):
        return
    if wish.state == State.UNKNOWN:
        yield Act(
            "outcome",
            "Record what Endl said",
            partial(_record_outcome, wish, person),
            form=RecordOutcomeForm,
            why_not=is_own,
            lead="Ask Endl first. Your name and your words stay with this request.",
        )
    if wish.state == State.SUBMITTED and not _can_be_read():
        yield Act(
            "end",
            "Record how it ended",
            partial(_record_end, wish, person),
            form=RecordEndForm,
            why_not=is_own,
            lead="Endl has no read that could tell: ask Endl. Your name and your words stay here.",
        )


def _can_be_read() -> bool:
    now = timezone.now()
    return any(reads.is_on(name, now=now) for name in (reads.GET_DEPOSIT, reads.LIST_DEPOSITS))


def _how_it_ends(wish: DepositRequest) -> Panel | None:
    """Where nothing can be read, say what can still end it."""
    if wish.state != State.SUBMITTED or _can_be_read():
        return None
    by_webhook = "Endl's signed event ends it by itself."
    if not settings.ENDL_WEBHOOK_SECRETS:
        by_webhook = "Webhooks are off: set ENDL_WEBHOOK_SECRETS to receive them."
    return Panel(
        "How this ends",
        [
            Fact("By webhook", by_webhook),
            Fact(
                "By a person",
                "A finance checker asks Endl and records how it ended; not the person who made it.",
            ),
        ],
        note="This connection has no read for deposits, so it cannot be followed by asking.",
    )


def _facts(wish: DepositRequest) -> Iterable[Fact]:
    yield Fact("Amount", money(plain(wish.amount), wish.currency))
    yield Fact("Customer", link(wish.wallet.customer), wish.wallet.customer.endl_id)
    yield Fact("From wallet", link(wish.wallet), wish.wallet.endl_id)
    yield Fact("Chain", wish.chain or f"{wish.wallet.chain or 'not known'} (the wallet's own)")
    yield Fact("Note", wish.note)
    yield Fact("Requested by", str(wish.maker))
    yield Fact("Requested at", when(wish.created_at))
    yield Fact("In this state since", when(wish.state_at))
    if wish.replaces is not None:
        yield Fact("Corrects", link(wish.replaces))
    for corrected in wish.replaced_by.all():
        yield Fact("Corrected by", link(corrected))
    if wish.deposit is not None:
        yield Fact("Deposit at Endl", link(wish.deposit))
        yield Fact("Transaction", code(wish.deposit.transaction_hash))
        if wish.deposit.is_not_reread:
            yield Fact(
                "Not re-read",
                badge("unclear", "Not re-read"),
                "It rests on a signed event or a person's word.",
            )


def _cancel(wish: DepositRequest, person: User, given: dict[str, Any]) -> str:
    deposits.cancel_deposit(request=wish, by=person, reason=given["reason"], now=timezone.now())
    return f"{wish} is cancelled."


def _ask_now(wish: DepositRequest, person: User, _given: dict[str, Any]) -> str:
    words.ask_now(request=wish, by=person, now=timezone.now())
    bell.ring(tasks.SEND_DEPOSIT, wish.pk)
    return "It is asked for again, with the same key and the same bytes."


def _record_outcome(wish: DepositRequest, person: User, given: dict[str, Any]) -> str:
    said, now = given["said"], timezone.now()
    if given["outcome"] == RecordOutcomeForm.NOTHING:
        made = words.record_nothing_happened(request=wish, said=said, by=person, now=now)
    else:
        made = words.record_it_happened(
            request=wish,
            deposit_id=given["deposit_id"],
            status=given["outcome"],
            said=said,
            by=person,
            now=now,
        )
    return f"Recorded: {made} is {made.get_state_display().lower()}."


def _record_end(wish: DepositRequest, person: User, given: dict[str, Any]) -> str:
    made = words.record_end(
        request=wish, status=given["status"], said=given["said"], by=person, now=timezone.now()
    )
    return f"Recorded: {made} is {made.get_state_display().lower()}."
