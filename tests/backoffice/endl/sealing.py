"""Sealing card details for tests: written apart from what opens them."""

import base64
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

PLAIN: dict[str, Any] = {
    "number": "4111111111111111",
    "expiryMonth": "03",
    "expiryYear": "2031",
    "cvv": "007",
}
HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    "sha1": hashes.SHA1,
    "sha256": hashes.SHA256,
    "sha512": hashes.SHA512,
}


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def wrapped(
    key: rsa.RSAPrivateKey, data: bytes, digest: str = "sha256", mask: str = "", label: bytes | None = None
) -> bytes:
    mgf = padding.MGF1(HASHES[mask or digest]())
    return key.public_key().encrypt(data, padding.OAEP(mgf, HASHES[digest](), label))


def as_bytes(plain: Any) -> bytes:
    return plain if isinstance(plain, bytes) else json.dumps(plain).encode()


def hybrid(
    key: rsa.RSAPrivateKey, plain: Any = PLAIN, *, key_bytes: int = 32, iv_bytes: int = 12
) -> dict[str, str]:
    content_key, iv = os.urandom(key_bytes), os.urandom(iv_bytes)
    sealed = AESGCM(content_key).encrypt(iv, as_bytes(plain), None)
    return {
        "encryptedKey": b64(wrapped(key, content_key)),
        "iv": b64(iv),
        "ciphertext": b64(sealed[:-16]),
        "tag": b64(sealed[-16:]),
    }


def jwe(key: rsa.RSAPrivateKey, plain: Any = PLAIN, *, digest: str = "sha256", **header: Any) -> str:
    shown = {"alg": "RSA-OAEP-256", "enc": "A256GCM"} | header
    protected = b64url(json.dumps(shown).encode())
    content_key, iv = os.urandom(32), os.urandom(12)
    sealed = AESGCM(content_key).encrypt(iv, as_bytes(plain), protected.encode())
    parts = [wrapped(key, content_key, digest), iv, sealed[:-16], sealed[-16:]]
    return ".".join([protected, *map(b64url, parts)])


def direct(key: rsa.RSAPrivateKey, plain: Any = PLAIN, **padding_options: Any) -> str:
    return b64(wrapped(key, as_bytes(plain), **padding_options))
