"""Card numbers that Endl writes where none belong are masked before anything is kept."""

import json
from typing import Any

import pytest

from backoffice.endl.tolerant import as_text, without_secrets

PAN = "4111111111111111"


@pytest.mark.parametrize(
    "value",
    [PAN, f"card {PAN}!", "4111 1111 1111 1111", "4111-1111-1111-1111", f"{PAN}@example.com", int(PAN), [PAN],
     {"a": {"b": [PAN]}},     {PAN: "as a name"}],
)  # fmt: skip
def test_a_number_in_any_value_is_masked(value: Any) -> None:
    kept = json.dumps(without_secrets({"value": value}))
    assert PAN not in kept.replace(" ", "").replace("-", "")
    assert "1111" in kept


@pytest.mark.parametrize(
    "value",
    ["+491761234567", "cvv", "cid 12345", "acid 123",
     "+4111111111111111"[:15], 1_767_225_600_000, 1_767_225_600_000_000, "2026-01-01T00:00:00Z",
     "crd_" + PAN, "0x" + "4" * 40, 42, "1000000.000000", None, True],
)  # fmt: skip
def test_what_is_no_card_number_stays(value: Any) -> None:
    assert without_secrets({"value": value}) == {"value": value}


def test_text_columns_are_masked_too() -> None:
    assert as_text(f"card {PAN} declined") == "card ************1111 declined"
    assert as_text({"text": PAN, "number": PAN}) == '{"text": "************1111"}'


@pytest.mark.parametrize(
    "text",
    [
        "cvv 007",
        "CVV: 007",
        "cvc=007",
        'CVV2": "007"',
        "security code: 007",
        "security_code is 007",
        "(cvv 0071)",
    ],
)
def test_a_security_code_behind_its_name_is_masked(text: str) -> None:
    assert "007" not in str(without_secrets({"note": f"card {text}, declined"}))
