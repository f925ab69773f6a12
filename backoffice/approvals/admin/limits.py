"""Personal limits, what is used of them, and the raises that wait for another administrator."""

from collections.abc import Iterable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.approvals import limits
from backoffice.approvals.forms import DecideRaiseForm
from backoffice.approvals.limit_forms import SetLimitForm
from backoffice.approvals.models import Decision, Limit, LimitChange
from backoffice.money import plain
from backoffice.pages.forms import FormAdmin
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, link, money, name, when

State = LimitChange.State
_TONES = {"pending": "wait", "approved": "good", "rejected": "bad", "cancelled": "quiet"}
_SEES_ALL = ("approvals.view_decision", limits.PERMISSION)


def _sees_all(person: User) -> bool:
    return any(person.has_perm(each) for each in _SEES_ALL)


@admin.register(Limit)
class LimitAdmin(FormAdmin):
    """Up to which amount a person may decide. People see their own; administrators and auditors see all."""

    add_form_class = SetLimitForm
    list_display = ("person", "currency", "shown_one", "shown_day", "shown_used", "since", "set_by")
    list_filter = ("currency",)
    list_select_related = ("person", "set_by")
    search_fields = ("person__username", "currency")
    ordering = ("person__username", "currency")
    empty_words = "Nobody has a limit of their own: only the rules limit people."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return the_person(request).has_perm(limits.PERMISSION)

    def scoped(self, request: HttpRequest, rows: QuerySet[Limit]) -> QuerySet[Limit]:
        person = the_person(request)
        return rows if _sees_all(person) else rows.filter(person=person)

    @display(description="Per decision", ordering="per_decision")
    def shown_one(self, limit: Limit) -> Any:
        return money(plain(limit.per_decision), limit.currency)

    @display(description="In 24 hours", ordering="per_day")
    def shown_day(self, limit: Limit) -> Any:
        return money(plain(limit.per_day), limit.currency)

    @display(description="Used of it")
    def shown_used(self, limit: Limit) -> Any:
        used = limits.used_in_a_day(limit.person, limit.currency, now=timezone.now())
        return money(plain(used), limit.currency)

    @display(description="Since", ordering="set_at")
    def since(self, limit: Limit) -> Any:
        return when(limit.set_at)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """A link may choose whose limit, and in which currency; never an amount."""
        key = request.GET.get("person", "")
        is_key = key.isascii() and key.isdigit() and len(key) < 11
        return {"approver": int(key) if is_key else None, "currency": request.GET.get("currency", "")[:12]}

    def acts(self, request: HttpRequest, obj: Limit) -> Iterable[Act]:
        person = the_person(request)
        if not person.has_perm(limits.PERMISSION):
            return
        given = urlencode({"person": obj.person_id, "currency": obj.currency})
        own = "This is your own limit: another administrator has to set it."
        yield Act(
            "set",
            "Lower or raise it",
            href=f"{reverse('admin:approvals_limit_add')}?{given}",
            why_not=own if obj.person_id == person.pk else "",
            tone="primary",
        )

    def panels(self, request: HttpRequest, obj: Limit) -> Iterable[Panel]:
        used = limits.standing(obj.person, obj.currency, now=timezone.now())
        facts = [
            Fact("Person", name(str(obj.person))),
            Fact("Per decision", money(plain(obj.per_decision), obj.currency)),
            Fact("In any 24 hours", money(plain(obj.per_day), obj.currency)),
            Fact("Set by", name(str(obj.set_by))),
            Fact("Set at", when(obj.set_at)),
        ]
        if used is not None:
            facts[3:3] = [
                Fact("Used in the last 24 hours", money(plain(used.used), obj.currency)),
                Fact("Left", money(plain(used.left), obj.currency)),
            ]
        yield Panel("Limit", facts)
        others = Limit.objects.filter(person=obj.person).exclude(pk=obj.pk)
        yield Panel(
            "In other currencies",
            table=Table(
                ("Currency", "Per decision", "In 24 hours"),
                [(link(each, each.currency), self.shown_one(each), self.shown_day(each)) for each in others],
                numeric=(1, 2),
            ),
            empty="This person has no limit in another currency.",
        )
        raises = obj.changes.select_related("maker", "decided_by").order_by("-made_at")[:50]
        yield Panel(
            "Raises",
            table=Table(
                ("Raise", "State", "To, per decision", "To, in 24 hours", "By", "Decided by"),
                [
                    (
                        link(each, f"{each.made_at:%Y-%m-%d %H:%M}"),
                        _badge(each),
                        money(plain(each.per_decision), obj.currency),
                        money(plain(each.per_day), obj.currency),
                        name(str(each.maker)),
                        name(str(each.decided_by or "")),
                    )
                    for each in raises
                ],
                numeric=(2, 3),
            ),
            empty="Nobody has asked to raise it.",
        )


def _badge(change: LimitChange) -> Any:
    return badge(change.state, change.get_state_display(), tone=_TONES[change.state])


@admin.register(LimitChange)
class LimitChangeAdmin(ObjectAdmin):
    """Wishes to raise a limit: asked for by one administrator, agreed to by another."""

    act_names = ("decide", "withdraw")
    list_display = ("person", "shown_state", "shown_to", "maker", "asked", "decided_by")
    list_filter = ("state",)
    list_select_related = ("limit", "person", "maker", "decided_by")
    search_fields = ("person__username", "reason")
    ordering = ("-made_at",)
    empty_words = "Nobody has asked to raise a limit."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def waits_for(self, request: HttpRequest) -> Q:
        """What the sidebar counts: only what this person can decide."""
        person = the_person(request)
        return Q(state=State.PENDING) & ~Q(maker=person) & ~Q(person=person)

    @display(description="State", ordering="state")
    def shown_state(self, change: LimitChange) -> Any:
        return _badge(change)

    @display(description="To, per decision", ordering="per_decision")
    def shown_to(self, change: LimitChange) -> Any:
        return money(plain(change.per_decision), change.limit.currency)

    @display(description="Asked", ordering="made_at")
    def asked(self, change: LimitChange) -> Any:
        return when(change.made_at)

    def badge_of(self, obj: LimitChange) -> Any:
        return _badge(obj)

    def lead_of(self, obj: LimitChange) -> str:
        return obj.reason

    def acts(self, request: HttpRequest, obj: LimitChange) -> Iterable[Act]:
        person = the_person(request)
        if obj.state == State.PENDING or request.method == "POST":
            yield Act(
                "decide",
                "Decide",
                partial(_decide, obj, person),
                form=DecideRaiseForm,
                why_not=limits.why_not_agree(obj, person) if request.method != "POST" else "",
                is_embedded=True,
                lead="You agree to exactly this limit. It holds at once.",
            )
        if obj.state == State.PENDING and obj.maker_id == person.pk:
            yield Act("withdraw", "Take back", partial(_withdraw, obj, person), tone="danger")

    def panels(self, request: HttpRequest, obj: LimitChange) -> Iterable[Panel]:
        currency = obj.limit.currency
        amounts = (
            ("Per decision", obj.was_per_decision, obj.per_decision),
            ("In any 24 hours", obj.was_per_day, obj.per_day),
        )
        yield Panel(
            "Now and then",
            table=Table(
                ("", "Now", "Then"),
                [
                    (label, money(plain(was), currency), money(plain(new), currency))
                    for label, was, new in amounts
                ],
                numeric=(1, 2),
            ),
        )
        facts = [
            Fact("Limit of", link(obj.limit, str(obj.person))),
            Fact("Asked for by", name(str(obj.maker))),
            Fact("Asked for at", when(obj.made_at)),
            Fact("Reason", obj.reason),
        ]
        if obj.decided_by is not None:
            facts += [
                Fact("Decided by", name(str(obj.decided_by)), obj.decided_reason),
                Fact("Decided at", when(obj.decided_at)),
            ]
        yield Panel("Raise", facts)


def _decide(change: LimitChange, person: User, given: dict[str, Any]) -> str:
    if given["verdict"] == Decision.Verdict.REJECT:
        limits.reject(change=change, reason=given["reason"], by=person, now=timezone.now())
        return "The raise is rejected. The limit stays as it is."
    made = limits.agree(change=change, seen=given["seen"], by=person, now=timezone.now())
    return f"{made} is raised, and holds now."


def _withdraw(change: LimitChange, person: User, _given: dict[str, Any]) -> str:
    limits.withdraw(change=change, by=person, now=timezone.now())
    return "You took it back. The limit stays as it is."
