"""`manage.py keys`: the RSA keys that open card details; shows them, or makes a new pair."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from backoffice.endl import KeyRefused, PrivateKey, load_private_key

_BITS = 3072


class Command(BaseCommand):
    help = "Show the keys of ENDL_PRIVATE_KEY_FILES, the current one first; or make a new pair."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--public", action="store_true", help="print the current public key, to register with Endl"
        )
        parser.add_argument(
            "--new", type=Path, metavar="PATH", help="make a pair: PATH and PATH with .pub.pem"
        )

    def handle(self, *_args: Any, public: bool = False, new: Path | None = None, **_options: Any) -> None:
        """Do what is asked. Raises CommandError when a key cannot be read or a file is in the way."""
        if new is not None:
            self._make(new)
        elif public:
            self._show_public()
        else:
            self._show()

    def _show(self) -> None:
        paths = settings.ENDL_PRIVATE_KEY_FILES
        if not paths:
            raise CommandError("ENDL_PRIVATE_KEY_FILES is empty: card details cannot be opened here.")
        refused = 0
        for position, path in enumerate(paths):
            try:
                key = _read(path)
            except CommandError as problem:
                refused += 1
                self.stdout.write(str(problem))
                continue
            name = "current" if position == 0 else "older"
            self.stdout.write(f"{name}: {path}, {key.bits} bits, fingerprint {key.fingerprint}")
        if refused:
            raise CommandError(f"{refused} of {len(paths)} keys cannot be used.")
        self.stdout.write(f"{len(paths)} keys can be used.")

    def _show_public(self) -> None:
        paths = settings.ENDL_PRIVATE_KEY_FILES
        if not paths:
            raise CommandError("ENDL_PRIVATE_KEY_FILES is empty: there is no public key to show.")
        key = _read(paths[0])
        self.stdout.write(key.public_pem.strip())
        self.stdout.write(f"Register this key with Endl; its fingerprint is {key.fingerprint}.")

    def _make(self, path: Path) -> None:
        beside = path.with_suffix(".pub.pem")
        for file in (path, beside):
            if file.exists():
                raise CommandError(f"{file} exists: a key is never overwritten. Choose another name.")
        private = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption())
        made = PrivateKey(private)
        try:
            _write(path, pem, 0o600)
            _write(beside, made.public_pem.encode(), 0o644)
        except OSError as problem:
            raise CommandError(f"{problem.filename} cannot be written: {problem.strerror}.") from None
        self.stdout.write(f"Private key: {path} (keep it secret, and a copy in a safe place)")
        self.stdout.write(f"Public key: {beside} (register it with Endl)")
        self.stdout.write(f"Made a pair of {_BITS} bits, fingerprint {made.fingerprint}.")


def _read(path: Path) -> PrivateKey:
    try:
        return load_private_key(path.read_bytes(), _passphrase())
    except KeyRefused as problem:
        raise CommandError(f"{path}: {problem}") from None
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}.") from None


def _encryption() -> KeySerializationEncryption:
    passphrase = _passphrase()
    return BestAvailableEncryption(passphrase) if passphrase else NoEncryption()


def _passphrase() -> bytes | None:
    name = settings.ENDL_PRIVATE_KEY_PASSPHRASE_FILE
    return Path(name).read_bytes().strip() if name else None


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file that was not there, private from its first byte."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
