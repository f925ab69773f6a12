"""The public halves of our keys: what Endl must have registered to seal card details for us."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from backoffice.endl import KeyRefused, fingerprint_of_public, public_half, read_key_file


@dataclass(frozen=True)
class PublicKey:
    """One key to register with Endl.

    Attributes:
        name: the file that it comes from, without its folder.
        pem: the public key as text; blank when it cannot be read.
        fingerprint: SHA-256 of the key in DER, in hex.
        problem: why it cannot be read; blank when it can.
    """

    name: str
    pem: str = ""
    fingerprint: str = ""
    problem: str = ""


def public_keys() -> list[PublicKey]:
    """The public half of each configured key, the current one first. Never raises."""
    return [_public_half(path) for path in settings.ENDL_PRIVATE_KEY_FILES]


def _public_half(path: Path) -> PublicKey:
    passphrase = settings.ENDL_PRIVATE_KEY_PASSPHRASE_FILE
    beside = public_half(path)
    try:
        if beside.exists():
            pem = beside.read_bytes()
            return PublicKey(beside.name, pem.decode(), fingerprint_of_public(pem))
        key = read_key_file(path, Path(passphrase) if passphrase else None)
    except KeyRefused as problem:
        return PublicKey(path.name, problem=str(problem))
    except (OSError, UnicodeDecodeError):
        return PublicKey(path.name, problem="The file cannot be read. Look at its path and its permissions.")
    return PublicKey(path.name, key.public_pem, key.fingerprint)
