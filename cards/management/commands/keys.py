"""`manage.py keys`: the RSA keys that open card details; shows them, makes a pair, rotates."""

import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
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
from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseTrouble
from django.utils import timezone

from backoffice.access.terminal import at_the_terminal
from backoffice.audit.trail import Refusal, record
from backoffice.endl import RECOMMENDED_BITS, KeyRefused, PrivateKey, public_half, read_passphrase
from cards import keyring, keys
from cards.keyring import KeyFile
from cards.models import EncryptionKey

_DEEDS: dict[str, tuple[Callable[..., EncryptionKey], str]] = {
    "activate": (keys.activate, "Endl seals to it from now on: register its public half with Endl."),
    "retire": (keys.retire, "It opens envelopes and seals none."),
    "destroy": (keys.destroy, "Nothing needs it any more."),
}


class Command(BaseCommand):
    help = "Show the keys of ENDL_PRIVATE_KEY_FILES, the current one first; make a pair; rotate."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        ways = parser.add_mutually_exclusive_group()
        ways.add_argument(
            "--public", action="store_true", help="print the public key that Endl should have registered"
        )
        ways.add_argument("--new", type=Path, metavar="PATH", help="make a pair: PATH and PATH with .pub.pem")
        ways.add_argument("--activate", metavar="FINGERPRINT", help="Endl seals to this key from now on")
        ways.add_argument("--retire", metavar="FINGERPRINT", help="use this key for opening only")
        ways.add_argument(
            "--destroy", metavar="FINGERPRINT", help="mark it destroyed; refused while envelopes need it"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do what is asked. Raises CommandError when there is a problem."""
        if options["new"] is not None:
            self._make(options["new"])
        elif options["public"]:
            self._show_public()
        else:
            deed = next((name for name in _DEEDS if options[name]), None)
            self._lead(deed, options[deed]) if deed else self._show()

    # --- Showing --------------------------------------------------------------------------------------

    def _show(self) -> None:
        files = _files()
        if not files:
            raise CommandError(keyring.NO_FILES)
        for place, file in enumerate(files):
            self.stdout.write(_told("current" if place == 0 else "older", file))
            if file.warning:
                self.stdout.write(f"warning: {file.path}: {file.warning}")
        for line in _without_a_file(files):
            self.stdout.write(line)
        refused = sum(file.key is None for file in files)
        if refused:
            raise CommandError(f"{refused} of {len(files)} keys cannot be used.")
        self.stdout.write(f"{len(files)} keys can be used.")

    def _show_public(self) -> None:
        row = EncryptionKey.objects.filter(state=EncryptionKey.State.ACTIVE).first()
        pem, fingerprint = (row.public_pem, row.fingerprint) if row else self._first_public()
        self.stdout.write(pem.strip())
        self.stdout.write(f"Register this key with Endl; its fingerprint is {fingerprint}.")

    def _first_public(self) -> tuple[str, str]:
        """Where no key was ever in use: the first one that would be."""
        try:
            first = keyring.private_keys()[0]
        except KeyRefused as problem:
            raise CommandError(f"There is no public key to show. {problem}") from None
        return first.public_pem, first.fingerprint

    # --- Making ---------------------------------------------------------------------------------------

    def _make(self, path: Path) -> None:
        beside = public_half(path)
        for file in (path, beside):
            if file.exists():
                raise CommandError(f"{file} exists: a key is never overwritten. Choose another name.")
        encryption = _encryption()
        private = rsa.generate_private_key(public_exponent=65537, key_size=RECOMMENDED_BITS)
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
        made = PrivateKey(private)
        try:
            _write(path, pem, 0o600)
            _write(beside, made.public_pem.encode(), 0o644)
        except OSError as problem:
            raise CommandError(f"{problem.filename} cannot be written: {problem.strerror}.") from None
        self._note(made, path)
        self.stdout.write(f"Private key: {path} (keep it secret, and a copy in a safe place)")
        self.stdout.write(f"Public key: {beside} (register it with Endl)")
        self.stdout.write(f"Made a pair of {made.bits} bits, fingerprint {made.fingerprint}.")

    def _note(self, made: PrivateKey, path: Path) -> None:
        told = {"fingerprint": made.fingerprint, "bits": made.bits, "file": str(path)}
        try:
            record("key.make", by=at_the_terminal(), new=told)
        except DatabaseTrouble:
            self.stdout.write("Not in the trail: the database cannot be reached, or has no tables yet.")

    # --- Leading --------------------------------------------------------------------------------------

    def _lead(self, name: str, fingerprint: str) -> None:
        deed, meaning = _DEEDS[name]
        # What the files hold now, where this process may read them; the table serves where it may not.
        _files()
        try:
            key = deed(key=keys.by_fingerprint(fingerprint), by=at_the_terminal(), now=timezone.now())
        except Refusal as refusal:
            raise CommandError(refusal.sentence) from None
        if name == "destroy":
            self.stdout.write(f"Now destroy its file, and every copy: shred -u {key.file}")
            self.stdout.write("Then take it out of ENDL_PRIVATE_KEY_FILES.")
        waiting = keys.needing(key).count()
        self.stdout.write(
            f"{key.fingerprint}: {key.get_state_display().lower()}, {waiting} envelopes. {meaning}"
        )


def _files() -> list[KeyFile]:
    try:
        return keyring.keep_in_step()
    except DatabaseTrouble:
        raise CommandError("The database cannot be reached, or has no tables yet: migrate first.") from None


def _told(place: str, file: KeyFile) -> str:
    if file.key is None:
        return f"{file.path}: {file.problem}"
    row = EncryptionKey.objects.get(fingerprint=file.key.fingerprint)
    return (
        f"{place}: {file.path}, {file.key.bits} bits, fingerprint {file.key.fingerprint}, "
        f"{row.get_state_display().lower()}, {keys.needing(row).count()} envelopes"
    )


def _without_a_file(files: list[KeyFile]) -> Iterator[str]:
    """The keys that were here once and that no file holds now."""
    here = [file.key.fingerprint for file in files if file.key is not None]
    for row in EncryptionKey.objects.exclude(fingerprint__in=here):
        count = keys.needing(row).count()
        need = f"; {count} envelopes need it" if count else ""
        yield f"no file: fingerprint {row.fingerprint}, {row.get_state_display().lower()}{need}"


def _encryption() -> KeySerializationEncryption:
    try:
        passphrase = read_passphrase(keyring.passphrase_file())
    except KeyRefused as problem:
        raise CommandError(str(problem)) from None
    if passphrase == b"":
        raise CommandError("The passphrase file is empty: write a passphrase, or unset its name.")
    return BestAvailableEncryption(passphrase) if passphrase else NoEncryption()


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file that was not there, private from its first byte."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
