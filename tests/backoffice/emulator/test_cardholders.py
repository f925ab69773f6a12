"""Registering cardholders and listing them."""

from typing import Any

import pytest

from tests.backoffice.emulator.client import COMPANY, HOLDER, PERSON, Api, refusal


def test_a_registration_answers_the_cardholder(api: Api) -> None:
    answer = api.register(key="k")
    assert answer.status_code == 201
    assert answer.json().items() >= {**PERSON, "customerId": COMPANY, "status": "active", "cards": []}.items()
    assert [(row["operation"], row["key"]) for row in api.emulator.ledger()] == [("register_cardholder", "k")]


@pytest.mark.parametrize(
    ("customer", "expected"),
    [
        ("cus_nobody", (404, "ERRREF_1001")),
        ("cus_person", (400, "ERRCRD_1000")),
        ("cus_plain", (400, "ERRCRD_1001")),
    ],
)
def test_only_a_business_with_cards_has_cardholders(
    api: Api, customer: str, expected: tuple[int, str]
) -> None:
    assert refusal(api.register(customer=customer)) == expected
    assert refusal(api.get(f"/customer/{customer}/card-users")) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("firstName", ""),
        ("firstName", None),
        ("lastName", "x" * 101),
        ("lastName", 7),
        ("email", "nobody"),
        ("email", None),
        ("phone", "0123"),
        ("phone", "+1"),
    ],
)
def test_a_broken_field_is_named_first(api: Api, field: str, value: Any) -> None:
    answer = api.register(**{field: value})
    assert refusal(answer) == (400, "ERRCRD_1005")
    assert answer.json()["message"].startswith(field)


def test_an_email_belongs_to_one_cardholder_of_a_business(api: Api) -> None:
    assert api.register().ok
    assert refusal(api.register(email="ADA@example.com")) == (400, "ERRCRD_1010")
    api.emulator.settings(duplicate_emails=True)
    assert api.register().ok


def test_the_list_shows_cardholders_with_their_cards(api: Api) -> None:
    card = api.issue().json()
    listed = {one["cardholderId"]: one for one in api.get(f"/customer/{COMPANY}/card-users").json()}
    assert [shown["cardId"] for shown in listed[HOLDER]["cards"]] == [card["cardId"]]
    assert "encryptedDetails" not in listed[HOLDER]["cards"][0]
