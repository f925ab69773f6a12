"""Which error an answer becomes, and what an error may show."""

import json
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import backoffice.endl
from backoffice.endl import (
    AlreadyIssued,
    Answer,
    Conflict,
    EndlError,
    FieldRejected,
    InvalidId,
    IssuingUnavailable,
    NoAnswer,
    NotFound,
    NotSent,
    OursToFix,
    OutcomeUnknown,
    Rejected,
    ServerTrouble,
    Throttled,
    UnreadableAnswer,
    Unsupported,
    error_from,
)
from backoffice.endl.codes import CODES, parse_retry_after
from backoffice.endl.text import mask_card_numbers


def envelope(code: str | None, message: str = "No.", field: str | None = None) -> bytes:
    entry = {"code": code, "message": message, "field": field}
    return json.dumps({"code": 400, "message": message, "status": "ERROR", "errors": [entry]}).encode()


def error(status: int, body: bytes = b"", **headers: str) -> EndlError:
    return error_from(Answer(status, body, headers, headers.get("x-request-id")))


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("ERRCRD_1000", 400, Rejected),
        ("ERRCRD_1001", 400, Rejected),
        ("ERRCRD_1002", 404, NotFound),
        ("ERRCRD_1003", 400, Rejected),
        ("ERRCRD_1004", 400, Rejected),
        ("ERRCRD_1005", 400, FieldRejected),
        ("ERRCRD_1006", 400, Rejected),
        ("ERRCRD_1007", 403, IssuingUnavailable),
        ("ERRCRD_1008", 409, AlreadyIssued),
        ("ERRCRD_1009", 502, ServerTrouble),
        ("ERRCRD_1010", 400, Rejected),
        ("ERRCORE_1001", 400, OursToFix),
        ("ERRCORE_1004", 401, OursToFix),
        ("ERRCORE_1005", 403, OursToFix),
        ("ERRCORE_1006", 429, Throttled),
        ("ERRREF_1001", 404, NotFound),
        ("IP_NOT_ALLOWLISTED", 403, OursToFix),
    ],
)
def test_each_documented_code_has_its_class_and_remedy(code: str, status: int, kind: type[EndlError]) -> None:
    got = error(status, envelope(code, "Because."))
    assert type(got) is kind
    assert (got.code, got.message, got.http_status) == (code, "Because.", status)
    assert got.remedy == CODES[code][1]


def test_the_table_holds_the_documented_codes_and_no_more() -> None:
    assert len(CODES) == 17


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected),
        (401, OursToFix),
        (403, Rejected),
        (404, NotFound),
        (405, Rejected),
        (408, NoAnswer),
        (409, Conflict),
        (422, Rejected),
        (429, Throttled),
        (500, ServerTrouble),
        (501, ServerTrouble),
        (502, ServerTrouble),
        (599, ServerTrouble),
        (202, UnreadableAnswer),
        (204, UnreadableAnswer),
        (302, UnreadableAnswer),
        (307, UnreadableAnswer),
        (600, ServerTrouble),
    ],
)
@pytest.mark.parametrize("body", [b"", b"<html>Bad", envelope("ERRNEW_1", "New.")])
def test_without_a_known_code_the_status_decides(status: int, kind: type[EndlError], body: bytes) -> None:
    assert type(error(status, body)) is kind


def test_an_unknown_code_keeps_its_message() -> None:
    got = error(400, envelope("ERRCRD_2077", "A rule of next year."))
    assert (got.code, got.message) == ("ERRCRD_2077", "A rule of next year.")


def test_a_5xx_is_never_a_clear_no_even_with_the_code_of_one() -> None:
    assert isinstance(error(500, envelope("ERRCRD_1006")), OutcomeUnknown)


def test_any_401_is_the_keys_fault_and_pauses_everything() -> None:
    for body in (b"", envelope("ERRCRD_1006"), envelope("ERRCORE_1005")):
        got = error(401, body)
        assert isinstance(got, OursToFix)
        assert got.pauses == "everything"


def test_only_a_denied_permission_waits_for_the_probe() -> None:
    denied = error(403, envelope("ERRCORE_1005"))
    assert isinstance(denied, OursToFix)
    assert denied.pauses == "probe"
    for code in ("ERRCORE_1001", "ERRCORE_1004", "IP_NOT_ALLOWLISTED"):
        other = error(400, envelope(code))
        assert isinstance(other, OursToFix)
        assert other.pauses == "everything"


def test_a_pausing_code_that_names_a_header_field_stays_ours_to_fix() -> None:
    assert isinstance(error(400, envelope("ERRCORE_1001", field="Api-Version")), OursToFix)


def test_a_known_code_further_down_the_list_is_found() -> None:
    body = {
        "message": "x",
        "errors": [{"code": "NEW", "message": "a"}, {"code": "ERRCRD_1008", "message": "b"}],
    }
    got = error(409, json.dumps(body).encode())
    assert isinstance(got, AlreadyIssued)
    assert got.message == "b"


@pytest.mark.parametrize(
    ("message", "given_field", "field"),
    [
        ("amountInUSDCents must be an integer from 1 to 10000000", None, "amountInUSDCents"),
        ("email: is not an address", None, "email"),
        ("must be given", "phone", "phone"),
        ("", None, None),
        ("12 is too many", None, None),
    ],
)
def test_a_field_is_named_by_endl_or_by_the_start_of_its_message(
    message: str, given_field: str | None, field: str | None
) -> None:
    assert error(400, envelope("ERRCRD_1005", message, given_field)).field == field


def test_an_unknown_code_with_a_field_is_a_field_error() -> None:
    assert isinstance(error(400, envelope("ERRCRD_3000", field="email")), FieldRejected)
    assert type(error(409, envelope("ERRCRD_3000", field="email"))) is Conflict


@pytest.mark.parametrize(
    "body",
    [
        '{"errors": "no"}',
        '{"errors": [1, null]}',
        '{"errors": [{"code": 7}]}',
        "[]",
        "null",
        '{"message": 5}',
        "\0",
    ],
)
def test_a_strange_envelope_still_makes_an_error_with_a_sentence(body: str) -> None:
    got = error(400, body.encode())
    assert type(got) is Rejected
    assert "400" in got.message


def test_a_code_that_is_a_number_is_not_shown() -> None:
    assert error(400, envelope("4111111111111111")).code is None


def test_other_layers_messages_are_shown_too() -> None:
    assert error(401, b'{"error":"invalid api key"}').message == "invalid api key"


def test_the_request_id_stands_first() -> None:
    assert str(error(400, envelope(None, "No."), **{"x-request-id": "req_5"})) == "req_5: No."
    assert str(error(400, envelope(None, "No."))) == "No."


def test_a_message_is_cut_masked_and_escaped() -> None:
    assert len(EndlError("x" * 10_000).message) == 500
    assert EndlError("card 4111111111111111 is closed").message == "card ************1111 is closed"
    assert EndlError("a\0b\ud800\x1b[31m").message == "a\\u0000b\\ud800\\u001b[31m"


def test_a_number_at_the_cut_leaves_no_digits_behind() -> None:
    assert "411111" not in EndlError("x" * 490 + " 4111111111111111").message


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111 1111 1111 1111 12/30",
        "03 4111 1111 1111 1111 007",
        "378282246310005",
        "6304000000000000",
        "(4111\u20111111\u20111111\u20111111)",
    ],
)
def test_card_numbers_are_masked_to_their_last_four(text: str) -> None:
    masked = mask_card_numbers(text)
    assert sum(a == "*" for a in masked) >= 9
    assert "41111111" not in "".join(c for c in masked if c.isalnum())


@pytest.mark.parametrize(
    "text",
    ["4111111111111112", "2026-11-30T10:00:00", "0x4111111111111111", "cdp_4111111111111111", "123456789012"],
)
def test_other_numbers_stay(text: str) -> None:
    assert mask_card_numbers(text) == text


def test_errors_survive_a_pickle() -> None:
    back = pickle.loads(pickle.dumps(error(400, envelope("ERRCRD_1005", "email is bad"))))
    assert (type(back), back.field, back.code) == (FieldRejected, "email", "ERRCRD_1005")


NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        ("1.5", 1.5),
        (" 7 ", 7.0),
        ("86400", 300.0),
        ("9" * 400, 300.0),
        ("Mon, 30 Nov 2026 12:00:03 GMT", 3.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 300.0),
        ("Fri, 31 Dec 9999999 23:59:59 GMT", None),
        ("-5", None),
        ("soon", None),
        ("nan", None),
        ("1e3", None),
        ("\u0663", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_in_all_its_forms(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, now=NOW) == seconds


def test_retry_after_stands_on_the_error() -> None:
    assert error(429, b"{}", **{"retry-after": "2"}).retry_after_seconds == 2.0
    assert error(503, b"", **{"retry-after": "2"}).retry_after_seconds == 2.0
    assert error(429, b"{}").retry_after_seconds is None


def test_the_tree_is_as_drawn() -> None:
    assert {kind.__base__ for kind in (FieldRejected, NotFound, Conflict, AlreadyIssued)} == {Rejected}
    assert {kind.__base__ for kind in (NoAnswer, ServerTrouble, UnreadableAnswer)} == {OutcomeUnknown}
    for kind in (Rejected, OutcomeUnknown, NotSent, Throttled, OursToFix, IssuingUnavailable, Unsupported):
        assert kind.__base__ is EndlError
    assert issubclass(InvalidId, ValueError)


def test_the_list_of_names_and_the_names_agree() -> None:
    names = backoffice.endl.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert all(hasattr(backoffice.endl, name) for name in names)


def test_the_package_knows_nothing_of_ours() -> None:
    for source in Path(backoffice.endl.__file__).parent.glob("*.py"):
        lines = [line for line in source.read_text().splitlines() if line.startswith(("import ", "from "))]
        assert not [line for line in lines if "django" in line or "celery" in line or "emulator" in line]
        assert all("backoffice" not in line or "backoffice.endl" in line for line in lines)


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(status=st.integers(100, 999), value=json_values, raw=st.binary(max_size=60))
def test_every_answer_becomes_some_error_and_never_an_exception(status: int, value: Any, raw: bytes) -> None:
    for body in (json.dumps({"errors": value, "message": value}).encode(), raw):
        got = error(status, body)
        assert len(got.message) <= 500
        assert str(got).encode()
