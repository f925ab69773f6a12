"""Issuing cards, and the envelopes that their details come in."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.backoffice.emulator.client import Api, refusal

HASHES: dict[str, type[hashes.HashAlgorithm]] = {"sha256": hashes.SHA256, "sha1": hashes.SHA1}


def unwrap(text: str, private: rsa.RSAPrivateKey, oaep: str, mgf: str) -> bytes:
    return private.decrypt(bytes_of(text), padding.OAEP(padding.MGF1(HASHES[mgf]()), HASHES[oaep](), None))


def bytes_of(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))


def opened(sealed: Any, private: rsa.RSAPrivateKey, *, oaep: str = "sha256", mgf: str = "sha256") -> Any:
    """The details in an envelope of any form."""
    if isinstance(sealed, str) and sealed.count(".") == 4:
        protected, key, iv, text, tag = sealed.split(".")
        content_key = unwrap(key, private, oaep, mgf)
        plain = AESGCM(content_key).decrypt(bytes_of(iv), bytes_of(text) + bytes_of(tag), protected.encode())
    elif isinstance(sealed, dict) and "encryptedKey" in sealed:
        content_key = unwrap(sealed["encryptedKey"], private, oaep, mgf)
        whole = bytes_of(sealed["ciphertext"]) + bytes_of(sealed.get("tag", ""))
        plain = AESGCM(content_key).decrypt(bytes_of(sealed["iv"]), whole, None)
    else:
        text = sealed if isinstance(sealed, str) else sealed.get("ciphertext") or sealed["data"]
        plain = unwrap(text, private, oaep, mgf)
    return json.loads(plain)


@pytest.fixture
def private(key_pair: tuple[Path, str]) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(key_pair[0].read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


def passes_luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"envelope_tag": "appended", "envelope_base64": "url"},
        {"envelope_form": "jwe"},
        {"envelope_form": "jwe", "oaep_hash": "sha1", "mgf_hash": "sha1"},
        {"envelope_form": "direct"},
        {"envelope_form": "direct-object", "oaep_hash": "sha1"},
        {"envelope_form": "direct-data", "mgf_hash": "sha1"},
    ],
)
def test_the_partner_can_open_every_form(
    api: Api, private: rsa.RSAPrivateKey, switches: dict[str, str]
) -> None:
    api.emulator.settings(**switches)
    card = api.issue().json()
    oaep, mgf = switches.get("oaep_hash", "sha256"), switches.get("mgf_hash", "sha256")
    details = opened(card["encryptedDetails"], private, oaep=oaep, mgf=mgf)
    assert details == api.control(f"details/{card['cardId']}")
    assert details["number"].endswith(card["last4"])
    assert (details["expiryMonth"], details["expiryYear"]) == (card["expiryMonth"], card["expiryYear"])


def test_the_form_is_the_one_that_was_asked_for(api: Api) -> None:
    api.emulator.settings(envelope_form="jwe")
    header = json.loads(bytes_of(api.issue().json()["encryptedDetails"].split(".")[0]))
    assert (header["alg"], header["enc"]) == ("RSA-OAEP-256", "A256GCM")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("pan", {"pan", "expMonth", "expYear", "cvc"}),
        ("card", {"cardNumber", "expiry", "securityCode"}),
        ("expiry", {"number", "expiry", "cvv"}),
    ],
)
def test_the_plaintext_can_bear_other_names(
    api: Api, private: rsa.RSAPrivateKey, names: str, expected: set[str]
) -> None:
    api.emulator.settings(plaintext_names=names)
    assert set(opened(api.issue().json()["encryptedDetails"], private)) == expected


def test_numbers_are_test_numbers_and_differ(api: Api) -> None:
    details = [api.control(f"details/{api.issue().json()['cardId']}") for _ in range(20)]
    numbers = {one["number"] for one in details}
    assert len(numbers) == 20
    assert all(number.startswith("400000") and passes_luhn(number) for number in numbers)
    assert all(len(one["cvv"]) == 3 and one["cvv"].isdigit() for one in details)


@pytest.mark.parametrize("cents", [0, -1, 10_000_001, 1.5, 5.0, "5", True, None])
def test_an_amount_is_an_integer_from_1_to_10000000(api: Api, cents: object) -> None:
    answer = api.issue(cents)
    assert refusal(answer) == (400, "ERRCRD_1005")
    assert answer.json()["message"] == "amountInUSDCents must be an integer from 1 to 10000000"


@pytest.mark.parametrize("cents", [1, 10_000_000])
def test_the_ends_of_the_range_are_inside(api: Api, cents: int) -> None:
    assert api.issue(cents).json()["amountInUSDCents"] == cents


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ({"rejected_amounts": [4200]}, (400, "ERRCRD_1006")),
        ({"issuing_available": False}, (403, "ERRCRD_1007")),
        ({"issuing_down": True}, (502, "ERRCRD_1009")),
    ],
)
def test_switches_refuse_cards(api: Api, switches: dict[str, Any], expected: tuple[int, str]) -> None:
    api.emulator.settings(**switches)
    assert refusal(api.issue(key="k")) == expected
    assert api.emulator.ledger() == []


def test_without_the_partners_key_there_is_no_card(api: Api) -> None:
    api.control("keys/clear", {})
    assert refusal(api.issue()) == (400, "ERRCRD_1004")


def test_a_cardholder_must_exist_here_and_be_active(api: Api) -> None:
    assert refusal(api.issue(holder="chd_nobody")) == (404, "ERRCRD_1002")
    assert refusal(api.issue(holder="chd_waiting")) == (400, "ERRCRD_1003")
    api.emulator.seed(cardholders=[{"cardholderId": "chd_other", "customerId": "cus_plain"}])
    assert refusal(api.issue(holder="chd_other")) == (404, "ERRCRD_1002")


def test_a_memo_has_up_to_140_characters(api: Api) -> None:
    assert api.issue(memo="x" * 140).ok
    assert api.issue(memo="x" * 141).json()["message"].startswith("memo")
