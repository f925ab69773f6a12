"""Changing the rules: proposed by one administrator, compared and agreed to by another, once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from backoffice.access.models import User
from backoffice.approvals import books, policies, rules, soundness
from backoffice.approvals.facts import hash_of
from backoffice.approvals.models import RuleSet, RuleSetChange
from backoffice.approvals.never import check_session
from backoffice.audit.trail import NotAllowed, Refusal, operation, record

PERMISSION = "approvals.change_rules"
State = RuleSetChange.State


class NotSound(Refusal):
    """The proposed rules make no sense; the text says where."""


class SameAdministrator(Refusal):
    """Who proposes rules does not agree to them."""


class DecidedAlready(Refusal):
    """Somebody was first."""


class ChangedSinceShown(Refusal):
    """What is agreed to is not what was on the screen."""


class StaleBase(Refusal):
    """Other rules became active since this was proposed."""


class NoReason(Refusal):
    """It needs a reason."""


@dataclass(frozen=True)
class Difference:
    """One rule as it is and as it would be; None where there is none. `moved` when only its place changes."""

    name: str
    old: rules.Rule | None
    new: rules.Rule | None
    old_place: int | None
    new_place: int | None

    @property
    def word(self) -> str:
        """added, removed, changed, moved or same."""
        if self.old is None:
            return "added"
        if self.new is None:
            return "removed"
        if self.old != self.new:
            return "changed"
        return "same" if self.old_place == self.new_place else "moved"


@operation("rules.propose")
def propose(*, proposed: Any, base: RuleSet, reason: str, by: User, now: datetime) -> RuleSetChange:
    """Propose a whole rule set in the place of the active one. Nothing changes until another agrees.

    Args:
        proposed: rules, or what `rules.from_json` reads.
        base: the set that was on the screen.
        reason: why; the other administrator reads it.

    Raises: NotAllowed, NotSound, StaleBase, NoReason, and what `never.check_session` raises.
    """
    _check_administrator(User.objects.get(pk=by.pk))
    check_session(by)
    if not reason.strip():
        raise NoReason("Say why the rules should change.")
    wanted = _sound(proposed)
    active = policies.lock_active()
    if active.pk != base.pk:
        raise StaleBase(_stale(base, active))
    if wanted == policies.rules_of(active):
        raise NotSound("These are the active rules: nothing would change.")
    plain = rules.as_json(wanted)
    change = RuleSetChange.objects.create(
        base=active,
        proposed=plain,
        proposed_hash=hash_of({"base": active.version, "rules": plain}),
        maker=by,
        reason=reason.strip(),
        made_at=now,
    )
    record("rules.propose", change, by=by, reason=reason, new=_told(change))
    return change


@operation("rules.agree", about="change")
def agree(*, change: RuleSetChange, seen: str, by: User, now: datetime) -> RuleSet:
    """Agree to another administrator's rules: they are active at once. Returns the new version.

    Open approvals keep the steps that they were drawn up with; where the new rules ask for more, they are
    drawn up anew when somebody approves.

    Args:
        seen: the `proposed_hash` that was on the screen.

    Raises: NotAllowed, SameAdministrator, DecidedAlready, ChangedSinceShown, StaleBase, NotSound, and what
        `never.check_session` raises.
    """
    active = policies.lock_active()
    locked = _locked(change, by)
    if seen != locked.proposed_hash:
        raise ChangedSinceShown("This is not what was on the screen. Compare again before you agree.")
    if locked.base_id != active.pk:
        raise StaleBase(_stale(locked.base, active))
    wanted = _sound(locked.proposed)
    _end(locked, State.APPROVED, by, now)
    made = policies.activate(wanted, version=active.version + 1, change=locked, now=now)
    record(
        "rules.agree", made, by=by, reason=locked.reason, old={"version": active.version}, new=_told(locked)
    )
    return made


@operation("rules.reject", about="change")
def reject(*, change: RuleSetChange, reason: str, by: User, now: datetime) -> RuleSetChange:
    """Turn proposed rules down. Raises NotAllowed, SameAdministrator, DecidedAlready, NoReason."""
    locked = _locked(change, by)
    if not reason.strip():
        raise NoReason("Say why: who proposed them will read it.")
    _end(locked, State.REJECTED, by, now, reason.strip())
    record("rules.reject", locked, by=by, reason=reason, new={"state": locked.state})
    return locked


@operation("rules.withdraw", about="change")
def withdraw(*, change: RuleSetChange, by: User, now: datetime) -> RuleSetChange:
    """Take back rules that one proposed oneself. Raises NotAllowed, DecidedAlready."""
    if change.maker_id != by.pk:
        raise NotAllowed("Only who proposed them can take them back.")
    _end(change, State.CANCELLED, by, now)
    record("rules.withdraw", change, by=by, new={"state": change.state})
    return change


def waiting() -> QuerySet[RuleSetChange]:
    """The changes that wait for an administrator, oldest first."""
    return RuleSetChange.objects.filter(state=State.PENDING).order_by("made_at")


def why_not_decide(change: RuleSetChange, person: User) -> str:
    """Say why this person cannot decide on a change; blank when they can."""
    try:
        _check_decider(change, person)
    except Refusal as refusal:
        return refusal.sentence
    return ""


def proposed_rules(change: RuleSetChange) -> tuple[rules.Rule, ...]:
    """The rules that a change proposes."""
    return rules.from_json(change.proposed)


def compare(old: Sequence[rules.Rule], new: Sequence[rules.Rule]) -> list[Difference]:
    """Two rule sets side by side, matched by name: in the new order, what is removed at its old place."""
    before = {rule.name: (place, rule) for place, rule in enumerate(old, 1)}
    after = {rule.name: (place, rule) for place, rule in enumerate(new, 1)}
    names = sorted(before | after, key=lambda name: (after.get(name) or before[name])[0])
    return [
        Difference(
            name,
            old=before[name][1] if name in before else None,
            new=after[name][1] if name in after else None,
            old_place=before[name][0] if name in before else None,
            new_place=after[name][0] if name in after else None,
        )
        for name in names
    ]


def _sound(proposed: Any) -> tuple[rules.Rule, ...]:
    plain = rules.as_json(proposed) if _are_rules(proposed) else proposed
    try:
        wanted = rules.from_json(plain)
    except rules.NotRules as problem:
        raise NotSound(str(problem)) from None
    if found := soundness.problems(wanted, books.roles_by_kind()):
        raise NotSound(" ".join(found))
    return wanted


def _are_rules(proposed: Any) -> bool:
    return isinstance(proposed, list | tuple) and all(isinstance(each, rules.Rule) for each in proposed)


def _locked(change: RuleSetChange, by: User) -> RuleSetChange:
    locked = RuleSetChange.objects.select_for_update(of=("self",)).get(pk=change.pk)
    _check_decider(locked, User.objects.get(pk=by.pk))
    check_session(by)
    return locked


def _check_decider(change: RuleSetChange, person: User) -> None:
    if change.state != State.PENDING:
        raise DecidedAlready(f"This is decided: {change.get_state_display().lower()}.")
    _check_administrator(person)
    if change.maker_id == person.pk:
        raise SameAdministrator("You proposed these rules: another administrator must decide on them.")


def _check_administrator(person: User) -> None:
    if not (person.is_active and person.has_perm(PERMISSION)):
        raise NotAllowed("Only an administrator can do this.")


def _end(
    change: RuleSetChange, state: RuleSetChange.State, by: User, now: datetime, reason: str = ""
) -> None:
    waits = RuleSetChange.objects.filter(pk=change.pk, state=State.PENDING)
    if not waits.update(state=state, decided_by=by, decided_at=now, decided_reason=reason):
        raise DecidedAlready("Somebody decided on it already.")
    change.refresh_from_db()


def _stale(base: RuleSet, active: RuleSet) -> str:
    return (
        f"Version {active.version} of the rules became active since; this was made for version "
        f"{base.version}. Propose it anew."
    )


def _told(change: RuleSetChange) -> dict[str, Any]:
    return {"rules": change.proposed, "hash": change.proposed_hash, "for version": change.base.version}
