"""Encryption of what we keep: AES-256-GCM under STORAGE_KEYS.

The first key seals, all of them open, so a key is rotated by putting a new one in front. What a sealed
text is about is bound to it: a ciphertext moved to another row does not open there.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

_VERSION = b"\x01"
_NONCE_BYTES = 12


class CannotUnseal(Exception):
    """The text was sealed with a key we do not have, for another row, or was damaged."""


def seal(plaintext: bytes, *, about: str) -> bytes:
    """Encrypt bytes for the thing that `about` names, such as "cards.order:17"."""
    nonce = os.urandom(_NONCE_BYTES)
    return _VERSION + nonce + AESGCM(settings.STORAGE_KEYS[0]).encrypt(nonce, plaintext, about.encode())


def unseal(sealed: bytes, *, about: str) -> bytes:
    """Decrypt what `seal` made for the same thing. Raises CannotUnseal."""
    sealed = bytes(sealed)
    nonce, ciphertext = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
    if sealed[:1] == _VERSION:
        for key in settings.STORAGE_KEYS:
            try:
                return AESGCM(key).decrypt(nonce, ciphertext, about.encode())
            except (InvalidTag, ValueError):
                continue
    raise CannotUnseal(f"Nothing we hold opens what was sealed for {about}.")
