"""Deciding on an approval, and whether it still holds."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.utils.module_loading import import_string

from backoffice.access.models import User
from backoffice.approvals import drawing, limits
from backoffice.approvals.facts import good_until, hash_of
from backoffice.approvals.gate import NoLongerGood, check_still_good
from backoffice.approvals.limits import OverLimit
from backoffice.approvals.models import Approval, Decision, Step
from backoffice.approvals.never import NotProved, NotYourSession, check_session
from backoffice.audit.trail import NotAllowed, Refusal

__all__ = [
    "AlreadyDecided", "ChangedSinceShown", "NoLongerGood", "NoReason", "NotProved", "NotYourSession",
    "OverLimit", "RulesChanged", "SameHands", "check_still_good", "close", "decide", "expire", "hash_of",
    "lock", "may_decide", "who_was_first", "why_not", "withdraw",
]  # fmt: skip

State, Verdict = Approval.State, Decision.Verdict


class AlreadyDecided(Refusal):
    """Somebody was first, or this person has decided already."""


class SameHands(Refusal):
    """The maker of a request cannot be its checker."""


class ChangedSinceShown(Refusal):
    """What is to be approved is not what was on the screen."""


class RulesChanged(Refusal):
    """The active rules ask for more than this approval does: it is drawn up anew."""


class NoReason(Refusal):
    """A rejection needs a reason."""


def decide(
    approval: Approval, *, by: User, verdict: Decision.Verdict, seen: str, reason: str = "", now: datetime
) -> Approval:
    """Add one person's decision to the step that waits, and close the approval when it is the last one.

    Runs in the caller's transaction; the row is locked, so that the loser of a race is told who was first.

    Args:
        approval: what is decided on; read again under the lock.
        by: who decides; read again too.
        verdict: approve or reject.
        seen: the hash that was on the screen.
        reason: why; needed to reject.
        now: aware time of the decision.

    Raises:
        AlreadyDecided, SameHands, ChangedSinceShown, RulesChanged, NoReason, OverLimit, NotAllowed,
        NotProved, NotYourSession
    """
    locked = lock(approval)
    person = User.objects.get(pk=by.pk)
    check_open(locked, person)
    check_person(locked, person)
    check_session(person)
    if seen != locked.facts_hash:
        raise ChangedSinceShown("This changed since you looked. Look at it again before you decide.")
    if verdict == Verdict.REJECT:
        if not reason.strip():
            raise NoReason("Say why you reject it: the maker will read it.")
        _add(locked, person, verdict, reason, now, used=None)
        close(locked, State.REJECTED, now=now)
        return locked
    _check_rules(locked)
    used = limits.standing(person, locked.currency, now=now, lock=True)
    limits.check(locked, person, used)
    _add(locked, person, verdict, reason, now, used=used)
    _go_on(locked, now)
    return locked


def _add(
    approval: Approval,
    person: User,
    verdict: Decision.Verdict,
    reason: str,
    now: datetime,
    *,
    used: limits.Used | None,
) -> None:
    """Write the decision, with everything that made it count, and show it to who keeps its picture."""
    made = Decision.objects.create(
        approval=approval,
        person=person,
        maker_id=approval.maker_id,
        verdict=verdict,
        reason=reason.strip(),
        seen_hash=approval.facts_hash,
        made_at=now,
        step=approval.at_step,
        permission=approval.permission,
        roles=roles_that_give(person, approval.permission),
        amount=approval.amount,
        currency=approval.currency,
        limit_per_decision=used.per_decision if used else None,
        limit_per_day=used.per_day if used else None,
        used_before=used.used if used else None,
    )
    for name in settings.DECISION_WITNESSES:
        import_string(name)(approval, made)


def _go_on(approval: Approval, now: datetime) -> None:
    """Move to the first step that still lacks people, or close the approval where none does."""
    step = waiting_step(approval)
    if step is None:
        close(approval, State.APPROVED, now=now)
    elif step.number != approval.at_step:
        approval.at_step, approval.permission, approval.step_since = step.number, step.permission, now
        approval.save(update_fields=("at_step", "permission", "step_since"))


def waiting_step(approval: Approval) -> Step | None:
    """The first step that lacks people; None when all have theirs."""
    given: dict[int, set[int]] = {}
    for decision in _approvals_of(approval):
        if decision.person_id != approval.maker_id and decision.seen_hash == approval.facts_hash:
            given.setdefault(decision.step, set()).add(decision.person_id)
    return next(
        (step for step in approval.steps.all() if len(given.get(step.number, ())) < step.people), None
    )


def roles_that_give(person: User, permission: str) -> list[str]:
    """The names of a person's roles that hold a permission, sorted."""
    app, _, codename = permission.partition(".")
    held = person.groups.filter(permissions__content_type__app_label=app, permissions__codename=codename)
    return sorted(held.values_list("name", flat=True).distinct())


def _check_rules(approval: Approval) -> None:
    if drawing.asks_more_now(approval):
        raise RulesChanged(
            "The rules changed since you looked, and ask for more now. Look at it again before you decide.",
            then=lambda: drawing.redraw(approval.pk),
        )


def close(approval: Approval, state: Approval.State, *, now: datetime) -> None:
    """End a pending approval. Raises AlreadyDecided when somebody was first."""
    until = good_until(now) if state == State.APPROVED else None
    pending = Approval.objects.filter(pk=approval.pk, state=State.PENDING)
    if not pending.update(state=state, decided_at=now, good_until=until):
        raise AlreadyDecided(who_was_first(approval))
    approval.state, approval.decided_at, approval.good_until = state, now, until


def withdraw(approval: Approval, *, now: datetime) -> None:
    """End an approval whose request was taken back before it was sent."""
    _void(approval, State.CANCELLED, now)


def expire(approval: Approval, *, now: datetime) -> None:
    """End an approval that no longer holds and was never used."""
    _void(approval, State.EXPIRED, now)


def lock(approval: Approval) -> Approval:
    """Take the approval's row first, as everybody does who changes it together with its request."""
    return Approval.objects.select_for_update().get(pk=approval.pk)


def _void(approval: Approval, state: Approval.State, now: datetime) -> None:
    open_or_given = Approval.objects.filter(pk=approval.pk, state__in=(State.PENDING, State.APPROVED))
    open_or_given.update(state=state, decided_at=now)


def may_decide(approval: Approval, person: User) -> bool:
    """Whether to offer the buttons. Writes nothing; `decide` checks again."""
    return why_not(approval, person) == ""


def why_not(approval: Approval, person: User) -> str:
    """Say why this person cannot decide on this approval; blank when they can."""
    try:
        check_open(approval, person)
        check_person(approval, person)
    except Refusal as refusal:
        return refusal.sentence
    return ""


def check_open(approval: Approval, person: User) -> None:
    """Raise AlreadyDecided or ChangedSinceShown where this person finds nothing to decide any more."""
    if approval.state == State.REDRAWN:
        raise ChangedSinceShown("The rules changed since you looked. Look at it again before you decide.")
    if approval.state != State.PENDING:
        raise AlreadyDecided(who_was_first(approval))
    if approval.decisions.filter(person=person).exists():
        raise AlreadyDecided("You have decided on this already.")


def check_person(approval: Approval, person: User) -> None:
    """Raise SameHands or NotAllowed where this is not the person for the step that waits."""
    if person.pk == approval.maker_id:
        raise SameHands("You made this request: another person must decide on it.")
    if not _is_entitled(person, approval):
        raise NotAllowed("Your roles do not let you decide on this.")


def _is_entitled(person: User, approval: Approval) -> bool:
    return person.is_active and person.has_perm(approval.permission)


def _approvals_of(approval: Approval) -> Iterable[Decision]:
    return approval.decisions.filter(verdict=Verdict.APPROVE).select_related("person")


def who_was_first(approval: Approval) -> str:
    """Say who ended an approval, how and when; for the loser of a race."""
    if approval.state == State.CANCELLED and approval.decided_at is not None:
        return f"{approval.maker} was first: cancelled at {approval.decided_at:%H:%M:%S %Z}."
    try:
        last = approval.decisions.select_related("person").latest("made_at")
    except ObjectDoesNotExist:
        return f"This is {approval.get_state_display().lower()} already."
    return f"{last.person} was first: {last.get_verdict_display().lower()} at {last.made_at:%H:%M:%S %Z}."
