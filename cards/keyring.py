"""The RSA keys that open envelopes. Only a process that shows details calls this, never a worker."""

from functools import cache
from pathlib import Path

from django.conf import settings

from backoffice.endl import PrivateKey, load_private_key


def private_keys() -> list[PrivateKey]:
    """The keys of ENDL_PRIVATE_KEY_FILES, the current one first. Raises KeyRefused, OSError.

    A file that changed is read again: no restart is needed to rotate a key.
    """
    return [_key(path, path.stat().st_mtime_ns) for path in settings.ENDL_PRIVATE_KEY_FILES]


@cache
def _key(path: Path, _changed_ns: int) -> PrivateKey:
    return load_private_key(path.read_bytes(), _passphrase())


def _passphrase() -> bytes | None:
    name = settings.ENDL_PRIVATE_KEY_PASSPHRASE_FILE
    return Path(name).read_bytes().strip() if name else None
