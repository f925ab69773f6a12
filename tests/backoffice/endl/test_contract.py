"""What the client sends, against the project's copy of the API's description."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from backoffice.endl import Call, Money, call_issue_card, call_register_cardholder, call_start_deposit

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "endl-openapi.yaml"
DESCRIPTION: dict[str, Any] = yaml.safe_load(DOCUMENT.read_text())
IDS = st.from_regex(r"[A-Za-z0-9_-]{1,128}", fullmatch=True)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=100)
CENTS = st.integers(1, 10_000_000)


def operation(operation_id: str) -> tuple[str, dict[str, Any]]:
    """The path and description of an operation by its id."""
    for path, methods in DESCRIPTION["paths"].items():
        for described in methods.values():
            if isinstance(described, dict) and described.get("operationId") == operation_id:
                return path, described
    raise LookupError(operation_id)


def fits(call: Call, operation_id: str) -> bool:
    """Whether path and body are what the description says."""
    path, described = operation(operation_id)
    pattern = re.sub(r"\{[A-Za-z]+\}", "[A-Za-z0-9_-]{1,128}", path)
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": DESCRIPTION["components"]}
    return re.fullmatch(pattern, call.path) is not None and jsonschema_rs.is_valid(
        whole, json.loads(call.body)
    )


@given(IDS, NAMES, NAMES, st.sampled_from([None, "+14155552671"]))
def test_a_registration_fits(customer, first_name, last_name, phone):
    call = call_register_cardholder(
        customer_id=customer, first_name=first_name, last_name=last_name, email="ann@example.com", phone=phone
    )
    assert fits(call, "registerCardholder")


@given(IDS, IDS, CENTS, st.sampled_from([None, "Team lunch"]))
def test_a_card_order_fits(customer, cardholder, cents, memo):
    call = call_issue_card(customer_id=customer, cardholder_id=cardholder, amount_cents=cents, memo=memo)
    assert fits(call, "issueScopedCard")
    assert type(json.loads(call.body)["amountInUSDCents"]) is int


@given(IDS, IDS, CENTS, st.sampled_from([None, "base"]))
def test_a_deposit_fits(customer, wallet, cents, chain):
    amount = Money.of(f"{cents // 100}.{cents % 100:02d}", "USD")
    call = call_start_deposit(customer_id=customer, wallet_id=wallet, amount=amount, chain=chain)
    assert fits(call, "createDeposit")


@pytest.mark.parametrize("body", [b"{}", b'{"amountInUSDCents": "100"}', b'{"amountInUSDCents": 0}'])
def test_what_does_not_fit_is_found(body):
    good = call_issue_card(customer_id="cus_1", cardholder_id="chd_1", amount_cents=100)
    assert not fits(Call(good.operation, good.path, body), "issueScopedCard")
