"""The keys as every process knows them: fingerprints and states. No private key is read here.

`pending`: made, not yet with Endl. `active`: Endl seals to it. `decrypt_only`: Endl did, and envelopes may
still need it. `destroyed`: nothing needs it any more.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from backoffice.audit.trail import Actor, Refusal, operation, record
from backoffice.delivery.models import State as Road
from backoffice.endl import PrivateKey, is_named, key_named_in
from cards.models import CardOrder, EncryptionKey, SealedDetails

State = EncryptionKey.State
_ON_THE_WAY = (Road.SENDING, Road.UNKNOWN)


class WrongState(Refusal):
    """The key is in a state from which this does not lead anywhere."""


class StillNeeded(Refusal):
    """Envelopes need the key, or may."""


# --- What an envelope is sealed to --------------------------------------------------------------------


def fingerprint_for(envelope: str | dict[str, Any]) -> str:
    """The fingerprint to keep with an envelope: of the key that Endl names, else of the active one.

    Where neither is known, the name that Endl gave; blank when it gave none.
    """
    name = key_named_in(envelope)
    known = EncryptionKey.objects.values_list("fingerprint", flat=True)
    named = next((fingerprint for fingerprint in known if is_named(fingerprint, name)), "")
    return named or _active_fingerprint() or name[:64]


def _active_fingerprint() -> str:
    return (
        EncryptionKey.objects.filter(state=State.ACTIVE).values_list("fingerprint", flat=True).first() or ""
    )


def note_opened(details: SealedDetails, opened_by: str) -> None:
    """Correct what was assumed of an envelope, once a key has opened it."""
    if opened_by and details.key_fingerprint != opened_by:
        SealedDetails.objects.filter(pk=details.pk).update(key_fingerprint=opened_by)


def needing(key: EncryptionKey) -> QuerySet[SealedDetails]:
    """The envelopes that are kept and sealed to a key."""
    return SealedDetails.objects.filter(destroyed_at=None, key_fingerprint=key.fingerprint)


def of_no_known_key() -> QuerySet[SealedDetails]:
    """The envelopes that are kept and name no key of the table: any key may be theirs."""
    known = EncryptionKey.objects.values("fingerprint")
    return SealedDetails.objects.filter(
        Q(key_fingerprint="") | ~Q(key_fingerprint__in=known), destroyed_at=None
    )


def why_not_destroy(key: EncryptionKey) -> str:
    """Say what still needs a key; blank when nothing does."""
    if key.state == State.ACTIVE:
        return "Endl seals card details to this key: activate another one first."
    if count := needing(key).count():
        return f"{count} envelopes need this key. Each goes with its card, or by retention."
    if count := of_no_known_key().count():
        return f"{count} envelopes name no key that is known here, and may need this one."
    if count := CardOrder.objects.filter(state__in=_ON_THE_WAY).count():
        return f"{count} card orders are on their way, and their details may come sealed to this key."
    return ""


# --- What people and the ring do with keys ------------------------------------------------------------


def by_fingerprint(text: str) -> EncryptionKey:
    """Find a key by its fingerprint, or by its beginning. Raises WrongState when not exactly one fits."""
    wanted = text.strip().replace(":", "").lower()
    found = list(EncryptionKey.objects.filter(fingerprint__startswith=wanted)[:2]) if len(wanted) >= 8 else []
    if len(found) != 1:
        said = "More than one key begins" if found else "No key that was seen here begins"
        raise WrongState(f"{said} with {text}: give 8 characters or more of a fingerprint.")
    return found[0]


@transaction.atomic
def take_in(found: Iterable[tuple[PrivateKey, str]], *, now: datetime) -> None:
    """Make the table know the keys of the ring, in their order.

    A new key is pending. The first one becomes active by itself while it is pending: it was put in front.

    Args:
        found: each usable key and the path of its file, the current one first.
    """
    for place, (key, file) in enumerate(found):
        row, is_new = EncryptionKey.objects.get_or_create(
            fingerprint=key.fingerprint,
            defaults={
                "bits": key.bits,
                "public_pem": key.public_pem,
                "file": file[:500],
                "first_seen_at": now,
            },
        )
        if is_new:
            record("key.add", row, by="system: key ring", new={"bits": row.bits, "file": row.file})
        elif row.file != file[:500]:
            EncryptionKey.objects.filter(pk=row.pk).update(file=file[:500])
        if place == 0 and row.state == State.PENDING:
            _make_active(row, by="system: key ring", now=now)


@operation("key.activate", about="key")
def activate(*, key: EncryptionKey, by: Actor, now: datetime) -> EncryptionKey:
    """Say that Endl seals to this key from now on; the one before only opens. Raises WrongState."""
    row = _locked(key)
    if row.state == State.DESTROYED:
        raise WrongState("This key is destroyed.")
    if row.state == State.ACTIVE:
        raise WrongState("This key is active already.")
    return _make_active(row, by=by, now=now)


@operation("key.retire", about="key")
def retire(*, key: EncryptionKey, by: Actor, now: datetime) -> EncryptionKey:
    """Use a key for opening only. Raises WrongState."""
    row = _locked(key)
    if row.state == State.DESTROYED:
        raise WrongState("This key is destroyed.")
    if row.state == State.DECRYPT_ONLY:
        raise WrongState("This key only opens envelopes already.")
    return _make_decrypt_only(row, by=by, now=now)


@operation("key.destroy", about="key")
def destroy(*, key: EncryptionKey, by: Actor, now: datetime) -> EncryptionKey:
    """Mark a key destroyed: it is never loaded again. Its file is for a person to destroy.

    Raises: WrongState, StillNeeded.
    """
    row = _locked(key)
    if row.state == State.DESTROYED:
        raise WrongState("This key is destroyed already.")
    if reason := why_not_destroy(row):
        raise StillNeeded(reason)
    old = row.state
    row.state, row.destroyed_at = State.DESTROYED, now
    row.destroyed_by = by if isinstance(by, str) else by.get_username()
    row.save(update_fields=["state", "destroyed_at", "destroyed_by"])
    record("key.destroy", row, by=by, old={"state": old}, new={"state": row.state, "file": row.file})
    return row


def _locked(key: EncryptionKey) -> EncryptionKey:
    return EncryptionKey.objects.select_for_update().get(pk=key.pk)


def _make_active(row: EncryptionKey, *, by: Actor, now: datetime) -> EncryptionKey:
    for before in EncryptionKey.objects.select_for_update().filter(state=State.ACTIVE):
        _make_decrypt_only(before, by=by, now=now)
    old = row.state
    row.state, row.activated_at, row.retired_at = State.ACTIVE, now, None
    row.save(update_fields=["state", "activated_at", "retired_at"])
    record("key.activate", row, by=by, old={"state": old}, new={"state": row.state})
    return row


def _make_decrypt_only(row: EncryptionKey, *, by: Actor, now: datetime) -> EncryptionKey:
    old = row.state
    row.state, row.retired_at = State.DECRYPT_ONLY, now
    row.save(update_fields=["state", "retired_at"])
    record("key.retire", row, by=by, old={"state": old}, new={"state": row.state})
    return row
