"""Opening card details: with a record first, by the web process only, never on a GET."""

import json
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from backoffice import vault
from backoffice.access.models import User
from backoffice.audit.context import current_origin
from backoffice.audit.models import Entry
from backoffice.audit.trail import Refusal, operation, record
from backoffice.endl import CardDetails, EnvelopeError, PrivateKey, open_envelope
from cards import budgets, issuing, scope
from cards.keys import note_opened
from cards.models import CardReveal, SealedDetails

log = logging.getLogger("cards.reveal")
Purpose, Result = CardReveal.Purpose, CardReveal.Result


class DetailsGone(Refusal):
    """The details were destroyed, or are quarantined."""


class CannotOpen(Exception):
    """The envelope does not open. The same words for every cause; the log names the kind."""

    def __init__(self) -> None:
        super().__init__("The card details could not be opened. An administrator finds the cause in the log.")


def open_mask(*, details: SealedDetails, keys: list[PrivateKey], by: User, now: datetime) -> SealedDetails:
    """Learn last four and expiry from the envelope, once, where Endl's answer did not say them.

    Args:
        keys: the private keys, which only the web process holds.

    Raises: NotAllowed, DetailsGone, CannotOpen.
    """
    looked = start_look(
        details=details, purpose=Purpose.MASK, reason="To show the masked card", by=by, now=now
    )
    opened = unseal(looked, keys, now=now)
    SealedDetails.objects.filter(pk=details.pk, destroyed_at=None).update(
        last4=opened.last4, exp_month=opened.exp_month, exp_year=opened.exp_year, opened_at=now
    )
    details.refresh_from_db()
    return details


@operation("card.open", about="details")
def start_look(
    *,
    details: SealedDetails,
    purpose: CardReveal.Purpose,
    reason: str,
    by: User,
    now: datetime,
    kind: str = "",
    token_hash: str = "",
) -> CardReveal:
    """Commit that somebody is about to look, so that a failed look is on record too.

    Args:
        kind: of the reason, for a look that shows the card to a person.
        token_hash: by which the look's own page is known afterwards.

    Raises: NotAllowed, DetailsGone, TooManyLooks.
    """
    # Whoever destroys details takes the same lock: either the look is on record first, or they are gone.
    locked = SealedDetails.objects.select_for_update(no_key=True).get(pk=details.pk)
    check(details=locked, purpose=purpose, by=by)
    if purpose == Purpose.REVEAL:
        budgets.spend(details=locked, by=by, now=now)
    origin = current_origin()
    looked = CardReveal.objects.create(
        details=locked,
        by=by,
        purpose=purpose,
        kind=kind,
        reason=reason,
        started_at=now,
        address=origin.address,
        session=origin.session,
        token_hash=token_hash,
        visible_until=now + timedelta(seconds=settings.REVEAL_SECONDS) if token_hash else None,
    )
    record(f"card.{purpose}", locked, by=by, reason=reason, new={"kind": kind} if kind else None)
    return looked


def check(*, details: SealedDetails, purpose: CardReveal.Purpose, by: User) -> None:
    """Refuse who may not look, and what is no longer there. Raises NotAllowed, DetailsGone."""
    scope.check(by, _PERMISSIONS[purpose], details.order.cardholder.customer)
    if details.is_destroyed:
        raise DetailsGone(
            f"The details were destroyed on {details.destroyed_at:%Y-%m-%d}: {details.destroyed_because}."
        )
    if details.quarantined_at is not None:
        raise DetailsGone("The details do not fit the card and are quarantined.")


_PERMISSIONS = {Purpose.MASK: "cards.open_mask", Purpose.REVEAL: "cards.reveal_card"}


@sensitive_variables()
def unseal(looked: CardReveal, keys: list[PrivateKey], *, now: datetime) -> CardDetails:
    """Open the envelope of a look that is on record, and compare it with the card. Raises CannotOpen."""
    details = looked.details
    opened = _opened(details, keys)
    if isinstance(opened, Unopened):
        log.warning("details %s do not open: %s", details.pk, opened.kind)
        _finish(looked, Result.FAILED)
        record("card.open", details, by=looked.by, reason=looked.reason, result=Entry.Result.FAILED)
        raise CannotOpen
    if not fits(details, opened):
        SealedDetails.objects.filter(pk=details.pk).update(quarantined_at=now)
        _finish(looked, Result.FAILED)
        record("card.quarantine", details, by="system: reveal")
        raise CannotOpen
    note_opened(details, opened.opened_by)
    _finish(looked, Result.DONE)
    return opened


def fits(details: SealedDetails, opened: CardDetails) -> bool:
    """Whether an opened envelope agrees with what Endl says of the card, as far as it says anything."""
    card = details.order.card
    said = [(details.last4, details.exp_month, details.exp_year)]
    if card is not None:
        said.append((card.last4, card.exp_month, card.exp_year))
    return all(
        last4 in ("", opened.last4)
        and month in (None, opened.exp_month)
        and _same_year(year, opened.exp_year)
        for last4, month, year in said
    )


def _same_year(said: int | None, opened: int) -> bool:
    return said is None or said % 100 == opened % 100


@dataclass(frozen=True)
class Unopened:
    """That an envelope did not open, and the kind of failure, for the log."""

    kind: str


@sensitive_variables()
def _opened(details: SealedDetails, keys: list[PrivateKey]) -> CardDetails | Unopened:
    """Open an envelope. Whatever goes wrong ends here: an exception's text or frames may hold the number."""
    about = issuing.about_details(details.order)
    try:
        return _open(details, keys, about)
    except EnvelopeError as problem:
        return Unopened(problem.kind)
    except Exception as problem:  # noqa: BLE001  (see above)
        return Unopened(type(problem).__name__)


@sensitive_variables()
def _open(details: SealedDetails, keys: list[PrivateKey], about: str) -> CardDetails:
    assert details.envelope is not None
    envelope = json.loads(vault.unseal(bytes(details.envelope), about=about))
    return open_envelope(
        envelope,
        keys,
        form=settings.ENDL_ENVELOPE_FORM,
        oaep_hash=settings.ENDL_OAEP_HASH,
        mgf_hash=settings.ENDL_MGF_HASH,
    )


def _finish(looked: CardReveal, result: CardReveal.Result) -> None:
    # A look may be opened a second time, for the CVV: what became of it is said once.
    CardReveal.objects.filter(pk=looked.pk, result=Result.STARTED).update(result=result)
