"""Private keys in every form people hand them over."""

import base64
import pickle
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from backoffice.endl import KeyRefused, PrivateKey, fingerprint_of_public, load_private_key

PASSPHRASE = b"correct-horse-9"


def exported(
    key: rsa.RSAPrivateKey,
    form: PrivateFormat = PrivateFormat.PKCS8,
    encoding: Encoding = Encoding.PEM,
    encryption: KeySerializationEncryption | None = None,
) -> bytes:
    return key.private_bytes(encoding, form, encryption or NoEncryption())


def public(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def body_of(pem: bytes) -> bytes:
    return b"".join(pem.splitlines()[1:-1])


MANGLES: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda pem: pem,
    "CRLF": lambda pem: pem.replace(b"\n", b"\r\n"),
    "CR": lambda pem: pem.replace(b"\n", b"\r"),
    "BOM": lambda pem: b"\xef\xbb\xbf" + pem,
    "UTF-16": lambda pem: pem.decode().encode("utf-16"),
    "UTF-16 big endian": lambda pem: b"\xfe\xff" + pem.decode().encode("utf-16-be"),
    "indented": lambda pem: b"".join(b"    " + line + b"\n" for line in pem.splitlines()),
    "escaped": lambda pem: pem.replace(b"\n", b"\\n"),
    "escaped CRLF": lambda pem: pem.replace(b"\n", b"\\r\\n"),
    "escaped and quoted": lambda pem: b'"' + pem.replace(b"\n", b"\\n") + b'"',
    "single quotes": lambda pem: b"'" + pem.strip() + b"'\n",
    "one line": lambda pem: pem.replace(b"\n", b" "),
    "no line ends": lambda pem: pem.replace(b"\n", b""),
    "unwrapped": lambda pem: (
        b"-----BEGIN PRIVATE KEY-----\n" + body_of(pem) + b"\n-----END PRIVATE KEY-----\n"
    ),
    "text around": lambda pem: b"Bag Attributes: <none>\n\n" + pem + b"\n\nkept by: ops\n",
    "body only": body_of,
    "wrong RSA header": lambda pem: pem.replace(b" PRIVATE", b" RSA PRIVATE"),
}


@pytest.mark.parametrize("mangle", MANGLES.values(), ids=MANGLES)
def test_a_good_key_loads_however_it_was_kept(
    mangle: Callable[[bytes], bytes], rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    assert load_private_key(mangle(exported(rsa_key))).fingerprint == our_key.fingerprint


def test_pkcs1_der_and_a_file_with_its_public_key_load_too(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    old = exported(rsa_key, PrivateFormat.TraditionalOpenSSL)
    binary = exported(rsa_key, encoding=Encoding.DER)
    for data in (old, binary, base64.b64encode(binary), public(rsa_key) + exported(rsa_key)):
        assert load_private_key(data).fingerprint == our_key.fingerprint


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_an_encrypted_key_opens_with_its_passphrase_alone(
    form: PrivateFormat, rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    pem = exported(rsa_key, form, encryption=BestAvailableEncryption(PASSPHRASE))
    assert load_private_key(pem, PASSPHRASE).fingerprint == our_key.fingerprint
    assert load_private_key(pem.replace(b"\n", b"\r\n"), PASSPHRASE).fingerprint == our_key.fingerprint
    for wrong in (b"wrong", b"", PASSPHRASE + b"\n"):
        with pytest.raises(KeyRefused, match="passphrase does not open"):
            load_private_key(pem, wrong)
    with pytest.raises(KeyRefused, match="encrypted and no passphrase"):
        load_private_key(pem)


def test_a_passphrase_does_a_plain_key_no_harm(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    assert load_private_key(exported(rsa_key), PASSPHRASE).fingerprint == our_key.fingerprint


def plain(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, form: PrivateFormat) -> bytes:
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


@pytest.fixture(scope="module")
def wrong_keys(rsa_key: rsa.RSAPrivateKey) -> dict[str, bytes]:
    pem = exported(rsa_key)
    curve = ec.generate_private_key(ec.SECP256R1())
    return {
        "empty": b"",
        "blank": b" \n\n",
        "public": public(rsa_key),
        "ec": plain(curve, PrivateFormat.PKCS8),
        "old ec": plain(curve, PrivateFormat.TraditionalOpenSSL),
        "ed25519": plain(ed25519.Ed25519PrivateKey.generate(), PrivateFormat.PKCS8),
        "small": exported(rsa.generate_private_key(65537, 1024)),
        "openssh": exported(rsa_key, PrivateFormat.OpenSSH),
        "certificate": pem.replace(b"PRIVATE KEY", b"CERTIFICATE"),
        "no end": pem[: len(pem) // 2],
        "cut inside": b"\n".join([*pem.splitlines()[:8], pem.splitlines()[-1]]),
        "odd base64": pem.replace(body_of(pem)[100:103], b"!"),
        "prose": b"please find the key attached.",
        "bytes": b"\x80\x81\x82",
        "cut DER": exported(rsa_key, encoding=Encoding.DER)[:500],
    }


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("empty", "is empty"),
        ("blank", "is empty"),
        ("public", "public half"),
        ("ec", "elliptic curve"),
        ("old ec", "elliptic curve"),
        ("ed25519", "Ed25519"),
        ("small", "1024 bits"),
        ("openssh", "ssh-keygen"),
        ("certificate", "certificate"),
        ("no end", "END line"),
        ("cut inside", "cut off or damaged"),
        ("odd base64", "not whole base64"),
        ("prose", "no key in this file"),
        ("bytes", "not text"),
        ("cut DER", "cut off or damaged"),
    ],
)
def test_a_wrong_key_is_refused_by_name(name: str, sentence: str, wrong_keys: dict[str, bytes]) -> None:
    with pytest.raises(KeyRefused, match=sentence) as caught:
        load_private_key(wrong_keys[name], PASSPHRASE)
    body = body_of(wrong_keys[name])[:40].decode("latin-1")
    assert not body or body not in str(caught.value)
    assert "correct-horse" not in str(caught.value)


def test_a_key_shows_nothing_and_is_not_stored(our_key: PrivateKey) -> None:
    assert f"{our_key!r}{our_key}" == "PrivateKey()" * 2
    with pytest.raises(TypeError):
        pickle.dumps(our_key)


def test_the_fingerprint_is_that_of_the_public_half(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey, other_key: PrivateKey
) -> None:
    assert our_key.bits == 2048
    assert len(our_key.fingerprint) == 64
    assert our_key.fingerprint != other_key.fingerprint
    for pem in (public(rsa_key), public(rsa_key).replace(b"\n", b"\r\n"), our_key.public_pem.encode()):
        assert fingerprint_of_public(pem) == our_key.fingerprint


def test_only_a_public_rsa_key_has_such_a_fingerprint(rsa_key: rsa.RSAPrivateKey) -> None:
    curve = public(ec.generate_private_key(ec.SECP256R1()))
    wrong = {
        b"": "empty",
        exported(rsa_key): "private key",
        curve: "not an RSA",
        public(rsa_key)[:200]: "cut off",
    }
    for pem, sentence in wrong.items():
        with pytest.raises(KeyRefused, match=sentence):
            fingerprint_of_public(pem)
