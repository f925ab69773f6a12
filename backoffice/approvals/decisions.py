"""Asking for an approval, deciding on it, and whether it still holds."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist

from backoffice.access.models import User
from backoffice.approvals.models import Approval, Decision
from backoffice.audit.trail import NotAllowed, Refusal

State, Verdict = Approval.State, Decision.Verdict


class AlreadyDecided(Refusal):
    """Somebody was first, or this person has decided already."""


class SameHands(Refusal):
    """The maker of a request cannot be its checker."""


class ChangedSinceShown(Refusal):
    """What is to be approved is not what was on the screen."""


class NoReason(Refusal):
    """A rejection needs a reason."""


class NoLongerGood(Refusal):
    """The approval does not hold any more: too old, changed, or its people are no longer entitled."""


def hash_of(facts: dict[str, Any]) -> str:
    """The hash that an approval binds to: SHA-256 over the facts, as canonical JSON."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def draft(
    *,
    kind: str,
    summary: str,
    facts: dict[str, Any],
    by: User,
    permission: str,
    now: datetime,
    rule: str = "",
) -> Approval:
    """Draw up the approval of a new request, to be saved with it.

    Args:
        facts: what the checker is shown and the hash binds to; "customer" and "policy" are among them.
        permission: what a checker must hold.
        rule: the named rule that approves it at once; blank when one checker must.
    """
    return Approval(
        kind=kind,
        summary=summary[:200],
        customer_endl_id=facts["customer"],
        maker=by,
        facts=facts,
        facts_hash=hash_of(facts),
        policy_version=facts["policy"],
        permission=permission,
        created_at=now,
        **(_granted(rule, now) if rule else {}),
    )


def _granted(rule: str, now: datetime) -> dict[str, Any]:
    return {
        "rule": rule, "needed": 0, "state": State.APPROVED, "decided_at": now, "good_until": _good_until(now),
    }  # fmt: skip


def decide(
    approval: Approval, *, by: User, verdict: Decision.Verdict, seen: str, reason: str = "", now: datetime
) -> Approval:
    """Add one person's decision, and close the approval when it is the last one needed.

    Runs in the caller's transaction; the row is locked, so that the loser of a race is told who was first.

    Args:
        approval: what is decided on; read again under the lock.
        by: who decides; read again too.
        verdict: approve or reject.
        seen: the hash that was on the screen.
        reason: why; needed to reject.
        now: aware time of the decision.

    Raises:
        AlreadyDecided, SameHands, ChangedSinceShown, NoReason, NotAllowed
    """
    locked = lock(approval)
    person = User.objects.get(pk=by.pk)
    _check_open(locked, person)
    _check_person(locked, person)
    if seen != locked.facts_hash:
        raise ChangedSinceShown("This changed since you looked. Look at it again before you decide.")
    if verdict == Verdict.REJECT and not reason.strip():
        raise NoReason("Say why you reject it: the maker will read it.")
    Decision.objects.create(
        approval=locked,
        person=person,
        maker_id=locked.maker_id,
        verdict=verdict,
        reason=reason.strip(),
        seen_hash=seen,
        made_at=now,
    )
    if verdict == Verdict.REJECT:
        close(locked, State.REJECTED, now=now)
    elif _is_enough(locked):
        close(locked, State.APPROVED, now=now)
    return locked


def close(approval: Approval, state: Approval.State, *, now: datetime) -> None:
    """End a pending approval. Raises AlreadyDecided when somebody was first."""
    good_until = _good_until(now) if state == State.APPROVED else None
    pending = Approval.objects.filter(pk=approval.pk, state=State.PENDING)
    if not pending.update(state=state, decided_at=now, good_until=good_until):
        raise AlreadyDecided(who_was_first(approval))
    approval.state, approval.decided_at, approval.good_until = state, now, good_until


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
        _check_open(approval, person)
        _check_person(approval, person)
    except Refusal as refusal:
        return refusal.sentence
    return ""


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
    if approval.needed:
        _check_checkers(approval)


def _check_checkers(approval: Approval) -> None:
    good = [d for d in _approvals_of(approval) if _is_entitled(d.person, approval)]
    if len({d.person_id for d in good} - {approval.maker_id}) < approval.needed:
        raise NoLongerGood("A person who approved it is no longer entitled to.")


def _check_open(approval: Approval, person: User) -> None:
    if approval.state != State.PENDING:
        raise AlreadyDecided(who_was_first(approval))
    if approval.decisions.filter(person=person).exists():
        raise AlreadyDecided("You have decided on this already.")


def _check_person(approval: Approval, person: User) -> None:
    if person.pk == approval.maker_id:
        raise SameHands("You made this request: another person must decide on it.")
    if not _is_entitled(person, approval):
        raise NotAllowed("Your roles do not let you decide on this.")


def _is_entitled(person: User, approval: Approval) -> bool:
    return person.is_active and person.has_perm(approval.permission)


def _approvals_of(approval: Approval) -> Iterable[Decision]:
    return approval.decisions.filter(verdict=Verdict.APPROVE).select_related("person")


def _is_enough(approval: Approval) -> bool:
    return approval.decisions.filter(verdict=Verdict.APPROVE).count() >= approval.needed


def _good_until(now: datetime) -> datetime:
    return now + timedelta(hours=settings.APPROVAL_HOURS)


def who_was_first(approval: Approval) -> str:
    """Say who ended an approval, how and when; for the loser of a race."""
    if approval.state == State.CANCELLED and approval.decided_at is not None:
        return f"{approval.maker} was first: cancelled at {approval.decided_at:%H:%M:%S %Z}."
    try:
        last = approval.decisions.select_related("person").latest("made_at")
    except ObjectDoesNotExist:
        return f"This is {approval.get_state_display().lower()} already."
    return f"{last.person} was first: {last.get_verdict_display().lower()} at {last.made_at:%H:%M:%S %Z}."
