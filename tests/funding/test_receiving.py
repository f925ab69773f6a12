"""The door for webhooks: what is let in, what is not, and what is answered."""

import base64
import hashlib
import hmac
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from funding import webhooks
from funding.models import WebhookEvent
from tests.funding.conftest import HOOK, an_event, deliver, signed

pytestmark = pytest.mark.django_db
State = WebhookEvent.State


class TestTheDoor:
    def test_stores_a_signed_event(self) -> None:
        raw = an_event(depositId="cdp_1", customerId="cus_1", status="completed")
        assert deliver(raw).status_code == 202
        event = WebhookEvent.objects.get()
        assert (event.event_id, event.type, event.state) == (
            "evt_1",
            "card_deposit.completed",
            State.RECEIVED,
        )
        assert (event.object_endl_id, event.customer_endl_id) == ("cdp_1", "cus_1")
        assert event.data == {"depositId": "cdp_1", "customerId": "cus_1", "status": "completed"}
        assert event.raw_sha256 == hashlib.sha256(raw).hexdigest()

    def test_asks_nobody_to_sign_in_and_needs_no_csrf_token(self) -> None:
        assert deliver(an_event(), browser=Browser(enforce_csrf_checks=True)).status_code == 202

    @pytest.mark.parametrize("method", ["get", "head", "put", "delete", "patch", "options"])
    def test_answers_405_to_anything_but_a_post(self, method: str) -> None:
        assert getattr(Browser(), method)(HOOK).status_code == 405

    def test_answers_404_while_no_secret_is_set(self, settings: Settings) -> None:
        settings.ENDL_WEBHOOK_SECRETS = []
        assert deliver(an_event()).status_code == 404
        assert not WebhookEvent.objects.exists()

    @pytest.mark.parametrize("trouble", [OperationalError("gone"), InterfaceError("closed")])
    def test_answers_503_when_it_cannot_be_stored(
        self, monkeypatch: pytest.MonkeyPatch, trouble: Exception
    ) -> None:
        def fail(*_args: Any, **_kwargs: Any) -> None:
            raise trouble

        monkeypatch.setattr(webhooks, "store", fail)
        assert deliver(an_event()).status_code == 503

    def test_does_at_most_a_look_and_an_insert(
        self, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        with django_assert_max_num_queries(5) as seen:  # the test's own savepoints among them
            deliver(an_event())
        assert sum("INSERT" in query["sql"] for query in seen) == 1

    def test_answers_202_although_no_bell_is_heard(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from celery import current_app

        def no_broker(*_args: Any, **_kwargs: Any) -> None:
            raise ConnectionError("no broker")

        monkeypatch.setattr(current_app, "send_task", no_broker)
        assert deliver(an_event()).status_code == 202
        assert [event.event_id for event in webhooks.waiting(now=timezone.now())] == ["evt_1"]


class TestSignatures:
    @pytest.mark.parametrize("seconds", [-299, 0, 299])
    def test_a_time_within_five_minutes_is_good(self, seconds: int) -> None:
        raw = an_event()
        assert deliver(raw, at=timezone.now() + timedelta(seconds=seconds)).status_code == 202

    @pytest.mark.parametrize("seconds", [-302, 302, 365 * 86400])
    def test_a_time_further_away_is_not(self, seconds: int) -> None:
        raw = an_event()
        assert deliver(raw, at=timezone.now() + timedelta(seconds=seconds)).status_code == 401

    @pytest.mark.parametrize(
        "at",
        [
            "nan",
            "inf",
            "-1",
            "1.9e9",
            "0x1",
            "9" * 20,
            "",
            " ",
            "\u0661\u0667\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660",
            "1700000000.5",
            "+1",
        ],
    )
    def test_a_time_that_is_no_number_of_seconds_is_refused(self, at: str) -> None:
        raw = an_event()
        assert deliver(raw, headers=_latin(signed(raw, at=at))).status_code == 401

    @pytest.mark.parametrize(
        "signature",
        [
            "",
            "v1",
            "v1,",
            "v1,a",
            "v1,é",
            "v2,AAAA",
            ",",
            "v1,  v1,",
            "v1,AAAA,v1,AAAA",
            "x" * 10_000,
            "v1,A " * 2000,
            "v1a," + "A" * 44,
            "\xff\xfe",
            "v1," + "=" * 44,
        ],
    )
    def test_an_odd_signature_is_refused_and_nothing_breaks(self, signature: str) -> None:
        raw = an_event()
        assert deliver(raw, headers={**signed(raw), "webhook-signature": signature}).status_code == 401
        assert not WebhookEvent.objects.exists()

    @pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
    def test_each_header_is_needed(self, missing: str) -> None:
        raw = an_event()
        headers = {name: value for name, value in signed(raw).items() if name != missing}
        assert deliver(raw, headers=headers).status_code == 401

    def test_another_secret_is_refused(self) -> None:
        assert deliver(an_event(), key=b"somebody else's secret").status_code == 401

    def test_a_changed_body_is_refused(self) -> None:
        raw = an_event(depositId="cdp_1")
        assert deliver(raw.replace(b"cdp_1", b"cdp_2"), headers=signed(raw)).status_code == 401

    def test_two_signatures_of_which_one_is_right_are_good(self) -> None:
        raw = an_event()
        right = signed(raw)
        wrong = "v1," + base64.b64encode(bytes(32)).decode()
        headers = {**right, "webhook-signature": f"{wrong} {right['webhook-signature']}"}
        assert deliver(raw, headers=headers).status_code == 202

    def test_an_older_secret_is_good_while_it_is_listed(self, settings: Settings) -> None:
        settings.ENDL_WEBHOOK_SECRETS = [
            "whsec_" + base64.b64encode(b"the new one").decode(),
            *settings.ENDL_WEBHOOK_SECRETS,
        ]
        assert deliver(an_event()).status_code == 202

    def test_a_plain_hmac_is_good_where_a_setting_says_so(self, settings: Settings) -> None:
        settings.ENDL_WEBHOOK_SCHEME, settings.ENDL_WEBHOOK_HEADER = "hmac", "X-Endl-Signature"
        settings.ENDL_WEBHOOK_SECRETS = ["plain text"]
        raw = an_event()
        mac = hmac.digest(b"plain text", raw, "sha256").hex()
        assert deliver(raw, headers={"X-Endl-Signature": mac}).status_code == 202
        assert deliver(raw, headers={"X-Endl-Signature": mac[:-1] + "0"}).status_code in (202, 401)
        assert deliver(raw, headers={"X-Endl-Signature": "00" * 32}).status_code == 401
        assert deliver(raw).status_code == 401


class TestBodies:
    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"[]",
            b"null",
            b"42",
            b'"text"',
            b"{",
            b"{}garbage",
            b"\xef\xbb\xbf{}",
            b"\xff\xfe{",
            b'{"a":1,"a":2}',
            b'{"a":NaN}',
            b'{"data":{"amount":1,"amount":2}}',
            b"[" * 30_000,
            b'{"a":' + b"9" * 5000 + b"}",
        ],
    )
    def test_what_is_no_event_is_answered_400_though_signed(self, raw: bytes) -> None:
        assert deliver(raw).status_code == 400
        assert not WebhookEvent.objects.exists()

    @pytest.mark.parametrize("length", [None, "0", "10", "abc", "-5", "\u0663", "9" * 30])
    def test_over_64_kb_is_never_stored_whatever_the_length_says(self, length: str | None) -> None:
        raw = b'{"id":"e","data":"' + b"x" * 70_000 + b'"}'
        more: Any = {} if length is None else {"CONTENT_LENGTH": length}
        answer = Browser().post(HOOK, data=raw, content_type="application/json", headers=signed(raw), **more)
        assert answer.status_code in (401, 413)
        assert not WebhookEvent.objects.exists()

    def test_over_64_kb_is_413(self) -> None:
        assert deliver(b'{"data":"' + b"x" * 65_536 + b'"}').status_code == 413

    def test_nul_and_half_characters_are_kept_written_out(self) -> None:
        raw = b'{"id":"evt_1","type":"odd\\u0000","data":{"depositId":"cdp_1","note":"a\\u0000b\\ud800c"}}'
        assert deliver(raw).status_code == 202
        event = WebhookEvent.objects.get()
        assert event.data["note"] == "a\\u0000b\\ud800c"
        assert event.type == "odd\\u0000"

    def test_values_too_long_for_their_columns_are_kept_in_the_data(self) -> None:
        long = "x" * 5000
        assert deliver(an_event(kind=long, depositId=long, customerId=long)).status_code == 202
        event = WebhookEvent.objects.get()
        assert (event.object_endl_id, event.customer_endl_id) == ("", "")
        assert event.data["depositId"] == long
        assert event.state == State.UNKNOWN_TYPE

    @pytest.mark.parametrize("data", [[], "text", 3, None, [{"depositId": "cdp_1"}]])
    def test_data_that_is_no_object_is_kept_as_an_event_without_data(self, data: Any) -> None:
        raw = json.dumps({"id": "evt_1", "type": "card_deposit.failed", "data": data}).encode()
        assert deliver(raw).status_code == 202
        assert WebhookEvent.objects.get().data == {}

    def test_numbers_stay_exact(self) -> None:
        raw = b'{"id":"evt_1","type":"t","data":{"amount":{"amount":100000000000000000.01,"currency":"USD"}}}'
        assert deliver(raw).status_code == 202
        assert WebhookEvent.objects.get().data["amount"]["amount"] == "100000000000000000.01"

    def test_card_secrets_are_not_kept(self) -> None:
        assert (
            deliver(an_event(depositId="cdp_1", cvv="123", card={"number": "4111111111111111"})).status_code
            == 202
        )
        assert "4111111111111111" not in json.dumps(WebhookEvent.objects.get().data)
        assert "cvv" not in WebhookEvent.objects.get().data

    def test_an_unknown_type_is_listed_not_dropped(self) -> None:
        assert deliver(an_event(kind="card_moon.landed")).status_code == 202
        assert WebhookEvent.objects.get().state == State.UNKNOWN_TYPE

    def test_without_an_id_the_header_names_it_else_the_body(self) -> None:
        raw = b'{"type":"card_deposit.completed","data":{}}'
        deliver(raw, event_id="from_the_header")
        assert WebhookEvent.objects.get().event_id == "from_the_header"


class TestAgain:
    def test_a_duplicate_only_counts(self) -> None:
        raw = an_event(depositId="cdp_1")
        assert [deliver(raw).status_code for _ in range(3)] == [202, 202, 202]
        event = WebhookEvent.objects.get()
        assert (event.deliveries, event.has_conflict) == (3, False)

    def test_the_same_id_with_another_body_is_a_conflict_and_the_first_counts(self) -> None:
        deliver(an_event(depositId="cdp_1"))
        deliver(an_event(depositId="cdp_2"))
        event = WebhookEvent.objects.get()
        assert (event.deliveries, event.has_conflict, event.object_endl_id) == (2, True, "cdp_1")

    @pytest.mark.django_db(transaction=True)
    def test_fifty_at_once_make_one_row(self) -> None:
        raw = an_event(depositId="cdp_1")

        def one(_: int) -> int:
            try:
                return int(deliver(raw).status_code)
            finally:
                connection.close()

        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(one, range(50)))
        assert set(answers) == {202}
        assert WebhookEvent.objects.get().deliveries == 50


def _latin(headers: dict[str, str]) -> dict[str, str]:
    """As WSGI hands over bytes that are no ASCII."""
    return {name: value.encode().decode("latin-1") for name, value in headers.items()}
