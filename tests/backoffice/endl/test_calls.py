"""The bytes that leave, and what is refused before any leave."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backoffice.endl import (
    Client,
    InvalidId,
    Money,
    call_issue_card,
    call_register_cardholder,
    call_start_deposit,
    check_base_url,
    check_key,
)

BAD_IDS = [
    "",
    ".",
    "..",
    "a/b",
    "cus_1/../cus_2",
    "cus_1/%2e%2e/cus_2",
    "cus_1?x=1",
    "cus_1#f",
    "a\r\nb",
    "a\n",
    "é",
]
BAD_IDS += ["x" * 129, "cus 1", "\u0663"]


def test_a_registration_is_compact_utf8_in_a_fixed_order() -> None:
    call = call_register_cardholder(customer_id="cus_1", first_name="Zoë", last_name="Ng", email="z@e.test")
    assert (call.operation, call.path) == ("register_cardholder", "/api/v0/customer/cus_1/card-users")
    assert call.body == '{"firstName":"Zoë","lastName":"Ng","email":"z@e.test"}'.encode()


def test_a_phone_is_sent_when_there_is_one() -> None:
    people: dict[str, Any] = {
        "customer_id": "cus_1",
        "first_name": "A",
        "last_name": "B",
        "email": "a@b.test",
    }
    assert json.loads(call_register_cardholder(**people, phone="+441").body)["phone"] == "+441"
    assert "phone" not in json.loads(call_register_cardholder(**people, phone="").body)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        call_register_cardholder(customer_id="c", first_name="\ud800", last_name="B", email="a@b.test")


def test_a_card_is_issued_in_whole_cents() -> None:
    call = call_issue_card(customer_id="cus_1", cardholder_id="chd_1", amount_cents=1999)
    assert (call.operation, call.body) == ("issue_card", b'{"amountInUSDCents":1999}')
    assert call.path == "/api/v0/customer/cus_1/card-users/chd_1/cards/scoped"


@given(cents=st.integers(1, 10_000_000))
def test_every_amount_of_cents_leaves_unchanged(cents: int) -> None:
    body = call_issue_card(customer_id="c", cardholder_id="h", amount_cents=cents).body
    assert body == b'{"amountInUSDCents":%d}' % cents


@pytest.mark.parametrize("amount", [0, -1, 10_000_001, 2**31, True, 100.0, "100", Decimal(100), None])
def test_any_other_amount_is_refused(amount: Any) -> None:
    with pytest.raises(ValueError, match="whole number"):
        call_issue_card(customer_id="c", cardholder_id="h", amount_cents=amount)


def test_a_memo_is_sent_only_when_given_and_not_too_long() -> None:
    def body(memo: str | None) -> Any:
        return json.loads(call_issue_card(customer_id="c", cardholder_id="h", amount_cents=1, memo=memo).body)

    assert body("x" * 140)["memo"] == "x" * 140
    assert "memo" not in body(None)
    with pytest.raises(ValueError, match="140"):
        body("x" * 141)


def test_a_deposit_sends_the_text_of_its_amount() -> None:
    call = call_start_deposit(
        customer_id="cus_1", wallet_id="wlt_1", amount=Money.of("500.00", "USD"), chain="base"
    )
    assert (call.operation, call.path) == ("start_deposit", "/api/v0/cards/cus_1/deposits")
    assert call.body == b'{"walletId":"wlt_1","amount":{"amount":"500.00","currency":"USD"},"chain":"base"}'
    assert (
        b"chain" not in call_start_deposit(customer_id="c", wallet_id="w", amount=Money.of("1", "USD")).body
    )


@pytest.mark.parametrize(
    "money",
    [
        Money.of(text, "USD")
        for text in ("0", "-1", "1e3", "+5", "1_0", "0.00", "007", "NaN", "\u0663", ".5", "5.")
    ]
    + [Money(Decimal(5), "USD", "6"), Money(Decimal(5), "USD", ""), Money(Decimal(5), "USD", "five")],
)
def test_a_deposit_of_anything_but_a_plain_positive_amount_is_refused(money: Money) -> None:
    with pytest.raises(ValueError, match="positive decimal"):
        call_start_deposit(customer_id="c", wallet_id="w", amount=money)


@given(cents=st.integers(1, 10**12))
def test_every_amount_of_a_deposit_leaves_digit_by_digit(cents: int) -> None:
    text = f"{cents // 100}.{cents % 100:02}"
    body = call_start_deposit(customer_id="c", wallet_id="w", amount=Money.of(text, "USD")).body
    assert json.loads(body)["amount"] == {"amount": text, "currency": "USD"}


@pytest.mark.parametrize("bad", BAD_IDS)
def test_an_id_that_could_ask_for_something_else_is_refused(bad: str) -> None:
    with pytest.raises(InvalidId):
        call_register_cardholder(customer_id=bad, first_name="A", last_name="B", email="a@b.test")
    with pytest.raises(InvalidId):
        call_issue_card(customer_id="c", cardholder_id=bad, amount_cents=1)
    with pytest.raises(InvalidId):
        call_start_deposit(customer_id="c", wallet_id=bad, amount=Money.of("1", "USD"))
    with pytest.raises(InvalidId):
        Client(base_url="https://api.invalid", api_key="k").get_deposit("cus_1", bad)


def test_a_calls_body_is_not_shown() -> None:
    call = call_register_cardholder(customer_id="c", first_name="Zoe", last_name="B", email="a@b.test")
    assert "Zoe" not in repr(call)


@pytest.mark.parametrize("key", ["a", "x" * 64, "0190-Ab_c"])
def test_a_good_key_passes(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize("key", ["", "x" * 65, "a b", "a\r\nb", "a\n", "a\0", "é", "\u0663", None, 5])
def test_a_bad_key_is_refused(key: Any) -> None:
    with pytest.raises(ValueError, match="1 to 64"):
        check_key(key)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.invalid",
        "https://api.invalid:8443/",
        "http://localhost:8100",
        "http://127.0.0.9",
        "http://[::1]:1",
    ],
)
def test_https_and_this_machine_are_good_base_urls(url: str) -> None:
    assert check_base_url(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.invalid",
        "ftp://api.invalid",
        "http://api.invalid",
        "http://127.0.0.1.evil.invalid",
        "https://",
        "https://u:p@api.invalid",
        "https://api.invalid/x",
        "https://api.invalid?x",
        "https://api.invalid#",
        "https://api.invalid:99999",
        "https://api.invalid:0",
        "https://api .invalid",
        "https://a\\b",
        "https://é.invalid",
        "http://localhost.evil.invalid",
        "http://10.0.0.1",
        "http://0.0.0.0",
    ],
)
def test_any_other_base_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"base URL"):
        check_base_url(url)


@pytest.mark.parametrize("name", ["api_key", "api_version", "user_agent"])
@pytest.mark.parametrize("value", ["", "a\n", "a\r\nX: y", "é", "a\0b", " a"])
def test_a_header_value_that_is_not_printable_is_refused_and_not_repeated(name: str, value: str) -> None:
    settings: dict[str, Any] = {
        "base_url": "https://api.invalid",
        "api_key": "k",
        name: f"secret{value}" if value else "",
    }
    if value == " a":
        settings[name] = " secret"
    with pytest.raises(ValueError, match="printable ASCII") as caught:
        Client(**settings)
    assert "secret" not in str(caught.value)


def test_a_proxy_is_checked_and_its_password_not_repeated() -> None:
    with pytest.raises(ValueError, match="proxy") as caught:
        Client(base_url="https://api.invalid", api_key="k", proxy="proxy:pass word@x")
    assert "pass word" not in str(caught.value)


def test_a_client_shows_its_base_url_alone() -> None:
    client = Client(base_url="https://api.invalid", api_key="secret", proxy="http://u:p@proxy.invalid")
    assert repr(client) == "Client('https://api.invalid')"
