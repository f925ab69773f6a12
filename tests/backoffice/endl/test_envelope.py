"""Opening card details: in three forms, and not at all in any other."""

import base64
import json
import pickle
import textwrap
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from hypothesis import given
from hypothesis import strategies as st

from backoffice.endl import CardDetails, EnvelopeError, PrivateKey, open_envelope
from tests.backoffice.endl.sealing import PLAIN, b64, b64url, direct, hybrid, jwe, wrapped

SENTENCE = "The card details could not be opened."


def parts(details: CardDetails) -> tuple[str, str, int, int]:
    return details.pan, details.cvv, details.exp_month, details.exp_year


RIGHT = ("4111111111111111", "007", 3, 2031)


def refused(envelope: Any, *keys: PrivateKey, **options: Any) -> str:
    with pytest.raises(EnvelopeError) as caught:
        open_envelope(envelope, keys, **options)
    assert str(caught.value) == SENTENCE
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value.kind


def test_all_three_forms_are_told_apart(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    sealed = direct(rsa_key)
    forms: list[Any] = [hybrid(rsa_key), jwe(rsa_key), sealed, {"ciphertext": sealed}, {"data": sealed}]
    for envelope in forms:
        assert parts(open_envelope(envelope, [our_key])) == RIGHT


def test_a_pinned_form_takes_no_other(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    forms: dict[str, Any] = {"hybrid": hybrid(rsa_key), "jwe": jwe(rsa_key), "direct": direct(rsa_key)}
    for pinned in forms:
        for form, envelope in forms.items():
            if form == pinned:
                assert parts(open_envelope(envelope, [our_key], form=pinned)) == RIGHT  # type: ignore[arg-type]
            else:
                refused(envelope, our_key, form=pinned)


def test_the_tag_may_stand_at_the_end_of_the_ciphertext(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    sealed = hybrid(rsa_key)
    joined = b"".join(base64.b64decode(sealed.pop(name)) for name in ("ciphertext", "tag"))
    for name in ("ciphertext", "data"):
        assert parts(open_envelope(sealed | {name: b64(joined)}, [our_key])) == RIGHT
    assert parts(open_envelope(sealed | {"ciphertext": b64(joined), "tag": None}, [our_key])) == RIGHT


def test_base64_may_be_url_safe_unpadded_or_wrapped(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    raw = wrapped(rsa_key, json.dumps(PLAIN).encode())
    for text in (
        b64(raw),
        b64url(raw),
        b64(raw).rstrip("="),
        "\r\n".join(textwrap.wrap(b64(raw), 64)) + "\r\n",
    ):
        assert parts(open_envelope(text, [our_key])) == RIGHT


@pytest.mark.parametrize(
    "text", ["", "@@not base64@@", "AAAA", "A", "=", "é", "QUJD" * 200, "a.b.c.d.e", "....", " "]
)
def test_junk_is_refused(text: str, our_key: PrivateKey) -> None:
    refused(text, our_key)
    refused({"ciphertext": text}, our_key)
    refused({"encryptedKey": text, "iv": text, "ciphertext": text, "tag": text}, our_key)


@pytest.mark.parametrize("name", ["encryptedKey", "iv", "ciphertext", "tag"])
@pytest.mark.parametrize("value", ["", 5, None, [], {}, "AAAA"])
def test_a_part_missing_or_of_another_type_is_refused(
    name: str, value: Any, rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    sealed: dict[str, Any] = hybrid(rsa_key)
    refused(sealed | {name: value}, our_key)


def test_a_changed_bit_anywhere_is_refused(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    sealed = hybrid(rsa_key)
    for name, text in sealed.items():
        swapped = ("B" if text[3] == "A" else "A") if text[3] != "B" else "C"
        refused(sealed | {name: text[:3] + swapped + text[4:]}, our_key)
    _, *rest = jwe(rsa_key, kid="a").split(".")
    refused(".".join([b64url(b'{"alg":"RSA-OAEP-256","enc":"A256GCM","kid":"b"}'), *rest]), our_key)


@pytest.mark.parametrize(("key_bytes", "iv_bytes"), [(16, 12), (24, 12), (32, 16), (32, 8)])
def test_other_lengths_of_key_and_iv_are_refused(
    key_bytes: int, iv_bytes: int, rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    assert refused(hybrid(rsa_key, key_bytes=key_bytes, iv_bytes=iv_bytes), our_key) == "length"


def test_a_short_tag_is_refused(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    sealed = hybrid(rsa_key)
    assert refused(sealed | {"tag": b64(b"\0" * 4)}, our_key) == "length"


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "none"},
        {"alg": "dir"},
        {"alg": "RSA1_5"},
        {"alg": "RSA-OAEP"},
        {"alg": None},
        {"alg": ["RSA-OAEP-256"]},
        {"enc": "A128GCM"},
        {"enc": "A256CBC-HS512"},
        {"enc": None},
        {"zip": "DEF"},
        {"crit": ["exp"]},
    ],
)
def test_a_jwe_of_other_algorithms_is_refused(
    header: dict[str, Any], rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    assert refused(jwe(rsa_key, **header), our_key) == "algorithm"


def test_a_jwe_with_sha1_opens_only_where_sha1_is_allowed(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    sealed = jwe(rsa_key, digest="sha1", alg="RSA-OAEP")
    assert parts(open_envelope(sealed, [our_key], oaep_hash="sha1")) == RIGHT
    assert refused(sealed, our_key) == "algorithm"


@pytest.mark.parametrize("header", [b"[]", b"null", b"\xff", b'{"alg":"RSA-OAEP-256","alg":"dir"}'])
def test_a_jwe_whose_header_cannot_be_read_is_refused(
    header: bytes, rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    _, *rest = jwe(rsa_key).split(".")
    assert refused(".".join([b64url(header), *rest]), our_key) == "header"


def test_hashes_are_settings_and_never_guessed(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    settings: list[tuple[str, str]] = [
        ("sha256", "sha256"),
        ("sha256", "sha1"),
        ("sha1", "sha1"),
        ("sha512", "sha512"),
    ]
    for sealed_with in settings:
        plain = b'{"number":"4111111111111111","expiry":"03/31","cvv":"007"}'
        envelope = direct(rsa_key, plain, digest=sealed_with[0], mask=sealed_with[1])
        for digest, mask in settings:
            if (digest, mask) == sealed_with:
                assert parts(open_envelope(envelope, [our_key], oaep_hash=digest, mgf_hash=mask)) == RIGHT
            else:
                assert refused(envelope, our_key, oaep_hash=digest, mgf_hash=mask) == "key"


@pytest.mark.parametrize("options", [{"oaep_hash": "md5"}, {"mgf_hash": "sha3"}, {"form": "pkcs7"}])
def test_a_setting_that_does_not_exist_is_a_value_error(options: Any, our_key: PrivateKey) -> None:
    with pytest.raises(ValueError, match=r"(are|is) "):
        open_envelope("QUJD", [our_key], **options)


def test_a_label_and_older_padding_are_refused(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    assert refused(direct(rsa_key, label=b"x"), our_key) == "key"
    older = rsa_key.public_key().encrypt(json.dumps(PLAIN).encode(), padding.PKCS1v15())
    assert refused(b64(older), our_key) == "key"


def test_a_dropped_leading_zero_is_put_back(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    raw = next(raw for _ in range(20_000) if (raw := wrapped(rsa_key, json.dumps(PLAIN).encode()))[0] == 0)
    assert parts(open_envelope(b64(raw), [our_key])) == RIGHT
    assert parts(open_envelope(b64(raw[1:]), [our_key])) == RIGHT


def test_other_lengths_of_ciphertext_are_refused(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    raw = wrapped(rsa_key, json.dumps(PLAIN).encode())
    for wrong in (raw[:-1], raw + b"\0", b"\0" + raw, raw[:-2]):
        refused(b64(wrong), our_key)


def test_every_key_is_tried_and_the_named_one_first(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey, other_key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    unwrap = PrivateKey.unwrap

    def noting(key: PrivateKey, sealed: bytes, oaep: padding.OAEP) -> bytes:
        tried.append(key.fingerprint)
        return unwrap(key, sealed, oaep)

    monkeypatch.setattr(PrivateKey, "unwrap", noting)
    sealed = hybrid(rsa_key)
    assert parts(open_envelope(sealed, [other_key, our_key])) == RIGHT
    assert tried == [other_key.fingerprint, our_key.fingerprint]
    tried.clear()
    assert parts(open_envelope(sealed | {"keyId": our_key.fingerprint}, [other_key, our_key])) == RIGHT
    assert tried == [our_key.fingerprint]
    assert parts(open_envelope(sealed | {"keyId": "unheard of"}, [other_key, our_key])) == RIGHT


def test_an_envelope_for_somebody_else_is_refused(
    other_rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    for envelope in (hybrid(other_rsa_key), jwe(other_rsa_key), direct(other_rsa_key)):
        assert refused(envelope, our_key) == "key"


def test_without_a_key_nothing_opens(rsa_key: rsa.RSAPrivateKey) -> None:
    assert refused(hybrid(rsa_key)) == "no key"


def test_a_large_envelope_is_refused_before_it_is_read(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    assert refused("A" * 16_385, our_key) == "size"
    assert refused(hybrid(rsa_key) | {"ciphertext": "A" * 16_385}, our_key) == "size"


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({"expiryMonth": 3, "expiryYear": 31}, RIGHT),
        ({"expiryMonth": "12", "expiryYear": "31"}, ("4111111111111111", "007", 12, 2031)),
        ({"number": "4111 1111 1111 1111"}, RIGHT),
        ({"number": 4111111111111111}, RIGHT),
        ({"number": "378282246310005", "cvv": "0012"}, ("378282246310005", "0012", 3, 2031)),
        ({"cvv": None}, ("4111111111111111", "", 3, 2031)),
        ({"name": "<script>", "x": [1]}, RIGHT),
    ],
)
def test_details_are_read(
    changes: dict[str, Any], right: tuple[str, str, int, int], rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    assert parts(open_envelope(hybrid(rsa_key, PLAIN | changes), [our_key])) == right


@pytest.mark.parametrize("pan", ["number", "pan", "cardNumber"])
@pytest.mark.parametrize("cvv", ["cvv", "cvc", "securityCode"])
@pytest.mark.parametrize(
    "expiry",
    [
        {"expiryMonth": "03", "expiryYear": "2031"},
        {"expMonth": 3, "expYear": 2031},
        {"expiry": "03/31"},
        {"expiry": "03/2031"},
    ],
)
def test_the_aliases_are_read(
    pan: str, cvv: str, expiry: dict[str, Any], rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    plain = {pan: "4111111111111111", cvv: "007"} | expiry
    assert parts(open_envelope(hybrid(rsa_key, plain), [our_key])) == RIGHT


@pytest.mark.parametrize(
    ("plain", "kind"),
    [
        (PLAIN | {"cvv": 7}, "cvv"),
        (PLAIN | {"cvv": 123}, "cvv"),
        (PLAIN | {"cvv": "12"}, "cvv"),
        (PLAIN | {"cvv": "12345"}, "cvv"),
        (PLAIN | {"cvv": "\u0663\u0663\u0663"}, "cvv"),
        (PLAIN | {"cvv": "007\n"}, "cvv"),
        (PLAIN | {"number": "4111111111111112"}, "number"),
        (PLAIN | {"number": "0" * 11}, "number"),
        (PLAIN | {"number": "0" * 20}, "number"),
        (PLAIN | {"number": None}, "number"),
        (PLAIN | {"number": True}, "number"),
        (PLAIN | {"number": "4111111111111111\n"}, "number"),
        (PLAIN | {"expiryMonth": 13}, "expiry"),
        (PLAIN | {"expiryMonth": 0}, "expiry"),
        (PLAIN | {"expiryMonth": True}, "expiry"),
        (PLAIN | {"expiryYear": None}, "expiry"),
        (PLAIN | {"expiryYear": 1931}, "expiry"),
        (PLAIN | {"expiryYear": "031"}, "expiry"),
        ({"number": "4111111111111111", "cvv": "007", "expiry": "0331"}, "expiry"),
        (b"4111111111111111|007|03/31", "plaintext"),
        (b"[]", "plaintext"),
        (b"null", "plaintext"),
        (b" ", "plaintext"),
        ('{"number":"4111111111111111","name":"é"}'.encode("latin-1"), "plaintext"),
        (b'{"cvv":"007","cvv":"008"}', "plaintext"),
    ],
)
def test_details_that_are_not_right_in_every_part_are_refused(
    plain: Any, kind: str, rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    assert refused(hybrid(rsa_key, plain), our_key) == kind


def test_a_byte_order_mark_before_the_details_does_no_harm(
    rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey
) -> None:
    plain = b"\xef\xbb\xbf" + json.dumps(PLAIN).encode()
    assert parts(open_envelope(hybrid(rsa_key, plain), [our_key])) == RIGHT


def test_a_failure_holds_no_frame_with_the_plaintext(rsa_key: rsa.RSAPrivateKey, our_key: PrivateKey) -> None:
    with pytest.raises(EnvelopeError) as caught:
        open_envelope(hybrid(rsa_key, PLAIN | {"cvv": "12"}), [our_key])
    trace, values = caught.value.__traceback__, ""
    while trace:
        if (
            "backoffice/endl" in trace.tb_frame.f_code.co_filename
            and "tests" not in trace.tb_frame.f_code.co_filename
        ):
            values += repr(trace.tb_frame.f_locals)
        trace = trace.tb_next
    assert values
    assert "4111" not in values


def test_the_error_survives_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(EnvelopeError("tag"))).kind == "tag"


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
NAMES = ["encryptedKey", "iv", "ciphertext", "data", "tag", "keyId", "x"]


@given(envelope=json_values | st.dictionaries(st.sampled_from(NAMES), json_values))
def test_anything_that_is_no_envelope_is_refused(our_key: PrivateKey, envelope: Any) -> None:
    refused(envelope, our_key)
