"""Personal limits: up to which amount one person may decide, at once and in 24 hours.

Lowering takes effect at once. Raising waits for another administrator. Who has no limit in a currency is
limited by the rules alone.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from backoffice.access.models import User
from backoffice.approvals.facts import hash_of
from backoffice.approvals.models import Approval, Decision, Limit, LimitChange
from backoffice.approvals.never import check_session
from backoffice.audit.trail import NotAllowed, Refusal, operation, record
from backoffice.money import plain

PERMISSION = "approvals.change_limits"
DAY = timedelta(hours=24)
State = LimitChange.State


class OverLimit(Refusal):
    """More than this person may decide, at once or in 24 hours."""


class OwnLimit(Refusal):
    """Nobody has a hand in their own limit."""


class SameAdministrator(Refusal):
    """Who asks for a raise does not agree to it."""


class NotALimit(Refusal):
    """The amounts make no limit, or it is so already."""


class RaiseWaits(Refusal):
    """A raise of this limit waits already."""


class DecidedAlready(Refusal):
    """Somebody was first."""


class ChangedSinceAsked(Refusal):
    """The limit, or what is asked for, is not what was on the screen."""


class NoReason(Refusal):
    """It needs a reason."""


@dataclass(frozen=True)
class Used:
    """A limit as it stands, and what of the day is used.

    Attributes:
        per_decision, per_day: the limit.
        used: what the person approved in the last 24 hours, in the limit's currency.
    """

    per_decision: Decimal
    per_day: Decimal
    used: Decimal

    @property
    def left(self) -> Decimal:
        """What is left of the day; never less than nothing."""
        return max(self.per_day - self.used, Decimal(0))

    def holds(self, amount: Decimal) -> bool:
        """Whether a decision about this amount is within the limit."""
        return amount <= self.per_decision and self.used + amount <= self.per_day


def standing(person: User, currency: str, *, now: datetime, lock: bool = False) -> Used | None:
    """A person's limit in a currency and what is used of it; None where they have none.

    Args:
        lock: hold the limit's row until the transaction ends, so that two decisions of one person at the
            same moment are counted one after the other.
    """
    rows = Limit.objects.select_for_update() if lock else Limit.objects
    limit = rows.filter(person=person, currency=currency).first()
    if limit is None:
        return None
    return Used(limit.per_decision, limit.per_day, used_in_a_day(person, currency, now=now))


def used_in_a_day(person: User, currency: str, *, now: datetime) -> Decimal:
    """What a person approved in the last 24 hours, in one currency, whatever became of it since."""
    amounts = Decision.objects.filter(
        person=person, currency=currency, verdict=Decision.Verdict.APPROVE, made_at__gt=now - DAY
    ).values_list("amount", flat=True)
    return sum((amount for amount in amounts if amount is not None), Decimal(0))


def check(approval: Approval, person: User, used: Used | None) -> None:
    """Refuse a decision beyond a person's limit. Raises OverLimit; who can instead, `reasons` says."""
    if used is None or approval.amount is None or used.holds(approval.amount):
        return
    this = f"{plain(approval.amount)} {approval.currency}"
    if approval.amount > used.per_decision:
        limit = f"Your limit is {plain(used.per_decision)} {approval.currency} per decision; this is {this}."
    else:
        limit = (
            f"Your limit is {plain(used.per_day)} {approval.currency} in 24 hours, of which "
            f"{plain(used.left)} are left; this is {this}."
        )
    raise OverLimit(limit)


# --- Setting them ----------------------------------------------------------------------------------


@operation("limit.set", about="person")
def set_limit(
    *,
    person: User,
    currency: str,
    per_decision: Decimal,
    per_day: Decimal,
    reason: str,
    by: User,
    now: datetime,
) -> Limit | LimitChange:
    """Set a person's limit in a currency. Lowering holds at once; raising waits for another administrator.

    A first limit lowers: before it, only the rules limited the person.

    Args:
        per_decision, per_day: amounts in `currency`; the first is not more than the second.

    Returns: the limit where it holds now, else the change that waits.

    Raises: NotAllowed, OwnLimit, NotALimit, RaiseWaits, NoReason, and what `never.check_session` raises.
    """
    _check(by, person, reason)
    _check_amounts(currency, per_decision, per_day)
    # The person's row stands for limits that are not there yet.
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    limit = Limit.objects.select_for_update().filter(person=person, currency=currency).first()
    new = {"per_decision": per_decision, "per_day": per_day}
    if limit is None:
        made = Limit.objects.create(person=person, currency=currency, set_by=by, set_at=now, **new)
        record("limit.set", made, by=by, reason=reason, new=_told(made))
        return made
    if (limit.per_decision, limit.per_day) == (per_decision, per_day):
        raise NotALimit("The limit is that already.")
    if per_decision > limit.per_decision or per_day > limit.per_day:
        return _ask_to_raise(limit, new, reason, by, now)
    old = _told(limit)
    Limit.objects.filter(pk=limit.pk).update(set_by=by, set_at=now, **new)
    limit.refresh_from_db()
    record("limit.set", limit, by=by, reason=reason, old=old, new=_told(limit))
    return limit


def _ask_to_raise(limit: Limit, new: dict[str, Decimal], reason: str, by: User, now: datetime) -> LimitChange:
    try:
        with transaction.atomic():
            change = LimitChange.objects.create(
                limit=limit,
                was_per_decision=limit.per_decision,
                was_per_day=limit.per_day,
                maker=by,
                person=limit.person,
                reason=reason.strip(),
                made_at=now,
                **new,
            )
    except IntegrityError:
        raise RaiseWaits("A raise of this limit waits already: decide on that one first.") from None
    record("limit.ask_raise", change, by=by, reason=reason, old=_told(limit), new=_told(change))
    return change


def seen_hash(change: LimitChange) -> str:
    """What an administrator agrees to: the raise as it was on the screen."""
    amounts = (change.was_per_decision, change.was_per_day, change.per_decision, change.per_day)
    return hash_of([change.limit_id, change.maker_id, *(plain(amount) for amount in amounts)])


@operation("limit.agree", about="change")
def agree(*, change: LimitChange, seen: str, by: User, now: datetime) -> Limit:
    """Agree to another administrator's raise; it holds at once.

    Raises: NotAllowed, OwnLimit, SameAdministrator, DecidedAlready, ChangedSinceAsked, and what
        `never.check_session` raises.
    """
    limit = Limit.objects.select_for_update().get(pk=change.limit_id)
    locked = _locked(change, by)
    if seen != seen_hash(locked) or (limit.per_decision, limit.per_day) != (
        locked.was_per_decision,
        locked.was_per_day,
    ):
        raise ChangedSinceAsked("The limit is not what it was when this was asked for. Ask anew.")
    old = _told(limit)
    _end(locked, State.APPROVED, by, now)
    Limit.objects.filter(pk=limit.pk).update(
        per_decision=locked.per_decision, per_day=locked.per_day, set_by=by, set_at=now, raised_by=locked
    )
    limit.refresh_from_db()
    record("limit.agree", limit, by=by, reason=locked.reason, old=old, new=_told(limit))
    return limit


@operation("limit.reject", about="change")
def reject(*, change: LimitChange, reason: str, by: User, now: datetime) -> LimitChange:
    """Turn a raise down. Raises: as `agree`, and NoReason."""
    locked = _locked(change, by)
    if not reason.strip():
        raise NoReason("Say why: who asked for it will read it.")
    _end(locked, State.REJECTED, by, now, reason.strip())
    record("limit.reject", locked, by=by, reason=reason, new={"state": locked.state})
    return locked


@operation("limit.withdraw", about="change")
def withdraw(*, change: LimitChange, by: User, now: datetime) -> LimitChange:
    """Take back a raise that one asked for oneself. Raises NotAllowed, DecidedAlready."""
    if change.maker_id != by.pk:
        raise NotAllowed("Only who asked for it can take it back.")
    _end(change, State.CANCELLED, by, now)
    record("limit.withdraw", change, by=by, new={"state": change.state})
    return change


def waiting() -> QuerySet[LimitChange]:
    """The raises that wait for an administrator, oldest first."""
    return LimitChange.objects.filter(state=State.PENDING).order_by("made_at")


def why_not_agree(change: LimitChange, person: User) -> str:
    """Say why this person cannot agree to a raise; blank when they can."""
    try:
        _check_decider(change, person)
    except Refusal as refusal:
        return refusal.sentence
    return ""


def _locked(change: LimitChange, by: User) -> LimitChange:
    locked = LimitChange.objects.select_for_update().get(pk=change.pk)
    _check_decider(locked, User.objects.get(pk=by.pk))
    check_session(by)
    return locked


def _check_decider(change: LimitChange, person: User) -> None:
    if change.state != State.PENDING:
        raise DecidedAlready(f"This is decided: {change.get_state_display().lower()}.")
    if not (person.is_active and person.has_perm(PERMISSION)):
        raise NotAllowed("Only an administrator can do this.")
    if change.maker_id == person.pk:
        raise SameAdministrator("You asked for this raise: another administrator must agree to it.")
    if change.person_id == person.pk:
        raise OwnLimit("This is your own limit: another administrator must decide on it.")


def _end(change: LimitChange, state: LimitChange.State, by: User, now: datetime, reason: str = "") -> None:
    waits = LimitChange.objects.filter(pk=change.pk, state=State.PENDING)
    if not waits.update(state=state, decided_by=by, decided_at=now, decided_reason=reason):
        raise DecidedAlready("Somebody decided on it already.")
    change.refresh_from_db()


def _check(by: User, person: User, reason: str) -> None:
    actor = User.objects.get(pk=by.pk)
    if not (actor.is_active and actor.has_perm(PERMISSION)):
        raise NotAllowed("Only an administrator can do this.")
    if person.pk == by.pk:
        raise OwnLimit("This is your own limit: another administrator has to set it.")
    if not reason.strip():
        raise NoReason("Say why; it stays on record.")
    check_session(by)


def _check_amounts(currency: str, per_decision: Decimal, per_day: Decimal) -> None:
    if not (currency.isascii() and currency.isalnum() and currency.isupper() and 2 <= len(currency) <= 12):
        raise NotALimit("Give the currency as a code, such as USDC.")
    if not (per_decision.is_finite() and per_day.is_finite() and 0 <= per_decision <= per_day < 10**12):
        raise NotALimit("The limit of one decision is between zero and the limit of the day.")


def _told(limit: Limit | LimitChange) -> dict[str, str]:
    return {"per decision": plain(limit.per_decision), "per day": plain(limit.per_day)}
