"""Answers, kept as they came and sealed, until their parts are committed.

When the database is gone at the moment an answer comes, the same ciphertext goes to a file in SPOOL_DIR, and
from there to the database when it is back: card details come only once.
"""

import base64
import json
import logging
import os
from datetime import datetime
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import QuerySet

from backoffice import vault
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer

log = logging.getLogger("backoffice.delivery")
_SUFFIX, _HALF_WRITTEN = ".sealed", ".part"


def keep(attempt: Attempt, answer: Answer) -> None:
    """Store an answer whole before anything is understood of it. Raises DatabaseError once it is spooled."""
    sealed = vault.seal(_pack(answer), about=_about(attempt))
    try:
        RawAnswer.objects.get_or_create(attempt=attempt, defaults={"sealed": sealed})
    except (DatabaseError, InterfaceError):
        _spool(attempt, sealed)
        raise


def unread_of(kind: str, request_id: int) -> RawAnswer | None:
    """The answer to a request that was stored and not understood yet, when a process died in between."""
    return unread(kind).filter(attempt__request_id=request_id).order_by("-attempt__number").first()


def unread(kind: str) -> QuerySet[RawAnswer]:
    """Every answer to a kind of request that was stored and not understood yet."""
    return RawAnswer.objects.filter(attempt__kind=kind, read_at=None).select_related("attempt")


def unpack(row: RawAnswer) -> Answer:
    """The answer that a row holds. Raises CannotUnseal."""
    packed = json.loads(vault.unseal(bytes(row.sealed), about=_about(row.attempt)))
    return Answer(
        status=packed["status"],
        body=base64.b64decode(packed["body"]),
        headers=packed["headers"],
        request_id=packed["request_id"],
    )


def not_understood(attempt: Attempt, *, now: datetime) -> None:
    """Keep a copy that could not be read: it may still hold the envelope that comes once."""
    RawAnswer.objects.filter(attempt=attempt).update(read_at=now)


def let_go(attempt: Attempt) -> None:
    """Drop the raw copy of an attempt, in the transaction that commits what was in it.

    Those of other attempts stay: one that could not be read may hold the envelope that comes once.
    """
    RawAnswer.objects.filter(attempt=attempt).delete()


def let_go_of_all(attempt: Attempt) -> None:
    """Drop every raw copy of a request: another answer has told all that they could hold."""
    RawAnswer.objects.filter(attempt__kind=attempt.kind, attempt__request_id=attempt.request_id).delete()


def let_go_of_request(kind: str, request_id: int) -> None:
    """Drop every raw copy of a request, in the database and, once that is committed, in the spool."""
    RawAnswer.objects.filter(attempt__kind=kind, attempt__request_id=request_id).delete()
    transaction.on_commit(partial(_shred_all, f"{kind}-{request_id}-*"))


def let_go_of_old(*, before: datetime) -> None:
    """Drop the raw copies that came before a moment, whatever they answer."""
    RawAnswer.objects.filter(received_at__lte=before).delete()
    for file in old_files(before=before):
        log.warning("the spooled answer %s has had its time and is destroyed", file.name)
        _shred(file)


def old_files(*, before: datetime) -> list[Path]:
    """The spooled answers that were last written before a moment, half-written ones included."""
    return [file for file in _spooled("*") if _written_at(file) <= before.timestamp()]


def spooled_of(kind: str, request_id: int) -> list[bytes]:
    """What the spool holds of a request, sealed."""
    return [file.read_bytes() for file in _spooled(f"{kind}-{request_id}-*")]


def _spooled(pattern: str) -> list[Path]:
    if not settings.SPOOL_DIR.is_dir():
        return []
    return sorted(
        file for file in settings.SPOOL_DIR.glob(pattern) if file.suffix in (_SUFFIX, _HALF_WRITTEN)
    )


def _written_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        # Somebody took it in meanwhile: it is not old.
        return float("inf")


def _shred_all(pattern: str) -> None:
    for file in _spooled(pattern):
        _shred(file)


def _shred(file: Path) -> None:
    """Overwrite a file and remove it. On a disk that writes elsewhere, the seal alone protects what was."""
    try:
        with file.open("r+b") as content:
            content.write(bytes(file.stat().st_size))
            content.flush()
            os.fsync(content.fileno())
        file.unlink()
    except FileNotFoundError:
        return


def take_in_spool() -> int:
    """Bring spooled answers into the database. Returns how many; a file goes after its row is committed."""
    return sum(_take_in(file) for file in _spooled("*") if file.suffix == _SUFFIX)


def _take_in(file: Path) -> int:
    kind, request_id, number = file.name.removesuffix(_SUFFIX).rsplit("-", 2)
    attempt = Attempt.objects.filter(kind=kind, request_id=request_id, number=number).first()
    if attempt is None:
        log.error("the spooled answer %s belongs to no attempt here; it is left where it is", file.name)
        return 0
    RawAnswer.objects.get_or_create(attempt=attempt, defaults={"sealed": file.read_bytes()})
    file.unlink(missing_ok=True)
    return 1


def _spool(attempt: Attempt, sealed: bytes) -> None:
    """Write the ciphertext where a crash cannot lose it: a private file, synced with its folder."""
    settings.SPOOL_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{attempt.kind}-{attempt.request_id}-{attempt.number}"
    aside = settings.SPOOL_DIR / f"{name}{_HALF_WRITTEN}"
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(sealed)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(settings.SPOOL_DIR / f"{name}{_SUFFIX}")
    folder = os.open(settings.SPOOL_DIR, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    log.error("the database is gone; the answer to %s waits in the spool", name)


def _pack(answer: Answer) -> bytes:
    packed = {
        "status": answer.status,
        "headers": dict(answer.headers),
        "request_id": answer.request_id,
        "body": base64.b64encode(answer.body).decode(),
    }
    return json.dumps(packed).encode()


def _about(attempt: Attempt) -> str:
    return f"delivery.attempt:{attempt.kind}:{attempt.request_id}:{attempt.number}"
