"""What Endl's objects read as, however they come."""

import copy
import json
import pickle
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backoffice.endl import (
    Answer,
    Card,
    CardDetails,
    Cardholder,
    Deposit,
    Destination,
    EndlError,
    Fee,
    IssuedCard,
    Money,
    UnreadableAnswer,
    Withdrawal,
    parse_deposit,
    parse_withdrawal,
    read_cardholder,
    read_deposit,
    read_issued_card,
    read_withdrawal,
)
from backoffice.endl.answers import NotJSON, parse_json
from backoffice.endl.tolerant import as_time

DEPOSIT: dict[str, Any] = {
    "depositId": "cdp_1",
    "customerId": "cus_1",
    "method": "endl_account",
    "walletId": "wlt_1",
    "amount": {"amount": "500.00", "currency": "USD"},
    "chain": "base",
    "transactionHash": None,
    "fees": [{"type": "transaction_fee", "amount": {"amount": "0.50", "currency": "USD"}}],
    "status": "pending",
    "failureReason": None,
    "createdAt": "2026-10-16T09:00:00Z",
    "completedAt": None,
}


def ok(value: Any, status: int = 201) -> Answer:
    return Answer(status, value if isinstance(value, bytes) else json.dumps(value).encode(), {}, "req_1")


def deposit(**changes: Any) -> Deposit:
    return parse_deposit(DEPOSIT | changes)


def test_a_documented_deposit_reads_whole() -> None:
    got = read_deposit(ok(DEPOSIT))
    assert (got.deposit_id, got.customer_id, got.wallet_id, got.method) == (
        "cdp_1",
        "cus_1",
        "wlt_1",
        "endl_account",
    )
    assert got.amount == Money(Decimal("500.00"), "USD", "500.00")
    assert got.fees == (Fee("transaction_fee", Money(Decimal("0.50"), "USD", "0.50")),)
    assert (got.status, got.failure_reason, got.transaction_hash) == ("pending", None, None)
    assert got.created_at == datetime(2026, 10, 16, 9, tzinfo=UTC)
    assert got.payload == DEPOSIT


def test_a_documented_withdrawal_reads_whole() -> None:
    raw = {
        "withdrawalId": "cwd_1",
        "customerId": "cus_1",
        "amount": {"amount": "200.00", "currency": "USD"},
        "destination": {"walletId": "wlt_3"},
        "status": "completed",
        "completedAt": "2026-10-16T10:00:00Z",
    }
    got = read_withdrawal(ok(raw, 200))
    assert (got.withdrawal_id, got.destination, got.status) == (
        "cwd_1",
        Destination("wlt_3", None),
        "completed",
    )
    assert parse_withdrawal(raw) == got


def test_a_cardholder_reads_with_the_cards_that_can_be_read() -> None:
    cards = [
        {"cardId": "crd_1", "last4": "0007", "expiryMonth": 3, "expiryYear": "2031"},
        {"no": "id"},
        "junk",
    ]
    raw = {"cardholderId": "chd_1", "firstName": "Zoë", "email": "z@example.test", "cards": cards}
    got = read_cardholder(ok(raw))
    assert (got.cardholder_id, got.first_name, got.phone) == ("chd_1", "Zoë", None)
    assert [(c.card_id, c.last4, c.expiry_month, c.expiry_year) for c in got.cards] == [
        ("crd_1", "0007", 3, 2031)
    ]
    assert got.unreadable_cards == 2


@pytest.mark.parametrize("sealed", ["QUJD", {"encryptedKey": "a", "iv": "b", "ciphertext": "c"}])
def test_an_issued_card_keeps_its_envelope_and_shows_none_of_it(sealed: Any) -> None:
    got = read_issued_card(ok({"cardId": "crd_1", "amountInUSDCents": 1999, "encryptedDetails": sealed}))
    assert got.encrypted_details == sealed
    assert got.card.amount_in_usd_cents == 1999
    assert "encryptedDetails" not in got.card.payload
    assert "QUJD" not in f"{got!r}{got!s}{got}"


@pytest.mark.parametrize("body", [{"cardId": "crd_1"}, {"cardId": "crd_1", "encryptedDetails": None}])
def test_a_repeat_may_come_without_an_envelope(body: Any) -> None:
    assert read_issued_card(ok(body, 200)).encrypted_details is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"<!DOCTYPE html>",
        b'{"depositId":"cdp_',
        b'{"success":false,"error":"insufficient_funds"}',
        b'{"depositId":null}',
        b'{"depositId":7}',
        b'{"depositId":"cdp_1/../cdp_2"}',
        b'{"depositId":"cdp_1\\n"}',
        b'{"depositId":"cdp_1"} trailing',
        b'\xef\xbb\xbf{"depositId":"cdp_1"}',
        b'\xff\xfe{"depositId":"cdp_1"}',
        b'{"depositId":"cdp_1","depositId":"cdp_2"}',
        b'{"depositId":"cdp_1","amount":NaN}',
        b'{"depositId":"cdp_1","amount":-Infinity}',
        b'{"depositId":"cdp_1","x":' + b"9" * 5000 + b"}",
        b'{"depositId":"cdp_1","x":1e99999999999999999999}',
        b'{"depositId":"cdp_1","x":' + b"[" * 100_000,
        b'{"depositId":"cdp_1","x":' + b"[" * 500 + b"]" * 500 + b"}",
    ],
)
def test_a_success_that_cannot_be_read_is_an_unknown_outcome(body: bytes) -> None:
    with pytest.raises(UnreadableAnswer) as caught:
        read_deposit(ok(body))
    assert (caught.value.http_status, caught.value.request_id) == (201, "req_1")


@pytest.mark.parametrize("status", [202, 204, 206, 302])
def test_only_200_and_201_are_success(status: int) -> None:
    with pytest.raises(UnreadableAnswer):
        read_deposit(ok(DEPOSIT, status))


def test_a_minimal_object_reads_with_everything_absent() -> None:
    got = parse_deposit({"depositId": "cdp_1"})
    assert (got.status, got.amount, got.fees, got.created_at, got.wallet_id) == (None, None, (), None, None)


def test_null_and_missing_read_alike_and_the_payload_tells_them_apart() -> None:
    null, missing = deposit(chain=None), parse_deposit({k: v for k, v in DEPOSIT.items() if k != "chain"})
    assert null.chain is None
    assert missing.chain is None
    assert "chain" in null.payload
    assert "chain" not in missing.payload


@pytest.mark.parametrize(
    ("came", "reads"),
    [
        ("active", "active"),
        (" Active ", " Active "),
        ("pending_provider_review_extended_hold", "pending_provider_review_extended_hold"),
        ("", ""),
        (None, None),
        (3, "3"),
        (True, "true"),
        (["active"], '["active"]'),
        ("\u0430ctive", "\u0430ctive"),
        ("a\0\ud800", "a\\u0000\\ud800"),
    ],
)
def test_a_status_is_kept_as_it_came(came: Any, reads: str | None) -> None:
    assert deposit(status=came).status == reads


@pytest.mark.parametrize("reason", [None, "no funds", {"code": "X", "n": [1]}, 5])
def test_a_failure_reason_may_be_anything(reason: Any) -> None:
    assert deposit(failureReason=reason).failure_reason == reason


@pytest.mark.parametrize(
    ("raw", "exact", "text"),
    [
        ("0.1", "0.1", "0.1"),
        ("0.30000000000000004", "0.30000000000000004", "0.30000000000000004"),
        ("9007199254740993", "9007199254740993", "9007199254740993"),
        ('"100.00"', "100.00", "100.00"),
        ("1e-7", "0.0000001", "0.0000001"),
        ('"12.345678"', "12.345678", "12.345678"),
        ("12345678901234.123456", "12345678901234.123456", "12345678901234.123456"),
    ],
)
def test_amounts_are_exact(raw: str, exact: str, text: str) -> None:
    body = f'{{"depositId":"cdp_1","amount":{{"amount":{raw},"currency":"USDC"}}}}'
    amount = read_deposit(ok(body.encode())).amount
    assert amount == Money(Decimal(exact), "USDC", text)


@pytest.mark.parametrize(
    "amount",
    [None, "10", 10, [], {}, {"amount": "10"}, {"amount": None, "currency": "USD"}]
    + [
        {"amount": bad, "currency": "USD"}
        for bad in ("1e3", "1_000", "\u0663", "NaN", "1,5", "", True, "9" * 70)
    ]
    + [{"amount": "10", "currency": 840}],
)
def test_an_amount_that_is_none_reads_as_absent(amount: Any) -> None:
    assert deposit(amount=amount).amount is None


@pytest.mark.parametrize("number", ["1e400", "1e999999999", "1e-999999999", "9" * 4000])
def test_absurd_numbers_stay_harmless(number: str) -> None:
    body = f'{{"depositId":"cdp_1","x":{number},"amount":{{"amount":{number},"currency":"USD"}}}}'
    got = read_deposit(ok(body.encode()))
    assert got.amount is None
    assert len(str(got.payload["x"])) <= 4000


def test_bad_fees_are_skipped() -> None:
    fees = [None, "x", 5, {"type": 7}, {"type": "a", "amount": {"amount": "1", "currency": "USD"}}]
    assert deposit(fees=fees).fees == (Fee("7", None), Fee("a", Money(Decimal(1), "USD", "1")))
    assert deposit(fees={"type": "a"}).fees == ()


@pytest.mark.parametrize(
    ("came", "utc"),
    [
        ("2026-03-01T02:30:00Z", datetime(2026, 3, 1, 2, 30, tzinfo=UTC)),
        ("2026-03-01T02:30:00", datetime(2026, 3, 1, 2, 30, tzinfo=UTC)),
        ("2026-03-01T02:30:00.123456789Z", datetime(2026, 3, 1, 2, 30, 0, 123456, tzinfo=UTC)),
        ("2026-03-01T02:30:00.5Z", datetime(2026, 3, 1, 2, 30, 0, 500000, tzinfo=UTC)),
        ("2026-03-01T05:30:00+03:00", datetime(2026, 3, 1, 2, 30, tzinfo=UTC)),
        ("2026-03-01 05:30:00+0300", datetime(2026, 3, 1, 2, 30, tzinfo=UTC)),
        (1772332200, datetime(2026, 3, 1, 2, 30, tzinfo=UTC)),
        (1772332200000, datetime(2026, 3, 1, 2, 30, tzinfo=UTC)),
        (Decimal("1772332200.5"), datetime(2026, 3, 1, 2, 30, 0, 500000, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("0000-00-00T00:00:00Z", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("2026-02-30T00:00:00Z", None),
        ("2026-03-01T02:30:60Z", None),
        ("10000-01-01T00:00:00Z", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        ([], None),
        (10**30, None),
    ],
)
def test_times_are_aware_utc_or_absent(came: Any, utc: datetime | None) -> None:
    assert as_time(came) == utc
    assert deposit(createdAt=came).created_at == utc


@pytest.mark.parametrize(
    ("came", "reads"),
    [("12", 12), (12, 12), ("03", 3), (Decimal("12.0"), 12), (1.5, None), (True, None), ("x", None)],
)
def test_whole_numbers_may_come_as_text(came: Any, reads: int | None) -> None:
    assert Card.read({"cardId": "c", "expiryMonth": came}).expiry_month == reads


@pytest.mark.parametrize(
    ("came", "reads"), [("0007", "0007"), (7, "0007"), ("4111111111111111", "1111"), (None, None)]
)
def test_the_last_four_are_text_and_no_more_than_four(came: Any, reads: str | None) -> None:
    assert Card.read({"cardId": "c", "last4": came}).last4 == reads


@pytest.mark.parametrize("bad", ["a/b", "..", "", "x" * 129, 7, None, "a\n"])
def test_a_reference_that_could_not_be_used_reads_as_absent(bad: Any) -> None:
    assert deposit(walletId=bad).wallet_id is None


def test_no_card_secret_stays_in_a_payload_at_any_depth() -> None:
    names = [
        "encryptedDetails",
        "pan",
        "number",
        "cardNumber",
        "card_number",
        "CVV",
        "cvc",
        "securityCode",
        "Pin",
    ]
    hidden = dict.fromkeys(names, "4111111111111111")
    raw = {"cardId": "crd_1", **hidden, "deep": [{"deeper": hidden | {"phoneNumber": "+4420"}}]}
    assert Card.read(raw).payload == {"cardId": "crd_1", "deep": [{"deeper": {"phoneNumber": "+4420"}}]}


def test_a_payload_can_be_stored_by_any_database() -> None:
    payload = parse_deposit({"depositId": "d", "a\0": "b\0", "c": ["\ud800"]}).payload
    assert payload == {"depositId": "d", "a\\u0000": "b\\u0000", "c": ["\\ud800"]}


def test_numbers_in_a_payload_are_exact() -> None:
    assert (
        read_deposit(ok(b'{"depositId":"d","x":0.10}')).payload["x"].as_tuple() == Decimal("0.10").as_tuple()
    )


def test_objects_are_frozen_and_show_their_id_alone() -> None:
    got = Cardholder.read({"cardholderId": "chd_1", "email": "z@example.test"})
    assert f"{got!r} {got}" == "Cardholder('chd_1') Cardholder('chd_1')"
    with pytest.raises(ValueError, match="frozen"):
        got.email = "other"


def test_an_unreadable_object_is_not_quoted() -> None:
    with pytest.raises(UnreadableAnswer) as caught:
        Card.read({"cardId": 5, "pan": "4111111111111111"})
    assert "4111" not in str(caught.value)
    assert caught.value.__context__ is None


DETAILS = CardDetails("4111111111111111", "007", 3, 2031)


def test_card_details_show_nothing() -> None:
    shown = f"{DETAILS!r}{DETAILS!s}{DETAILS}{DETAILS:>40}{[DETAILS]}{IssuedCard(Card(card_id='c'), 'x')!r}"
    assert "4111" not in shown
    assert "007" not in shown
    assert DETAILS.last4 == "1111"


@pytest.mark.parametrize("store", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps])
def test_card_details_cannot_be_stored(store: Any) -> None:
    with pytest.raises(TypeError):
        store(DETAILS)


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [
    *sorted(DEPOSIT),
    "withdrawalId",
    "destination",
    "cardholderId",
    "cards",
    "cardId",
    "last4",
    "expiryMonth",
]


@given(raw=st.dictionaries(st.sampled_from(FIELDS), json_values), status=st.sampled_from([200, 201]))
def test_any_json_reads_or_raises_an_error_of_the_tree(raw: dict[str, Any], status: int) -> None:
    raw.setdefault("depositId", "cdp_1")
    raw.setdefault("cardholderId", "chd_1")
    raw.setdefault("cards", [dict(raw, cardId="crd_1")])
    for read in (read_deposit, read_withdrawal, read_cardholder, read_issued_card):
        try:
            read(ok(raw, status))
        except EndlError:
            continue


@given(body=st.binary(max_size=200))
def test_any_bytes_read_or_raise_an_error_of_the_tree(body: bytes) -> None:
    with pytest.raises(EndlError):
        read_deposit(ok(body))


@given(value=json_values)
def test_strict_reading_returns_what_was_written(value: Any) -> None:
    try:
        read = parse_json(json.dumps(value).encode())
    except NotJSON:
        pytest.fail("plain JSON was refused")
    assert json.dumps(read, default=float) == json.dumps(value) or read == value


def test_withdrawal_and_deposit_ids_are_not_mixed_up() -> None:
    with pytest.raises(UnreadableAnswer):
        Withdrawal.read(DEPOSIT)
