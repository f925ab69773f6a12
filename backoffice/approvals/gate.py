"""The last gate: whether an approval that was given still holds, looked at just before sending."""

from datetime import datetime
from typing import Any

from backoffice.approvals import policies, rules
from backoffice.approvals.books import book_of
from backoffice.approvals.facts import hash_of
from backoffice.approvals.models import Approval, Decision, Step
from backoffice.audit.models import Entry
from backoffice.audit.trail import Refusal

State = Approval.State


class NoLongerGood(Refusal):
    """The approval does not hold any more: too old, changed, or its people are no longer entitled."""


def check_still_good(approval: Approval, facts: dict[str, Any], *, has_started: bool, now: datetime) -> None:
    """The last look before sending: same facts, in time, decided by people who are still entitled.

    Args:
        approval: what was given.
        facts: what would be sent now, rebuilt from the request.
        has_started: whether an attempt began before; only until the first one does time run out.
        now: aware time of the look.

    Raises:
        NoLongerGood: with the sentence that the request then shows.
    """
    if approval.state != State.APPROVED:
        raise NoLongerGood(f"The approval is {approval.get_state_display().lower()}.")
    if hash_of(facts) != approval.facts_hash:
        raise NoLongerGood("What would be sent is not what was approved.")
    if not has_started and (approval.good_until is None or now > approval.good_until):
        raise NoLongerGood("The approval ran out before the first attempt.")
    _check_policy(approval)
    if not approval.is_by_rule:
        _check_checkers(approval)


def _check_policy(approval: Approval) -> None:
    """Its rule can have decided on this request, and its steps are those that the rule asks."""
    if approval.rule_set is None:
        return
    book = book_of(approval.kind)
    request = book.request_of(approval.pk)
    if request is None:
        raise NoLongerGood("The approval is not of this request.")
    asked = rules.could_ask(policies.rules_of(approval.rule_set), book.wish_of(request), approval.rule)
    drawn = [(step.people, step.role, step.permission) for step in approval.steps.all()]
    if asked is None or drawn != [(step.people, step.role, book.roles[step.role]) for step in asked]:
        raise NoLongerGood("Its rule does not ask what it was drawn up with.")


def _check_checkers(approval: Approval) -> None:
    """Every step has its people: distinct, not the maker, entitled now as they were then."""
    counted: set[int] = {approval.maker_id}
    steps = list(approval.steps.all())
    if sum(step.people for step in steps) != approval.needed:
        raise NoLongerGood("Its steps are not what was drawn up.")
    approved = list(approval.decisions.filter(verdict=Decision.Verdict.APPROVE).select_related("person"))
    told = _people_on_record(approval)
    for step in steps:
        good = {
            decision.person_id
            for decision in approved
            if decision.step == step.number
            and decision.seen_hash == approval.facts_hash
            and _still_counts(decision, step)
        } - counted
        if len(good) < step.people:
            raise NoLongerGood("A person who approved it is no longer entitled to.")
        if len(good & told) < step.people:
            raise NoLongerGood("The trail does not tell of everybody who approved it.")
        counted |= good


def _people_on_record(approval: Approval) -> set[int]:
    """Who approved exactly this, as the trail tells: what no operation wrote has no entry there."""
    book = book_of(approval.kind)
    request = book.model._default_manager.filter(approval=approval).values_list("pk", flat=True)
    entries = Entry.objects.filter(
        object_type=book.model._meta.label_lower,
        object_id__in=[str(pk) for pk in request],
        verb=f"{approval.kind}.approve",
        result=Entry.Result.DONE,
        new__hash=approval.facts_hash,
        actor__isnull=False,
    )
    return set(entries.values_list("actor", flat=True))


def _still_counts(decision: Decision, step: Step) -> bool:
    """Whether a decider is still here with the permission, and with each role that gave it."""
    person = decision.person
    return (
        person.is_active
        and person.has_perm(step.permission)
        and set(decision.roles) <= set(person.role_names)
    )
