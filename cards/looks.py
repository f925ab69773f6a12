"""One look of a person at a card: begun, asked for the CVV, prolonged, copied from, ended.

A look is known by a token that its page alone holds; the table keeps its hash. Everything after the
beginning must come from the same person and session, for the same card, while the look lasts.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from backoffice.access.models import User
from backoffice.audit.context import current_origin
from backoffice.audit.models import Entry
from backoffice.audit.trail import Refusal, operation, record
from cards import budgets, reveal, scope
from cards.models import CardReveal, SealedDetails

Purpose, Result, Ending = CardReveal.Purpose, CardReveal.Result, CardReveal.Ending
COPY = "cards.copy_details"
FIELDS = {"number": "card number", "expiry": "expiry", "cvv": "security code"}
NO_REASON = "Not asked: refused before"


class LookOver(Refusal):
    """The look has ended, or was never this person's."""

    def __init__(self) -> None:
        super().__init__("This look is over. Begin a new one to see the card again.")


class OnlyOnce(Refusal):
    """A look gives this once."""


@dataclass(frozen=True, repr=False)
class View:
    """A look that has begun, and the token of its page."""

    look: CardReveal
    token: str


def why_not(*, details: SealedDetails, by: User, now: datetime) -> Refusal | None:
    """Why this person cannot begin a look now; None when they can. The deed checks again, under locks."""
    try:
        reveal.check(details=details, purpose=Purpose.REVEAL, by=by)
    except Refusal as refusal:
        return refusal
    sentence = budgets.why_not(details=details, by=by, now=now)
    return budgets.TooManyLooks(sentence) if sentence else None


def begin(*, details: SealedDetails, kind: str, reason: str, by: User, now: datetime) -> View:
    """Commit a look before anything is opened. A refusal has its row in the ledger too.

    Args:
        kind: one of CardReveal.Kind.
        reason: the sentence that the person wrote.

    Raises: NotAllowed, DetailsGone, TooManyLooks.
    """
    token = secrets.token_urlsafe(32)
    try:
        look = reveal.start_look(
            details=details,
            purpose=Purpose.REVEAL,
            kind=kind,
            reason=reason,
            token_hash=_hash(token),
            by=by,
            now=now,
        )
    except Refusal as refusal:
        _keep_refused(refusal, details=details, kind=kind, reason=reason, by=by, now=now)
        raise
    return View(look, token)


def note_refusal(
    *,
    details: SealedDetails,
    refusal: Refusal,
    by: User,
    now: datetime,
    kind: str = "",
    reason: str = NO_REASON,
) -> None:
    """Put a try on record that ended before a look began, such as one with a wrong second factor."""
    told = {"refusal": type(refusal).__name__, "sentence": refusal.sentence}
    record("card.open", details, by=by, reason=reason, new=told, result=Entry.Result.REFUSED)
    _keep_refused(refusal, details=details, kind=kind, reason=reason, by=by, now=now)


@operation("card.reveal_cvv", about="details")
def ask_cvv(*, details: SealedDetails, token: str, by: User, now: datetime) -> CardReveal:
    """Commit that the CVV is about to be shown: once in a look.

    Raises: NotAllowed, DetailsGone, LookOver, OnlyOnce.
    """
    locked = SealedDetails.objects.select_for_update(no_key=True).get(pk=details.pk)
    reveal.check(details=locked, purpose=Purpose.REVEAL, by=by)
    look = _lasting(locked, token, by, now)
    if look.cvv_shown_at is not None:
        raise OnlyOnce("The security code was shown in this look already.")
    CardReveal.objects.filter(pk=look.pk).update(cvv_shown_at=now)
    record("card.reveal_cvv", locked, by=by, reason=look.reason)
    look.details = locked
    return look


@operation("card.reveal_longer", about="details")
def prolong(*, details: SealedDetails, token: str, by: User, now: datetime) -> CardReveal:
    """Give a look its time once more: once in a look. Raises NotAllowed, LookOver, OnlyOnce."""
    scope.check(by, "cards.reveal_card", details.order.cardholder.customer)
    look = _lasting(details, token, by, now)
    if look.extended_at is not None or look.visible_until is None:
        raise OnlyOnce("A look can be made longer once.")
    look.extended_at = now
    look.visible_until += timedelta(seconds=settings.REVEAL_SECONDS)
    look.save(update_fields=["extended_at", "visible_until"])
    record("card.reveal_longer", details, by=by, reason=look.reason)
    return look


@operation("card.copy", about="details")
def note_copy(*, details: SealedDetails, token: str, field: str, by: User, now: datetime) -> None:
    """Put on record that a field is about to be copied to the clipboard.

    Args:
        field: one of FIELDS.

    Raises: NotAllowed, LookOver.
    """
    scope.check(by, COPY, details.order.cardholder.customer)
    look = _lasting(details, token, by, now)
    if field not in FIELDS or (field == "cvv" and look.cvv_shown_at is None):
        raise LookOver
    # The row has room for some thirty; the trail has every one.
    copied = f"{look.copied}{field} "
    if len(copied) <= 200:
        CardReveal.objects.filter(pk=look.pk).update(copied=copied)
    record("card.copy", details, by=by, reason=look.reason, new={"field": FIELDS[field]})


@transaction.atomic
def end(*, details: SealedDetails, token: str, ending: CardReveal.Ending, by: User, now: datetime) -> None:
    """Keep when and how the values went from the screen. The first word counts; later ones are idle."""
    look = _look(details, token, by)
    if look is None or look.hidden_at is not None or look.visible_until is None:
        return
    look.hidden_at, look.ending = min(now, look.visible_until), ending
    look.save(update_fields=["hidden_at", "ending"])


def _lasting(details: SealedDetails, token: str, by: User, now: datetime) -> CardReveal:
    look = _look(details, token, by)
    if look is None or look.result != Result.DONE or look.hidden_at is not None:
        raise LookOver
    if look.visible_until is None or look.visible_until <= now:
        raise LookOver
    return look


def _look(details: SealedDetails, token: str, by: User) -> CardReveal | None:
    own = CardReveal.objects.select_for_update().filter(details=details, by=by, token_hash=_hash(token))
    return own.filter(session=current_origin().session).first()


def _keep_refused(
    refusal: Refusal, *, details: SealedDetails, kind: str, reason: str, by: User, now: datetime
) -> None:
    origin = current_origin()
    CardReveal.objects.create(
        details=details,
        by=by,
        purpose=Purpose.REVEAL,
        kind=kind,
        reason=reason,
        started_at=now,
        result=Result.REFUSED,
        refused_because=refusal.sentence[:300],
        address=origin.address,
        session=origin.session,
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
