"""The rules: the active set in sentences, its versions, and the changes that administrators propose."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.approvals import changes, policies, rehearsal, rules, sentences
from backoffice.approvals.admin.rehearsing import comparison_panel, rehearsal_panels
from backoffice.approvals.forms import DecideRulesForm
from backoffice.approvals.models import Decision, RuleSet, RuleSetChange
from backoffice.approvals.rule_forms import Draft, ProposeForm, RuleForm, problems_of
from backoffice.audit.trail import Refusal
from backoffice.navigation import visible
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, link, name, page_of, when

State = RuleSetChange.State
_TONES = {"pending": "wait", "approved": "good", "rejected": "bad", "cancelled": "quiet"}


def rules_panel(held: Sequence[rules.Rule], *, title: str) -> Panel:
    """Rules as sentences, in order."""
    rows = [(number, sentences.told(rule)) for number, rule in enumerate(held, 1)]
    return Panel(
        title,
        note="The first rule that fits decides. Where none fits, two of the role finance checker decide.",
        template="office/approvals/rules_panel.html",
        context={"rows": rows},
    )


@admin.register(RuleSet)
class RuleSetAdmin(ObjectAdmin):
    """The active rules on one page, with the versions before them."""

    list_display = ("version", "state", "made")
    ordering = ("-version",)
    search_fields = ("version",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Made", ordering="made_at")
    def made(self, held: RuleSet) -> Any:
        return when(held.made_at)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        if not self.has_view_permission(request):
            raise PermissionDenied
        return self.object_page(request, policies.active())

    def badge_of(self, obj: RuleSet) -> Any:
        return _set_badge(obj)

    def lead_of(self, obj: RuleSet) -> str:
        if obj.state != RuleSet.State.ACTIVE:
            return "Other rules took their place. They are kept as they were."
        return "A change is proposed by one administrator and agreed to by another, after a rehearsal."

    def acts(self, request: HttpRequest, obj: RuleSet) -> Iterable[Act]:
        if obj.state == RuleSet.State.ACTIVE:
            yield Act(
                "propose",
                "Propose a change",
                href=reverse("admin:approvals_rulesetchange_add"),
                tone="primary",
                why_not=""
                if the_person(request).has_perm(changes.PERMISSION)
                else "Only an administrator can propose other rules.",
            )

    def panels(self, request: HttpRequest, obj: RuleSet) -> Iterable[Panel]:
        yield rules_panel(policies.rules_of(obj), title=f"Version {obj.version}")
        waiting = [
            (link(change), name(str(change.maker)), when(change.made_at), change.reason)
            for change in visible(RuleSetChange, request)
            .filter(state=State.PENDING)
            .select_related("maker", "base")
            .order_by("made_at")
        ]
        if waiting:
            yield Panel("Proposed changes", table=Table(("Change", "By", "At", "Reason"), waiting))
        yield Panel("Versions", table=_versions())


def _versions() -> Table:
    rows = [
        (
            link(held),
            _set_badge(held),
            when(held.made_at),
            name(str(held.change.maker)) if held.change else "came with the house",
            name(str(held.change.decided_by)) if held.change else "—",
        )
        for held in RuleSet.objects.select_related("change__maker", "change__decided_by")[:100]
    ]
    return Table(("Version", "State", "Since", "Proposed by", "Agreed to by"), rows)


def _set_badge(held: RuleSet) -> Any:
    tone = "good" if held.state == RuleSet.State.ACTIVE else "quiet"
    return badge(held.state, held.get_state_display(), tone=tone)


@admin.register(RuleSetChange)
class RuleSetChangeAdmin(ObjectAdmin):
    """Wishes for other rules: compared, rehearsed, and agreed to by another administrator."""

    act_names = ("decide", "withdraw")
    list_display = ("shown", "shown_state", "maker", "asked", "decided_by", "reason")
    list_filter = ("state",)
    list_select_related = ("base", "maker", "decided_by")
    search_fields = ("reason", "maker__username")
    ordering = ("-made_at",)
    add_title = "Propose a change"
    empty_words = "The rules are still those that came with the house."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return the_person(request).has_perm(changes.PERMISSION)

    def waits_for(self, request: HttpRequest) -> Q:
        """What the sidebar counts: only what this person can decide."""
        return Q(state=State.PENDING) & ~Q(maker=the_person(request))

    @display(description="Change", ordering="base__version")
    def shown(self, change: RuleSetChange) -> str:
        return str(change)

    @display(description="State", ordering="state")
    def shown_state(self, change: RuleSetChange) -> Any:
        return self.badge_of(change)

    @display(description="Proposed", ordering="made_at")
    def asked(self, change: RuleSetChange) -> Any:
        return when(change.made_at)

    def badge_of(self, obj: RuleSetChange) -> Any:
        return badge(obj.state, obj.get_state_display(), tone=_TONES[obj.state])

    def lead_of(self, obj: RuleSetChange) -> str:
        return obj.reason

    def acts(self, request: HttpRequest, obj: RuleSetChange) -> Iterable[Act]:
        person = the_person(request)
        if obj.state == State.PENDING or request.method == "POST":
            yield Act(
                "decide",
                "Decide",
                partial(_decide, obj, person),
                form=DecideRulesForm,
                why_not=changes.why_not_decide(obj, person) if request.method != "POST" else "",
                is_embedded=True,
                lead="You agree to exactly these rules. They are active at once.",
            )
        if obj.state == State.PENDING and obj.maker_id == person.pk:
            yield Act("withdraw", "Take back", partial(_withdraw, obj, person), tone="danger")

    def panels(self, request: HttpRequest, obj: RuleSetChange) -> Iterable[Panel]:
        wanted = changes.proposed_rules(obj)
        yield Panel("Change", list(_facts(obj)))
        yield comparison_panel(policies.rules_of(obj.base), wanted)
        if obj.state == State.PENDING and obj.base.state == RuleSet.State.ACTIVE:
            yield from rehearsal_panels(rehearsal.rehearse(wanted, now=timezone.now()))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Write other rules: start from the active ones, add, remove and move, rehearse, propose."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        active = policies.active()
        held = policies.rules_of(active)
        if request.method != "POST":
            form = ProposeForm(request=request, initial={"base": active.pk})
            return self._propose_page(request, Draft.of_rules(held).forms(bound=False), form)
        draft, do = Draft.of_post(request.POST, held), request.POST.get("do", "propose")
        if do not in ("propose", "rehearse"):
            draft.change(do)
            form = ProposeForm(request=request, initial=request.POST.dict())
            return self._propose_page(request, draft.forms(bound=False), form)
        return self._checked(request, draft.forms(bound=True), active, is_rehearsal=do == "rehearse")

    def _checked(
        self, request: HttpRequest, written: list[RuleForm], active: RuleSet, *, is_rehearsal: bool
    ) -> HttpResponse:
        form = ProposeForm(
            None if is_rehearsal else request.POST, request=request, initial=request.POST.dict()
        )
        # Every form is asked, so that all that is to mend is said at once.
        are_valid = [each.is_valid() for each in written]
        proposed = [each.rule() for each in written] if all(are_valid) else []
        problems = problems_of(proposed) if all(are_valid) else ["Please look at the marked fields again."]
        if is_rehearsal or problems or not form.is_valid():
            panels = [] if problems else list(_tried(active, proposed))
            return self._propose_page(request, written, form, problems=problems, panels=panels)
        try:
            made = changes.propose(
                proposed=proposed,
                base=RuleSet.objects.filter(pk=form.cleaned_data["base"]).first() or active,
                reason=form.cleaned_data["reason"],
                by=the_person(request),
                now=timezone.now(),
            )
        except Refusal as refusal:
            return self._propose_page(request, written, form, problems=[refusal.sentence])
        messages.success(request, "Proposed. Another administrator compares, and agrees or rejects.")
        return redirect(page_of(made))

    def _propose_page(
        self,
        request: HttpRequest,
        written: list[RuleForm],
        form: ProposeForm,
        *,
        problems: Sequence[str] = (),
        panels: Sequence[Panel] = (),
    ) -> HttpResponse:
        return self.render(
            request,
            "office/approvals/propose.html",
            title="Propose a change",
            active=policies.active(),
            written=written,
            form=form,
            problems=problems,
            panels=panels,
        )


def _tried(active: RuleSet, proposed: Sequence[rules.Rule]) -> Iterable[Panel]:
    yield comparison_panel(policies.rules_of(active), proposed)
    yield from rehearsal_panels(rehearsal.rehearse(proposed, now=timezone.now()))


def _facts(change: RuleSetChange) -> Iterable[Fact]:
    yield Fact("In the place of", link(change.base))
    yield Fact("Proposed by", name(str(change.maker)))
    yield Fact("Proposed at", when(change.made_at))
    yield Fact("Reason", change.reason)
    if change.decided_by is not None:
        yield Fact("Decided by", name(str(change.decided_by)), change.decided_reason)
        yield Fact("Decided at", when(change.decided_at))
    made = RuleSet.objects.filter(change=change).first()
    if made is not None:
        yield Fact("Became", link(made))


def _decide(change: RuleSetChange, person: User, given: dict[str, Any]) -> str:
    if given["verdict"] == Decision.Verdict.REJECT:
        changes.reject(change=change, reason=given["reason"], by=person, now=timezone.now())
        return "The change is rejected. The rules stay as they are."
    made = changes.agree(change=change, seen=given["seen"], by=person, now=timezone.now())
    return f"{made} is active now."


def _withdraw(change: RuleSetChange, person: User, _given: dict[str, Any]) -> str:
    changes.withdraw(change=change, by=person, now=timezone.now())
    return "You took it back. The rules stay as they are."
