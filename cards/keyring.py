"""The RSA keys that open envelopes, read from their files. Only the web process does this, never a worker.

A file is read once and again when it changed, so a rotation needs no restart. What is wrong with a file is
said in the log, on the page of keys and by `manage.py keys`; the rest of the office goes on without it.
"""

import logging
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.utils import timezone

from backoffice.endl import KeyRefused, PrivateKey, read_key_file, warning_about
from cards import keys
from cards.models import EncryptionKey

log = logging.getLogger("cards.keyring")
LOOK_SECONDS = 5.0
NO_FILES = "ENDL_PRIVATE_KEY_FILES is empty: card details cannot be opened here."
_IS_DESTROYED = "This key is marked destroyed and is not used. Destroy the file: shred -u {path}"


@dataclass(frozen=True)
class KeyFile:
    """One file of ENDL_PRIVATE_KEY_FILES, as it is now.

    Attributes:
        key: the private key; None when it cannot be used.
        problem: why not, in a sentence; blank when it can.
        warning: what could be better; blank when nothing.
    """

    path: Path
    key: PrivateKey | None = None
    problem: str = ""
    warning: str = ""


def key_files() -> list[KeyFile]:
    """Every configured file, the current one first. Raises nothing."""
    destroyed = set(
        EncryptionKey.objects.filter(state=EncryptionKey.State.DESTROYED).values_list(
            "fingerprint", flat=True
        )
    )
    found: list[KeyFile] = []
    for file in _files():
        twin = next((each for each in found if _is_same(each, file)), None)
        if file.key is not None and file.key.fingerprint in destroyed:
            found.append(KeyFile(file.path, problem=_IS_DESTROYED.format(path=file.path)))
        elif twin is not None:
            found.append(KeyFile(file.path, problem=f"It holds the same key as {twin.path}."))
        else:
            found.append(file)
    return found


def private_keys() -> list[PrivateKey]:
    """The keys that can be used, the current one first. Raises KeyRefused when there is none."""
    found = key_files()
    usable = [file.key for file in found if file.key is not None]
    if not usable:
        raise KeyRefused(found[0].problem if found else NO_FILES)
    return usable


def keep_in_step() -> list[KeyFile]:
    """Make the table of keys know what the files hold now."""
    found = key_files()
    keys.take_in([(file.key, str(file.path)) for file in found if file.key is not None], now=timezone.now())
    return found


def watch() -> None:
    """Keep the table in step from now on, in a thread of this process."""
    if settings.ENDL_PRIVATE_KEY_FILES:
        threading.Thread(target=_watch, name="key ring", daemon=True).start()


def _watch(stop: threading.Event | None = None) -> None:
    ending, seen = stop or threading.Event(), None
    while True:
        now = [_signature(path) for path in _paths()]
        # A table that could not be written is tried again at the next look.
        seen = now if seen == now or _kept_in_step() else None
        if ending.wait(LOOK_SECONDS):
            return


def _kept_in_step() -> bool:
    try:
        keep_in_step()
    except DatabaseTrouble as problem:
        log.warning("the table of keys could not be kept in step: %s", type(problem).__name__)
        return False
    finally:
        connection.close()
    return True


def passphrase_file() -> Path | None:
    """Where the passphrase of the keys is, if they have one."""
    name = settings.ENDL_PRIVATE_KEY_PASSPHRASE_FILE
    return Path(name) if name else None


def _paths() -> list[Path]:
    passphrase = passphrase_file()
    return [*settings.ENDL_PRIVATE_KEY_FILES, *([passphrase] if passphrase else [])]


def _files() -> list[KeyFile]:
    passphrase = passphrase_file()
    signed = _signature(passphrase) if passphrase else ()
    return [_read(path, _signature(path), passphrase, signed) for path in settings.ENDL_PRIVATE_KEY_FILES]


def _signature(path: Path) -> tuple[object, ...]:
    """Changes whenever content, owner or mode of a file, or the mode of its folder, does."""
    try:
        file, folder = path.stat(), path.parent.stat()
    except OSError as problem:
        return (problem.errno,)
    # The time of change cannot be set back by hand, as that of modification can.
    return (
        file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns, folder.st_mode,
        _changed_ns(path.with_suffix(".pub.pem")),
    )  # fmt: skip


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_ctime_ns
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _read(
    path: Path, _signed: tuple[object, ...], passphrase: Path | None, _passphrase_signed: tuple[object, ...]
) -> KeyFile:
    try:
        key = read_key_file(path, passphrase)
    except KeyRefused as problem:
        # No traceback: the sentence says it all, and whoever reads the log needs no frames around a key.
        log.error("%s cannot be used to open card details: %s", path, problem)  # noqa: TRY400
        return KeyFile(path, problem=str(problem))
    warning = warning_about(key, passphrase)
    if warning:
        log.warning("%s: %s", path, warning)
    return KeyFile(path, key, warning=warning)


def _is_same(one: KeyFile, other: KeyFile) -> bool:
    return one.key is not None and other.key is not None and one.key.fingerprint == other.key.fingerprint
