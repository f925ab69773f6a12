"""Holds: a person stops money, cards or everything, with a reason; another person lets them go on."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from backoffice.access.models import User
from backoffice.approvals.decisions import SameHands
from backoffice.audit.trail import NotAllowed, Refusal, operation, record
from backoffice.delivery.models import Hold

PERMISSION = "delivery.add_hold"


class AlreadyHeld(Refusal):
    """The same is held already."""


class NotHeld(Refusal):
    """Somebody lifted it already."""


class NoReason(Refusal):
    """A hold, and its end, need a reason."""


def open_holds() -> QuerySet[Hold]:
    """The holds that nobody has lifted yet."""
    return Hold.objects.filter(lifted_at=None)


def is_held(scope: Hold.Scope) -> bool:
    """Whether a person holds this kind of request, or everything."""
    return open_holds().filter(scope__in=(Hold.Scope.EVERYTHING, scope)).exists()


@operation("line.hold")
def hold(*, scope: Hold.Scope, reason: str, by: User, now: datetime) -> Hold:
    """Send nothing more of a kind until another person lifts it. Queued work stays queued.

    Raises: NotAllowed, NoReason, AlreadyHeld.
    """
    _check(by, reason)
    try:
        with transaction.atomic():
            made = Hold.objects.create(scope=scope, reason=reason.strip(), set_by=by, set_at=now)
    except IntegrityError:
        raise AlreadyHeld(f"{Hold.Scope(scope).label} is held already.") from None
    record("line.hold", made, by=by, reason=reason, new={"scope": str(scope)})
    return made


@operation("line.release", about="hold")
def release(*, hold: Hold, reason: str, by: User, now: datetime) -> Hold:
    """Let a held kind go on. Raises NotAllowed, NoReason, SameHands, NotHeld."""
    _check(by, reason)
    if hold.set_by_id == by.pk:
        raise SameHands("You set this hold: another person must lift it.")
    lifted = open_holds().filter(pk=hold.pk)
    if not lifted.update(lifted_by=by, lifted_at=now, lift_reason=reason.strip()):
        raise NotHeld("Somebody lifted it already.")
    hold.refresh_from_db()
    record("line.release", hold, by=by, reason=reason, new={"scope": hold.scope})
    return hold


def why_not_release(hold: Hold, person: User) -> str:
    """Say why this person cannot lift a hold; blank when they can."""
    if not person.has_perm(PERMISSION):
        return "Your roles do not let you hold or release the line."
    if hold.set_by_id == person.pk:
        return "You set this hold: another person must lift it."
    return ""


def _check(by: User, reason: str) -> None:
    if not (by.is_active and by.has_perm(PERMISSION)):
        raise NotAllowed("Your roles do not let you hold or release the line.")
    if not reason.strip():
        raise NoReason("Say why; everybody reads it.")
