"""Opening card details: with a record first, by the web process only, never on a GET."""

import json
import logging
from datetime import datetime

from django.conf import settings

from backoffice import vault
from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from backoffice.endl import CardDetails, EnvelopeError, PrivateKey, open_envelope
from cards import issuing, scope
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
    *, details: SealedDetails, purpose: CardReveal.Purpose, reason: str, by: User, now: datetime
) -> CardReveal:
    """Commit that somebody is about to look, so that a failed look is on record too.

    Raises: NotAllowed, DetailsGone.
    """
    locked = SealedDetails.objects.select_for_update().get(pk=details.pk)
    scope.check(by, _PERMISSIONS[purpose], locked.order.cardholder.customer)
    if locked.is_destroyed:
        raise DetailsGone(
            f"The details were destroyed on {locked.destroyed_at:%Y-%m-%d}: {locked.destroyed_because}."
        )
    if locked.quarantined_at is not None:
        raise DetailsGone("The details do not fit the card and are quarantined.")
    looked = CardReveal.objects.create(details=locked, by=by, purpose=purpose, reason=reason, started_at=now)
    record(f"card.{purpose}", locked, by=by, reason=reason)
    return looked


_PERMISSIONS = {Purpose.MASK: "cards.open_mask", Purpose.REVEAL: "cards.reveal_card"}


def unseal(looked: CardReveal, keys: list[PrivateKey], *, now: datetime) -> CardDetails:
    """Open the envelope of a look that is on record, and compare it with the card. Raises CannotOpen."""
    details = looked.details
    try:
        opened = _open(details, keys)
    except (EnvelopeError, vault.CannotUnseal) as problem:
        log.warning(
            "details %s do not open: %s", details.pk, getattr(problem, "kind", type(problem).__name__)
        )
        _finish(looked, Result.FAILED)
        raise CannotOpen from None
    if not fits(details, opened):
        SealedDetails.objects.filter(pk=details.pk).update(quarantined_at=now)
        _finish(looked, Result.FAILED)
        record("card.quarantine", details, by="system: reveal")
        raise CannotOpen
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


def _open(details: SealedDetails, keys: list[PrivateKey]) -> CardDetails:
    assert details.envelope is not None
    envelope = json.loads(vault.unseal(bytes(details.envelope), about=issuing.about_details(details.order)))
    return open_envelope(
        envelope,
        keys,
        form=settings.ENDL_ENVELOPE_FORM,
        oaep_hash=settings.ENDL_OAEP_HASH,
        mgf_hash=settings.ENDL_MGF_HASH,
    )


def _finish(looked: CardReveal, result: CardReveal.Result) -> None:
    CardReveal.objects.filter(pk=looked.pk).update(result=result)
