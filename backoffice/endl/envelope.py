"""Opening the sealed card details, in the three forms that ``open_envelope`` names (all assumed).

Whatever goes wrong, the error says one and the same thing: how a forged envelope fails would help whoever
forges.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backoffice.endl.answers import NotJSON, as_object, parse_json
from backoffice.endl.keys import PrivateKey
from backoffice.endl.plaintext import Unusable, read_details
from backoffice.endl.resources import CardDetails

Form = Literal["detect", "hybrid", "jwe", "direct"]
MAX_ENVELOPE_CHARACTERS = 16 * 1024
_LONGEST_KEY_NAME, _SHORTEST_FINGERPRINT = 200, 16
_IV_BYTES, _TAG_BYTES, _CONTENT_KEY_BYTES = 12, 16, 32
_HASHES: Mapping[str, type[hashes.HashAlgorithm]] = {
    "sha1": hashes.SHA1,
    "sha256": hashes.SHA256,
    "sha384": hashes.SHA384,
    "sha512": hashes.SHA512,
}


class EnvelopeError(Exception):
    """It could not be opened. The text is always the same; ``kind`` is for the log and holds no data."""

    def __init__(self, kind: str) -> None:
        super().__init__("The card details could not be opened.")
        self.kind = kind

    def __reduce__(self) -> tuple[type["EnvelopeError"], tuple[str]]:
        return type(self), (self.kind,)


def open_envelope(
    envelope: str | dict[str, Any],
    keys: Sequence[PrivateKey],
    *,
    form: Form = "detect",
    oaep_hash: str = "sha256",
    mgf_hash: str | None = None,
) -> CardDetails:
    """Open sealed card details with the first key that fits.

    The forms: ``hybrid``, an object of encryptedKey, iv, ciphertext (or data) and tag (or the tag at the end
    of the ciphertext): AES-256-GCM under a key wrapped with RSA-OAEP; ``jwe``, a compact JWE of RSA-OAEP-256
    (or RSA-OAEP, when ``oaep_hash`` is sha1) and A256GCM; ``direct``, text or an object of ciphertext (or
    data): RSA-OAEP over the details themselves. Hashes are sha1, sha256, sha384 or sha512; without
    ``mgf_hash`` the mask uses ``oaep_hash``. Hashes are never guessed.

    Raises EnvelopeError for whatever cannot be opened, and ValueError for a setting that does not exist.
    """
    oaep = _oaep(oaep_hash, mgf_hash or oaep_hash)
    openers = {"hybrid": _open_hybrid, "jwe": _open_jwe, "direct": _open_direct}
    if form not in ("detect", *openers):
        raise ValueError("The envelope's form is detect, hybrid, jwe or direct.")
    try:
        _refuse_large(envelope)
        chosen = _detected(envelope) if form == "detect" else form
        opened = openers[chosen](envelope, keys, oaep, oaep_hash)
        return read_details(opened.content, opened_by=opened.by)
    except Unusable as problem:
        kind = problem.kind
    except EnvelopeError as problem:
        kind = problem.kind
    # Raised anew, outside the except block: the frames of the first error hold the plaintext.
    raise EnvelopeError(kind)


def key_named_in(envelope: Any) -> str:
    """The name of the key that an envelope is sealed to (keyId, or kid of a JWE); blank when it names none.

    Endl may name it by the fingerprint of our key, by the beginning of it, or by a name of its own (assumed).
    """
    try:
        if isinstance(envelope, str) and _detected(envelope) == "jwe":
            _refuse_large(envelope)
            named = _jwe_header(envelope.partition(".")[0]).get("kid")
        else:
            named = envelope.get("keyId") if isinstance(envelope, dict) else None
    except EnvelopeError:
        return ""
    return named if isinstance(named, str) and len(named) <= _LONGEST_KEY_NAME else ""


def is_named(fingerprint: str, name: Any) -> bool:
    """Whether an envelope's name for a key means the key of this fingerprint: all of it, or its beginning."""
    if not isinstance(name, str) or len(name) < _SHORTEST_FINGERPRINT:
        return False
    return fingerprint.startswith(name.replace(":", "").lower())


@dataclass(frozen=True, repr=False)
class _Opened:
    """Decrypted bytes, and the fingerprint of the key that opened them."""

    content: bytes
    by: str


def _oaep(digest: str, mask: str) -> padding.OAEP:
    if digest not in _HASHES or mask not in _HASHES:
        raise ValueError("The OAEP and MGF hashes are sha1, sha256, sha384 or sha512.")
    return padding.OAEP(padding.MGF1(_HASHES[mask]()), _HASHES[digest](), None)


def _refuse_large(envelope: Any) -> None:
    parts = envelope.values() if isinstance(envelope, dict) else [envelope]
    if sum(len(part) for part in parts if isinstance(part, str)) > MAX_ENVELOPE_CHARACTERS:
        raise EnvelopeError("size")


def _detected(envelope: Any) -> Literal["hybrid", "jwe", "direct"]:
    if isinstance(envelope, dict):
        return "hybrid" if "encryptedKey" in envelope else "direct"
    return "jwe" if isinstance(envelope, str) and envelope.count(".") == 4 else "direct"


def _open_hybrid(envelope: Any, keys: Sequence[PrivateKey], oaep: padding.OAEP, _: str) -> _Opened:
    if not isinstance(envelope, dict):
        raise EnvelopeError("form")
    sealed = _decoded(_ciphertext_of(envelope))
    tag = _decoded(envelope["tag"]) if envelope.get("tag") is not None else sealed[-_TAG_BYTES:]
    text = sealed if envelope.get("tag") is not None else sealed[:-_TAG_BYTES]
    wrapped, iv = _decoded(envelope.get("encryptedKey")), _decoded(envelope.get("iv"))
    key = _unwrap(wrapped, keys, oaep, envelope.get("keyId"))
    return _Opened(_open_gcm(key.content, iv, text, tag, None), key.by)


def _open_direct(envelope: Any, keys: Sequence[PrivateKey], oaep: padding.OAEP, _: str) -> _Opened:
    named = envelope if isinstance(envelope, dict) else {"ciphertext": envelope}
    return _unwrap(_decoded(_ciphertext_of(named)), keys, oaep, named.get("keyId"))


def _open_jwe(envelope: Any, keys: Sequence[PrivateKey], _: padding.OAEP, oaep_hash: str) -> _Opened:
    parts = envelope.split(".") if isinstance(envelope, str) else []
    if len(parts) != 5:
        raise EnvelopeError("form")
    header = _jwe_header(parts[0])
    wrapped, iv, text, tag = (_decoded(part) for part in parts[1:])
    oaep = _jwe_oaep(header, oaep_hash)
    key = _unwrap(wrapped, keys, oaep, header.get("kid"))
    return _Opened(_open_gcm(key.content, iv, text, tag, parts[0].encode()), key.by)


def _jwe_header(part: str) -> dict[str, Any]:
    try:
        return as_object(parse_json(_decoded(part)))
    except NotJSON:
        raise EnvelopeError("header") from None


def _jwe_oaep(header: dict[str, Any], oaep_hash: str) -> padding.OAEP:
    """Choose the padding by the header, within what is allowed: the header is the sender's word, not ours."""
    if header.get("enc") != "A256GCM" or "zip" in header or "crit" in header:
        raise EnvelopeError("algorithm")
    if header.get("alg") == "RSA-OAEP-256":
        return _oaep("sha256", "sha256")
    if header.get("alg") == "RSA-OAEP" and oaep_hash == "sha1":
        return _oaep("sha1", "sha1")
    raise EnvelopeError("algorithm")


def _ciphertext_of(envelope: dict[str, Any]) -> Any:
    return envelope["ciphertext"] if "ciphertext" in envelope else envelope.get("data")


_BLANKS = re.compile(r"[ \t\r\n]+")
_URL_SAFE = str.maketrans("-_", "+/")


def _decoded(value: Any) -> bytes:
    """Decode base64 of either alphabet, wrapped or not, padded or not; anything else in it is refused."""
    if not isinstance(value, str) or not value:
        raise EnvelopeError("base64")
    plain = _BLANKS.sub("", value).translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise EnvelopeError("base64") from None


def _unwrap(sealed: bytes, keys: Sequence[PrivateKey], oaep: padding.OAEP, key_id: Any) -> _Opened:
    """Try the key that the envelope names first, then the others: after a rotation both are in use."""
    for key in sorted(keys, key=lambda key: not is_named(key.fingerprint, key_id)):
        # Some encryptors treat the result as a number and drop its leading zero byte, one time in 256.
        size = key.bits // 8
        if size - 1 <= len(sealed) <= size:
            try:
                return _Opened(key.unwrap(sealed.rjust(size, b"\0"), oaep), key.fingerprint)
            except ValueError:
                continue
    raise EnvelopeError("key" if keys else "no key")


def _open_gcm(key: bytes, iv: bytes, text: bytes, tag: bytes, header: bytes | None) -> bytes:
    # A short tag can be found by trying: its length is checked before the library would accept it.
    if (len(key), len(iv), len(tag)) != (_CONTENT_KEY_BYTES, _IV_BYTES, _TAG_BYTES):
        raise EnvelopeError("length")
    try:
        return AESGCM(key).decrypt(iv, text + tag, header)
    except InvalidTag:
        raise EnvelopeError("tag") from None
