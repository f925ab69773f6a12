"""Deliveries: which are believed, and what they are read as."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backoffice.endl import MAX_EVENT_BYTES, BadEvent, BadSignature, VerifiedEvent, WebhookRefused, verify

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY, OTHER_KEY = b"a key of thirty-two bytes, just so", b"another key, for the rotation"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(OTHER_KEY).decode()
EVENT: dict[str, Any] = {
    "id": "evt_1",
    "type": "card_deposit.completed",
    "createdAt": "2026-11-30T11:59:58Z",
    "data": {"depositId": "cdp_1", "status": "completed"},
}
RAW = json.dumps(EVENT).encode()


def signature(raw: bytes, key: bytes = KEY, *, event_id: str = "msg_1", sent_at: str = "") -> str:
    signed = f"{event_id}.{sent_at or stamp()}.".encode("utf-8", "surrogatepass") + raw
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def stamp(offset_seconds: int = 0) -> str:
    return str(int((NOW + timedelta(seconds=offset_seconds)).timestamp()))


def headers(raw: bytes = RAW, **changes: str) -> dict[str, str]:
    usual = {"webhook-id": "msg_1", "webhook-timestamp": stamp(), "webhook-signature": signature(raw)}
    return usual | {name.replace("_", "-"): value for name, value in changes.items()}


def check(raw: bytes = RAW, sent: dict[str, str] | None = None, **options: Any) -> VerifiedEvent:
    given_headers = headers(raw) if sent is None else sent
    usual: dict[str, Any] = {"raw": raw, "headers": given_headers, "secrets": [SECRET], "now": NOW}
    return verify(**(usual | options))


def refused(raw: bytes = RAW, sent: dict[str, str] | None = None, **options: Any) -> None:
    with pytest.raises(BadSignature) as caught:
        check(raw, sent, **options)
    assert caught.value.http_status == 401


def test_a_signed_event_is_read() -> None:
    got = check()
    assert (got.event_id, got.type, got.data) == ("evt_1", "card_deposit.completed", EVENT["data"])
    assert got.created_at == datetime(2026, 11, 30, 11, 59, 58, tzinfo=UTC)
    assert got.raw_sha256 == hashlib.sha256(RAW).hexdigest()


def test_header_names_may_come_in_any_case() -> None:
    assert check(sent={name.title(): value for name, value in headers().items()}).event_id == "evt_1"


def test_any_of_several_secrets_will_do() -> None:
    for secrets in ([OTHER_SECRET, SECRET], [SECRET, OTHER_SECRET], ["not base64!", SECRET], [SECRET[6:]]):
        assert check(secrets=secrets).event_id == "evt_1"


def test_any_of_several_signatures_will_do() -> None:
    both = f"v1a,xx {signature(RAW, OTHER_KEY)}  {signature(RAW)}"
    assert check(sent=headers(webhook_signature=both)).event_id == "evt_1"


def test_only_the_first_five_signatures_are_looked_at() -> None:
    wrong = signature(RAW, OTHER_KEY) + " "
    assert check(sent=headers(webhook_signature=wrong * 4 + signature(RAW))).event_id == "evt_1"
    refused(sent=headers(webhook_signature=wrong * 5 + signature(RAW)))


@pytest.mark.parametrize("secrets", [[], [""], ["whsec_"], [OTHER_SECRET], ["whsec_é"]])
def test_without_the_right_secret_nothing_is_believed(secrets: list[str]) -> None:
    refused(secrets=secrets)


def test_an_empty_secret_signs_nothing() -> None:
    refused(sent=headers(webhook_signature=signature(RAW, b"")), secrets=["", "whsec_"])


def test_every_part_is_signed() -> None:
    refused(RAW + b" ", headers(RAW))
    refused(sent=headers(webhook_id="msg_2"))
    refused(sent=headers(webhook_timestamp=stamp(1)))
    refused(json.dumps(json.loads(RAW), separators=(",", ":")).encode(), headers(RAW))


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_refused(missing: str) -> None:
    refused(sent={name: value for name, value in headers().items() if name != missing})


@pytest.mark.parametrize(
    "text", ["", "v1", "v1,", "v1,a", "v1,é", "v2," + "A" * 44, ",", " ", "  ", "v1,\ud800", "v1 " + "A" * 44]
)
def test_a_malformed_signature_is_refused(text: str) -> None:
    refused(sent=headers(webhook_signature=text))


@pytest.mark.parametrize("offset", [-300, -299, 0, 299, 300])
def test_a_time_within_five_minutes_is_good(offset: int) -> None:
    sent_at = stamp(offset)
    sent = headers(webhook_timestamp=sent_at, webhook_signature=signature(RAW, sent_at=sent_at))
    assert check(sent=sent).event_id == "evt_1"


@pytest.mark.parametrize(
    "sent_at",
    [
        stamp(-301),
        stamp(301),
        stamp(31536000),
        "abc",
        "nan",
        "NaN",
        "1.9e9",
        "-1",
        "1" + "0" * 20,
        stamp() + ".5",
        f" {stamp()}",
        f"{stamp()}\n",
        stamp().translate({48 + n: 1632 + n for n in range(10)}),
    ],
)
def test_a_time_outside_or_no_time_is_refused(sent_at: str) -> None:
    refused(sent=headers(webhook_timestamp=sent_at, webhook_signature=signature(RAW, sent_at=sent_at)))


def test_the_tolerance_can_be_set() -> None:
    sent_at = stamp(-301)
    sent = headers(webhook_timestamp=sent_at, webhook_signature=signature(RAW, sent_at=sent_at))
    assert check(sent=sent, tolerance_seconds=400).event_id == "evt_1"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"null",
        b'"text"',
        b'{"id":',
        b"\xff\xfe{\x00",
        b'\xef\xbb\xbf{"id":"evt_d"}',
        b'{"id":"a","id":"b"}',
        b'{"id":NaN}',
        b'{"id":' + b"9" * 5000 + b"}",
        b"[" * 60_000,
        b'{"a":' * 70 + b"1" + b"}" * 70,
    ],
)
def test_signed_junk_is_a_bad_event(raw: bytes) -> None:
    with pytest.raises(BadEvent) as caught:
        check(raw)
    assert caught.value.http_status == 400


def test_an_event_over_64_kb_is_not_read() -> None:
    fits = b'{"a":"' + b"x" * (MAX_EVENT_BYTES - 8) + b'"}'
    assert len(fits) == MAX_EVENT_BYTES
    assert check(fits).type == ""
    with pytest.raises(BadEvent, match="65536"):
        check(fits + b" ")


@pytest.mark.parametrize(
    ("body_id", "identity"), [("evt_9", "evt_9"), (9, "9"), (None, "msg_1"), ("", "msg_1"), (True, "msg_1")]
)
def test_an_event_is_known_by_its_id_else_by_the_header(body_id: Any, identity: str) -> None:
    assert check(json.dumps(EVENT | {"id": body_id}).encode()).event_id == identity


def test_an_id_that_cannot_be_stored_gives_way() -> None:
    unusable: list[Any] = ["x" * 129, "a b", "a\n", "é", {}, []]
    for bad in unusable:
        assert check(json.dumps(EVENT | {"id": bad}).encode()).event_id == "msg_1"


def test_without_any_id_the_event_is_known_by_its_bytes() -> None:
    raw = b'{"type":"card_deposit.failed"}'
    mac = hmac.new(b"plain secret", raw, hashlib.sha256).hexdigest()
    got = check(raw, {"X-Signature": mac}, secrets=["plain secret"], scheme="hmac")
    assert got.event_id == got.raw_sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize("data", [None, [], "text", 5])
def test_data_that_is_no_object_reads_as_empty(data: Any) -> None:
    assert check(json.dumps(EVENT | {"data": data}).encode()).data == {}


def test_data_is_fit_to_store_and_without_card_secrets() -> None:
    event = EVENT | {"data": {"depositId": "d\0", "card": {"pan": "4111111111111111", "last4": "1111"}}}
    got = check(json.dumps(event).encode())
    assert got.data == {"depositId": "d\\u0000", "card": {"last4": "1111"}}
    assert "last4" not in repr(got)


def test_an_unknown_type_is_kept() -> None:
    assert check(json.dumps(EVENT | {"type": "card.frozen"}).encode()).type == "card.frozen"
    assert check(json.dumps(EVENT | {"type": None}).encode()).type == ""


def plain_mac(raw: bytes = RAW, secret: str = "plain secret") -> str:
    return hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def test_a_plain_hmac_is_read_from_the_named_header() -> None:
    options: dict[str, Any] = {
        "secrets": ["older", "plain secret"],
        "scheme": "hmac",
        "header": "X-Endl-Signature",
    }
    for mac in (plain_mac(), plain_mac().upper()):
        assert check(sent={"x-endl-signature": mac}, **options).event_id == "evt_1"
    refused(sent={"x-signature": plain_mac()}, **options)


@pytest.mark.parametrize(
    "mac", ["", "zz", plain_mac()[:-1], plain_mac() + "0", "sha256=" + plain_mac(), plain_mac(b"x")]
)
def test_a_plain_hmac_that_is_wrong_is_refused(mac: str) -> None:
    refused(sent={"X-Signature": mac}, secrets=["plain secret"], scheme="hmac")


def test_an_empty_plain_secret_signs_nothing() -> None:
    refused(sent={"X-Signature": plain_mac(secret="")}, secrets=[""], scheme="hmac")


@given(
    raw=st.binary(max_size=100),
    sent=st.dictionaries(
        st.sampled_from(["webhook-id", "Webhook-Timestamp", "webhook-signature", "X-Signature"]),
        st.text() | st.just(stamp()) | st.text().map(lambda text: "v1," + text),
    ),
    secrets=st.lists(st.text() | st.just(SECRET), max_size=3),
    scheme=st.sampled_from(["standard", "hmac"]),
)
def test_whatever_comes_is_refused_in_one_of_two_ways(
    raw: bytes, sent: dict[str, str], secrets: list[str], scheme: str
) -> None:
    with pytest.raises(WebhookRefused):
        check(raw, sent, secrets=secrets, scheme=scheme)


@given(raw=st.binary(max_size=300))
def test_any_signed_bytes_are_an_event_or_a_bad_event(raw: bytes) -> None:
    with pytest.raises(BadEvent):
        check(raw)
