"""A private key and its file: the file must be its owner's alone, and every mistake has a sentence."""

import os
import stat
from pathlib import Path

from backoffice.endl.keys import KeyRefused, PrivateKey, fingerprint_of_public, load_private_key

# Keys made here have so many bits; smaller ones, down to `keys.MIN_BITS`, are used with a warning.
RECOMMENDED_BITS = 3072
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_key_file(path: Path, passphrase_file: Path | None = None) -> PrivateKey:
    """Load the private key in a file, once it is sure that nobody else can read or replace it.

    Raises KeyRefused with a sentence of its own for each thing that is wrong with file, folder, passphrase or
    key. No sentence quotes a byte of either file.
    """
    _check_owner_and_mode(path)
    key = load_private_key(_content(path), read_passphrase(passphrase_file))
    _check_public_half(path, key)
    return key


def read_passphrase(path: Path | None) -> bytes | None:
    """Read a passphrase without the line end that editors put behind it; None without a file.

    An empty passphrase is not the same as none. Raises KeyRefused.
    """
    if path is None:
        return None
    try:
        return path.read_bytes().rstrip(b"\r\n")
    except FileNotFoundError:
        raise KeyRefused(f"The passphrase file {path} is not there.") from None
    except OSError as problem:
        raise KeyRefused(f"The passphrase file {path} cannot be read: {problem.strerror}.") from None


def warning_about(key: PrivateKey, passphrase_file: Path | None = None) -> str:
    """What could be better about a key that can be used; blank when nothing."""
    if key.bits < RECOMMENDED_BITS:
        return f"It has {key.bits} bits; {RECOMMENDED_BITS} are recommended. Make a new pair and rotate."
    if passphrase_file is not None and _is_open_to_others(passphrase_file):
        return f"Others can read the passphrase file. Close it: chmod 600 {passphrase_file}"
    return ""


def public_half(path: Path) -> Path:
    """Where the public half of a private key's file lies, if anybody put it there."""
    return path.with_suffix(".pub.pem")


def _check_owner_and_mode(path: Path) -> None:
    try:
        found, folder = path.stat(), path.parent.stat()
    except FileNotFoundError:
        raise KeyRefused("There is no such file, so it cannot be read. Look at its path.") from None
    except OSError as problem:
        raise KeyRefused(f"The file cannot be looked at: {problem.strerror}.") from None
    if stat.S_ISDIR(found.st_mode):
        raise KeyRefused("This is a folder; the path of the key's file is needed.")
    if not stat.S_ISREG(found.st_mode):
        raise KeyRefused("This is no ordinary file.")
    if found.st_uid not in (os.geteuid(), 0):
        raise KeyRefused(
            "The file belongs to another user; it must belong to the one that reads it, or root."
        )
    if found.st_mode & _OTHERS:
        mode = stat.S_IMODE(found.st_mode)
        raise KeyRefused(f"Others can get at the file (mode {mode:04o}). Close it: chmod 600 {path}")
    if folder.st_mode & stat.S_IWOTH:
        raise KeyRefused(
            f"Everybody can write into its folder and replace the key. Close it: chmod o-w {path.parent}"
        )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except PermissionError:
        raise KeyRefused("This process may not read the file. Look at its owner and mode.") from None
    except OSError as problem:
        raise KeyRefused(f"The file cannot be read: {problem.strerror}.") from None


def _check_public_half(path: Path, key: PrivateKey) -> None:
    """Find a wrong pair before Endl is given the wrong half, not when the first card cannot be opened."""
    beside = public_half(path)
    if not beside.is_file():
        return
    try:
        fingerprint = fingerprint_of_public(_content(beside))
    except KeyRefused as problem:
        raise KeyRefused(f"Beside it lies {beside.name}, which is no public half of it: {problem}") from None
    if fingerprint != key.fingerprint:
        raise KeyRefused(f"Beside it lies {beside.name}, which is the public half of another key.")


def _is_open_to_others(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False
