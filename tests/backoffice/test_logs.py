"""No card number and no secret reaches a log, whichever way it comes."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from hypothesis import assume, example, given
from hypothesis import strategies as st

from backoffice import logs
from backoffice.endl import CardDetails

PAN = "4111111111111111"
SECRET = "endl_live_9f8e7d6c5b4a"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The production chain on a logger of its own, writing to memory."""
    configured = logs.logging_config(debug=False, secrets=[SECRET])
    written = io.StringIO()
    handler = logs.QuietHandler(written)
    handler.setFormatter(
        logs.line_formatter(**{k: v for k, v in configured["formatters"]["line"].items() if k != "()"})
    )
    logger = logging.getLogger("office.test")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.DEBUG)
    yield written
    logger.handlers, logger.propagate = [], True


def only(written: io.StringIO) -> dict[str, Any]:
    return dict(json.loads(written.getvalue()))


def luhn_digit(digits: str) -> str:
    """The last digit that makes a card number of these digits."""
    return next(last for last in "0123456789" if logs.is_card_number(digits + last))


card_numbers = st.text("0123456789", min_size=12, max_size=18).map(lambda digits: digits + luhn_digit(digits))


def spaced(pan: str, separator: str) -> str:
    return separator.join(pan[at : at + 4] for at in range(0, len(pan), 4))


@given(
    pan=card_numbers, before=st.text("abc:,;/(=\"' ", max_size=5), after=st.text("abc:,;/)=\"' ", max_size=5)
)
def test_a_card_number_is_masked_to_its_last_four(pan: str, before: str, after: str) -> None:
    text = logs.Redactor().text(f"{before}x{pan}x{after}")
    assert pan not in text
    assert f"*{pan[-4:]}" in text


@given(pan=card_numbers, separator=st.sampled_from([" ", "-", "\u00a0"]))
@example(pan=PAN, separator=" ")
def test_a_card_number_in_groups_is_masked_too(pan: str, separator: str) -> None:
    text = logs.Redactor().text(f"card {spaced(pan, separator)}, thanks")
    assert spaced(pan, separator)[:-5] not in text
    assert text.count("*") == len(pan) - 4


@given(before=st.integers(0, 99_999), after=st.integers(0, 9_999))
def test_numbers_beside_a_card_number_do_not_hide_it(before: int, after: int) -> None:
    text = logs.Redactor().text(f"{before} {spaced(PAN, ' ')} {after}")
    assert "4111 1111 1111" not in text


@given(digits=st.text("0123456789", min_size=13, max_size=19))
def test_digits_that_are_no_card_number_stay_as_they_are(digits: str) -> None:
    assume(not logs.is_card_number(digits))
    assert logs.Redactor().text(f"at {digits} ms") == f"at {digits} ms"


@given(
    st.recursive(
        st.just(PAN) | st.just(int(PAN)) | st.just(PAN.encode()),
        lambda inner: st.lists(inner) | st.dictionaries(st.just(PAN) | st.text(), inner),
    )
)
def test_no_shape_of_value_hides_a_card_number(value: object) -> None:
    assert PAN not in json.dumps(logs.Redactor()(None, "info", {"event": "x", "value": value}))


@pytest.mark.parametrize(
    "text",
    [
        f"Api-Key: {SECRET[:-1]}x",
        f"{{'Api-Key': '{SECRET[:-1]}x', 'Api-Version': '2026-09.1'}}",
        f'{{"api_key": "{SECRET[:-1]}x"}}',
        json.dumps(json.dumps({"Api-Key": f"{SECRET[:-1]}x"})),
        f"Authorization: Bearer {SECRET[:-1]}x",
        f"cookie={SECRET[:-1]}x; other=1",
        f"the key {SECRET} itself",
    ],
)
def test_a_secret_is_removed(text: str) -> None:
    redacted = logs.Redactor([SECRET]).text(text)
    assert SECRET[:-1] not in redacted
    assert logs.REMOVED in redacted


def test_webhook_secrets_and_keys_in_pem_are_removed() -> None:
    text = "whsec_c2VjcmV0c2VjcmV0 -----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY----- end"
    assert logs.Redactor().text(text) == f"whsec_{logs.REMOVED} {logs.REMOVED} end"


def test_the_beginning_of_a_pem_block_is_enough() -> None:
    assert "MIIE" not in logs.Redactor().text("-----BEGIN RSA PRIVATE KEY-----\nMIIE")


@pytest.mark.parametrize("address", ["https://api.test/api/v0/x", "/admin/cards/card/"])
def test_query_strings_are_blanked(address: str) -> None:
    assert (
        logs.Redactor().text(f"GET {address}?q=Jane+Doe&x=1 HTTP/1.1")
        == f"GET {address}?{logs.REMOVED} HTTP/1.1"
    )


def test_a_library_record_goes_through_the_same_chain(lines: io.StringIO) -> None:
    logging.getLogger("office.test").warning("got %s from %s", PAN, {"Api-Key": "abcdefgh"})
    assert only(lines)["event"] == f"got ************1111 from {{'Api-Key': {logs.REMOVED}}}"


def test_a_traceback_keeps_its_lines_and_loses_its_secrets(lines: io.StringIO) -> None:
    def fail(number: str) -> None:
        hidden_local = "4242424242424242"
        raise ValueError(f"bad number {number}" if hidden_local else "")

    try:
        fail(PAN)
    except ValueError:
        logging.getLogger("office.test").exception("failed")
    written = lines.getvalue()
    assert "in fail" in written
    assert PAN not in written
    assert "bad number ************1111" in written


def test_tracebacks_never_show_local_variables(lines: io.StringIO) -> None:
    def fail() -> None:
        sealed = "blue-green".replace("-", "")
        raise ValueError(len(sealed))

    try:
        fail()
    except ValueError:
        structlog.get_logger("office.test").exception("failed")
    assert "bluegreen" not in lines.getvalue()


def test_a_line_has_the_request_id_and_a_time_in_utc(lines: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger("office.test").info("hello", amount="5.00")
    line = only(lines)
    assert (line["event"], line["request_id"], line["amount"]) == ("hello", "r-1", "5.00")
    assert line["timestamp"].endswith("Z")


def test_a_record_that_cannot_be_formatted_is_not_printed_raw(capsys: pytest.CaptureFixture[str]) -> None:
    broken = logging.LogRecord("office.test", logging.WARNING, __file__, 1, "%d", (PAN,), None)
    written = io.StringIO()
    logs.QuietHandler(written).handle(broken)
    said = capsys.readouterr().err
    assert "could not be written" in said
    assert PAN not in said + written.getvalue()


def test_values_named_as_secrets_are_removed_whatever_they_look_like() -> None:
    record = logs.Redactor()(
        None, "info", {"event": "x", "cvv": "123", "headers": {"Cookie": "a=b"}, "pan": 4}
    )
    assert record == {
        "event": "x",
        "cvv": logs.REMOVED,
        "headers": {"Cookie": logs.REMOVED},
        "pan": logs.REMOVED,
    }


@dataclass
class Careless:
    """What a class looks like whose author did not think of logs."""

    pan: str = PAN
    cvv: str = "9371"


@pytest.mark.parametrize(
    "thing",
    [
        Careless(),
        [Careless()],
        {"a": Careless()},
        Exception(PAN),
        PAN.encode(),
        CardDetails(PAN, "9371", 3, 2031),
    ],
)
def test_an_object_with_card_data_is_redacted_however_it_is_logged(thing: object, lines: io.StringIO) -> None:
    logging.getLogger("office.test").warning("got %s and %r", thing, thing)
    logging.getLogger("office.test").warning("got %(a)s", {"a": thing})
    structlog.get_logger("office.test").warning("got", thing=thing)
    assert PAN not in lines.getvalue()
    assert "9371" not in lines.getvalue()


def test_a_chain_of_exceptions_and_its_notes_are_redacted(lines: io.StringIO) -> None:
    try:
        try:
            raise ValueError(f"first {PAN}")
        except ValueError as first:
            first.add_note(f"noted {PAN}")
            raise RuntimeError(f"then {Careless()}") from first
    except RuntimeError:
        logging.getLogger("office.test").exception("failed", stack_info=True)
    assert PAN not in lines.getvalue()
    assert "9371" not in lines.getvalue()
    assert "noted ************1111" in lines.getvalue()
