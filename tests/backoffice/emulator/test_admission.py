"""The checks before every operation: each refuses, and in Endl's order."""

import socket
from typing import Any

import pytest

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import COMPANY, Api, refusal

LIST = f"/customer/{COMPANY}/card-users"


@pytest.mark.parametrize(
    ("headers", "switches", "expected"),
    [
        ({"Api-Key": "wrong"}, {"allowlisted": False}, (401, "ERRCORE_1004")),
        ({"Api-Key": None}, {}, (401, "ERRCORE_1004")),
        ({"Api-Version": None}, {"allowlisted": False}, (403, "IP_NOT_ALLOWLISTED")),
        ({"Api-Version": None}, {"permitted": False}, (400, "ERRCORE_1001")),
        ({"Api-Version": "2020-01.1"}, {}, (400, "ERRCORE_1001")),
        ({}, {"permitted": False, "rate_per_second": 0}, (403, "ERRCORE_1005")),
        ({}, {"rate_per_second": 0.001}, (200, None)),
    ],
)
def test_each_header_is_checked_in_its_turn(
    api: Api, headers: dict[str, Any], switches: dict[str, Any], expected: tuple[int, str | None]
) -> None:
    api.emulator.settings(**switches)
    answer = api.get(LIST, headers=headers)
    assert (answer.status_code, None) == expected if answer.ok else refusal(answer) == expected


def test_a_version_error_names_the_header(api: Api) -> None:
    answer = api.get(LIST, headers={"Api-Version": "x"})
    assert answer.json()["errors"][0]["field"] == "Api-Version"


def test_too_many_calls_are_told_to_wait(api: Api) -> None:
    api.emulator.settings(rate_per_second=0.01, rate_retry_after="7")
    assert api.get(LIST).ok
    answer = api.get(LIST)
    assert refusal(answer) == (429, "ERRCORE_1006")
    assert answer.headers["Retry-After"] == "7"


def test_a_post_needs_a_json_content_type(api: Api) -> None:
    answer = api.post(LIST, {}, headers={"Content-Type": "text/plain"})
    assert refusal(answer) == (400, "ERRCRD_1005")
    assert answer.json()["message"].startswith("Content-Type")


@pytest.mark.parametrize("key", [None, "", "k" * 65])
def test_a_deposit_needs_a_key_of_1_to_64_characters(api: Api, key: str | None) -> None:
    assert refusal(api.deposit(key=key)) == (400, "ERRCRD_1005")
    assert api.emulator.ledger() == []


def test_a_key_of_64_characters_is_good(api: Api) -> None:
    assert api.deposit(key="k" * 64).status_code == 201


def test_cards_need_no_key_unless_a_switch_says_so(api: Api) -> None:
    assert api.issue().status_code == 201
    api.emulator.settings(keys_required=["issue_card"])
    assert refusal(api.issue()) == (400, "ERRCRD_1005")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"text"', b'{"a": NaN}', b"[" * 50_000])
def test_a_body_must_be_a_json_object(api: Api, body: bytes) -> None:
    answer = api.post(LIST, body)
    assert refusal(answer) == (400, "ERRCRD_1005")
    assert answer.json()["message"].startswith("body")


def test_a_body_beyond_the_cap_is_refused(api: Api) -> None:
    api.emulator.settings(max_body_bytes=100)
    assert api.post(LIST, b" " * 101).json()["message"] == "body is too large"


def test_an_unknown_field_is_ignored_or_refused_by_switch(api: Api) -> None:
    assert api.issue(invented=1).ok
    api.emulator.settings(unknown_fields="refuse")
    assert api.issue(invented=1).json()["message"].startswith("invented")


def test_a_switch_names_the_field(api: Api) -> None:
    assert api.issue(0).json()["errors"][0]["field"] is None
    api.emulator.settings(name_field=True)
    assert api.issue(0).json()["errors"][0]["field"] == "amountInUSDCents"


def test_unknown_paths_and_methods_are_refused_in_the_envelope(api: Api) -> None:
    assert refusal(api.get("/nowhere")) == (404, None)
    answer = api.call("DELETE", f"/api/v0{LIST}")
    assert refusal(answer) == (405, None)
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "POST"}
    api.emulator.settings(uncoded="generic")
    assert refusal(api.get("/nowhere")) == (404, "ERROR")


@pytest.mark.parametrize("operation", ["list_deposits", "list_cardholders"])
@pytest.mark.parametrize("status", [404, 405, 501])
def test_assumed_reads_can_be_missing(api: Api, operation: str, status: int) -> None:
    api.emulator.settings(reads_off=[operation], reads_off_status=status)
    path = f"/cards/{COMPANY}/deposits" if operation == "list_deposits" else LIST
    assert refusal(api.get(path)) == (status, None)


def test_a_malformed_request_line_is_refused_in_the_envelope(emulator: Emulator) -> None:
    with socket.create_connection(("127.0.0.1", emulator.port), timeout=5) as line:
        line.sendall(b"nonsense\r\n\r\n")
        said = b"".join(iter(lambda: line.recv(4096), b""))
    assert said.startswith(b"HTTP/1.1 400")
    assert b'"status":"ERROR"' in said
