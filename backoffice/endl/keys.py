"""Private keys, in every form that people hand over; the rest is refused, each with its own sentence."""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Never

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
    load_pem_private_key,
)

MIN_BITS = 2048


class KeyRefused(ValueError):
    """The file is no private key that can be used; the text says what it is instead and never quotes it."""


class PrivateKey:
    """An RSA private key that shows nothing. ``fingerprint`` is the SHA-256 of its public half, in hex."""

    __slots__ = ("_key", "fingerprint", "public_pem")

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self._key = key
        self.fingerprint = _fingerprint(key.public_key())
        self.public_pem = (
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        )

    @property
    def bits(self) -> int:
        return self._key.key_size

    def unwrap(self, sealed: bytes, oaep: padding.OAEP) -> bytes:
        """Undo RSA-OAEP. Raises ValueError when the bytes were not sealed for this key in this way."""
        return self._key.decrypt(sealed, oaep)

    def __repr__(self) -> str:
        return "PrivateKey()"

    def __reduce_ex__(self, protocol: object) -> Never:
        raise TypeError("A private key is not stored or sent anywhere.")


def load_private_key(pem: bytes, passphrase: bytes | None = None) -> PrivateKey:
    """Load an RSA private key of at least 2048 bits: PKCS#8 or PKCS#1, PEM, base64 or DER.

    Line ends, byte order marks, indentation, ``\\n`` written out, quotes, a single line and text around the
    key do no harm, nor does a PKCS#8 body under an RSA header. The passphrase is ignored for a key that has
    none. Raises KeyRefused with a sentence of its own for each way of handing over something else.
    """
    block = _block(pem, preferred="PRIVATE KEY")
    _refuse_other_kinds(block.label)
    key = _load(block, passphrase)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        raise KeyRefused("This is an elliptic curve (EC) key; Endl's details need an RSA key.")
    if not isinstance(key, rsa.RSAPrivateKey):
        raise KeyRefused(
            f"This is not an RSA key but another kind ({type(key).__name__.removesuffix('PrivateKey')})."
        )
    if key.key_size < MIN_BITS:
        raise KeyRefused(f"This RSA key has {key.key_size} bits; at least {MIN_BITS} are needed.")
    return PrivateKey(key)


def fingerprint_of_public(pem: bytes) -> str:
    """Return the SHA-256 of a public RSA key (SubjectPublicKeyInfo in DER), in hex. Raises KeyRefused."""
    block = _block(pem, preferred="PUBLIC KEY")
    if "PRIVATE" in block.label:
        raise KeyRefused("This is a private key; its public half is wanted here.")
    try:
        key = load_der_public_key(block.der)
    except (ValueError, UnsupportedAlgorithm):
        raise KeyRefused("This public key is cut off or damaged.") from None
    if not isinstance(key, rsa.RSAPublicKey):
        raise KeyRefused("This public key is not an RSA key.")
    return _fingerprint(key)


def _fingerprint(key: rsa.RSAPublicKey) -> str:
    digest = hashes.Hash(hashes.SHA256())
    digest.update(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    return digest.finalize().hex()


@dataclass(frozen=True, repr=False)
class _Block:
    """The key found in a file: its label, its DER bytes, and the header lines of old encrypted PEM."""

    label: str
    der: bytes
    headers: tuple[str, ...] = ()

    @property
    def is_old_encrypted(self) -> bool:
        return any(line.startswith("Proc-Type:") and "ENCRYPTED" in line for line in self.headers)

    def as_pem(self) -> bytes:
        lines = base64.encodebytes(self.der).decode()
        head = "\n".join(self.headers)
        return f"-----BEGIN {self.label}-----\n{head}\n\n{lines}-----END {self.label}-----\n".encode()


_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_BASE64_ONLY = re.compile(r"[A-Za-z0-9+/=\s]+")
_HEADER_LINE = re.compile(r"(?:Proc-Type|DEK-Info):[^\n]*")


def _block(data: bytes, *, preferred: str) -> _Block:
    if not data.strip():
        raise KeyRefused("The key file is empty.")
    if data[:1] == b"\x30":
        return _Block("", data)
    text = _text(data)
    found = [(match[1], match[2]) for match in _PEM.finditer(text)]
    if found:
        label, body = next((pair for pair in found if pair[0].endswith(preferred)), found[0])
        return _parsed(label, body)
    if "-----BEGIN" in text:
        raise KeyRefused("This key is cut off: its END line is missing or does not match its BEGIN line.")
    if _BASE64_ONLY.fullmatch(text):
        return _parsed("", text)
    raise KeyRefused("There is no key in this file.")


def _text(data: bytes) -> str:
    """Decode, and undo what editors, shells and environment files do to line ends."""
    is_utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise KeyRefused("There is no key in this file: it is not text.") from None
    written_out = text.replace("\\r", "").replace("\\n", "\n")
    return written_out.replace("\r\n", "\n").replace("\r", "\n").strip().strip("\"'")


def _parsed(label: str, body: str) -> _Block:
    headers = tuple(_HEADER_LINE.findall(body))
    packed = "".join(_HEADER_LINE.sub("", body).split())
    try:
        return _Block(label, base64.b64decode(packed, validate=True), headers)
    except binascii.Error:
        raise KeyRefused("This key is cut off or damaged: its text is not whole base64.") from None


_OTHER_KINDS = {
    "OPENSSH PRIVATE KEY": "This key is in OpenSSH's own form; convert it: ssh-keygen -p -m PKCS8 -f FILE",
    "EC PRIVATE KEY": "This is an elliptic curve (EC) key; Endl's details need an RSA key.",
    "DSA PRIVATE KEY": "This is a DSA key; Endl's details need an RSA key.",
}


def _refuse_other_kinds(label: str) -> None:
    if label.endswith("PUBLIC KEY"):
        raise KeyRefused("This is the public half of a key; the private half is needed.")
    if "CERTIFICATE" in label:
        raise KeyRefused("This is a certificate; the private key is needed.")
    if label in _OTHER_KINDS:
        raise KeyRefused(_OTHER_KINDS[label])


def _load(block: _Block, passphrase: bytes | None) -> object:
    if block.is_old_encrypted:
        return _opened(load_pem_private_key, block.as_pem(), passphrase)
    try:
        return load_der_private_key(block.der, None)
    except TypeError:
        # The library's way of saying that the key is encrypted.
        return _opened(load_der_private_key, block.der, passphrase)
    except (ValueError, UnsupportedAlgorithm):
        raise KeyRefused("This key is cut off or damaged, or of a kind that cannot be read.") from None


def _opened(load: Callable[[bytes, bytes | None], object], data: bytes, passphrase: bytes | None) -> object:
    if passphrase is None:
        raise KeyRefused("This key is encrypted and no passphrase was given.")
    try:
        return load(data, passphrase)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyRefused("The passphrase does not open this key.") from None
