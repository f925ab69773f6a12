"""Card details, encrypted to the partner's RSA key in each of the forms that Endl may use."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backoffice.emulator.switches import Switches
from backoffice.emulator.wire import Doc, encoded

_HASHES: dict[str, type[hashes.HashAlgorithm]] = {"sha256": hashes.SHA256, "sha1": hashes.SHA1}


def read_public_key(pem: str) -> rsa.RSAPublicKey:
    """The RSA public key in a PEM text; ValueError when there is none of at least 2048 bits."""
    key = serialization.load_pem_public_key(pem.encode())
    if not isinstance(key, rsa.RSAPublicKey) or key.key_size < 2048:
        raise ValueError("an RSA public key of at least 2048 bits is needed")
    return key


def key_id(key: rsa.RSAPublicKey) -> str:
    """A short name for a public key: the start of its DER's SHA-256."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()[:16]


def seal(details: Doc, key: rsa.RSAPublicKey, switches: Switches) -> Any:
    """`encryptedDetails` for a card, in the form that the switches ask for."""
    plaintext = encoded(named(details, switches.plaintext_names))
    match switches.envelope_form:
        case "jwe":
            return _jwe(plaintext, key, switches)
        case "direct":
            return _direct(plaintext, key, switches)
        case "direct-object":
            return {"keyId": key_id(key), "ciphertext": _direct(plaintext, key, switches)}
        case "direct-data":
            return {"data": _direct(plaintext, key, switches)}
        case _:
            return _hybrid(plaintext, key, switches)


def named(details: Doc, names: str) -> Doc:
    """The details under the field names that a switch chooses."""
    number, cvv = details["number"], details["cvv"]
    month, year = details["expiryMonth"], details["expiryYear"]
    match names:
        case "pan":
            return {"pan": number, "expMonth": month, "expYear": year, "cvc": cvv}
        case "card":
            return {"cardNumber": number, "expiry": f"{month:02d}/{year}", "securityCode": cvv}
        case "expiry":
            return {"number": number, "expiry": f"{month:02d}/{year % 100:02d}", "cvv": cvv}
        case _:
            return dict(details)


def _oaep(switches: Switches) -> padding.OAEP:
    return padding.OAEP(padding.MGF1(_HASHES[switches.mgf_hash]()), _HASHES[switches.oaep_hash](), None)


def _text(value: bytes, switches: Switches) -> str:
    return _url_text(value) if switches.envelope_base64 == "url" else base64.b64encode(value).decode()


def _url_text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _direct(plaintext: bytes, key: rsa.RSAPublicKey, switches: Switches) -> str:
    return _text(key.encrypt(plaintext, _oaep(switches)), switches)


def _hybrid(plaintext: bytes, key: rsa.RSAPublicKey, switches: Switches) -> Doc:
    content_key, iv = secrets.token_bytes(32), secrets.token_bytes(12)
    sealed = AESGCM(content_key).encrypt(iv, plaintext, None)
    envelope = {
        "keyId": key_id(key),
        "encryptedKey": _text(key.encrypt(content_key, _oaep(switches)), switches),
        "iv": _text(iv, switches),
    }
    if switches.envelope_tag == "appended":
        return {**envelope, "ciphertext": _text(sealed, switches)}
    return {**envelope, "ciphertext": _text(sealed[:-16], switches), "tag": _text(sealed[-16:], switches)}


def _jwe(plaintext: bytes, key: rsa.RSAPublicKey, switches: Switches) -> str:
    algorithm = "RSA-OAEP-256" if switches.oaep_hash == "sha256" else "RSA-OAEP"
    header = {"alg": algorithm, "enc": "A256GCM", "kid": key_id(key)}
    protected = _url_text(json.dumps(header, separators=(",", ":")).encode())
    content_key, iv = secrets.token_bytes(32), secrets.token_bytes(12)
    # The names of JWE fix both hashes, so the MGF switch has no say here.
    hash_type = _HASHES[switches.oaep_hash]
    wrapped = key.encrypt(content_key, padding.OAEP(padding.MGF1(hash_type()), hash_type(), None))
    sealed = AESGCM(content_key).encrypt(iv, plaintext, protected.encode())
    parts = (wrapped, iv, sealed[:-16], sealed[-16:])
    return ".".join((protected, *(_url_text(part) for part in parts)))
