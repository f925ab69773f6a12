"""Each fault, as a client meets it."""

import socket
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
import requests

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import COMPANY, WALLET, Api, refusal

LIST = f"/cards/{COMPANY}/deposits"
WHENS = pytest.mark.parametrize(("when", "effects"), [("before", 0), ("after", 1)])


def raw(emulator: Emulator, *, seconds: float = 2) -> bytes:
    """The very bytes of an answer to a list of deposits, until the line closes or the time is over."""
    headers = f"Host: x\r\nApi-Key: {emulator.api_key}\r\nApi-Version: 2026-09.1\r\nConnection: close"
    head = f"GET /api/v0{LIST} HTTP/1.1\r\n{headers}\r\n\r\n"
    said = b""
    with socket.create_connection(("127.0.0.1", emulator.port), timeout=seconds) as line:
        line.sendall(head.encode())
        try:
            while piece := line.recv(65536):
                said += piece
        except TimeoutError:
            pass
    return said


def test_a_fault_strikes_as_often_as_planned(api: Api) -> None:
    api.emulator.fault(operation="list_*", kind="status", code=500, times=2, skip=1)
    assert [api.get(LIST).status_code for _ in range(4)] == [200, 500, 500, 200]


def test_a_fault_with_times_minus_one_strikes_until_cleared(api: Api) -> None:
    api.emulator.fault(operation="*", kind="status", code=503, times=-1)
    assert {api.get(LIST).status_code for _ in range(5)} == {503}
    assert api.control("state")["faults"][0]["times"] == -1
    api.emulator.clear_faults()
    assert api.get(LIST).ok


def test_a_fault_strikes_only_its_operation_and_customer(api: Api) -> None:
    api.emulator.fault(operation="get_deposit", kind="drop", times=-1)
    api.emulator.fault(operation="list_deposits", customer="cus_person", kind="status", times=-1)
    assert api.get(LIST).ok
    assert api.get("/cards/cus_person/deposits").status_code == 502


def test_a_fault_without_probability_never_strikes_at_nought(api: Api) -> None:
    api.emulator.fault(operation="*", kind="status", times=-1, probability=0)
    assert all(api.get(LIST).ok for _ in range(10))


@WHENS
def test_drop_is_a_reset(api: Api, when: str, effects: int) -> None:
    api.emulator.fault(operation="start_deposit", kind="drop", when=when)
    with pytest.raises(requests.ConnectionError) as caught:
        api.deposit()
    assert "reset" in str(caught.value).lower()
    assert len(api.emulator.ledger()) == effects
    assert api.deposit().status_code == 201
    assert len(api.emulator.ledger()) == 1


@WHENS
def test_close_says_nothing(api: Api, when: str, effects: int) -> None:
    api.emulator.fault(operation="start_deposit", kind="close", when=when)
    with pytest.raises(requests.ConnectionError):
        api.deposit()
    assert len(api.emulator.ledger()) == effects


@WHENS
def test_hang_keeps_the_client_waiting(api: Api, when: str, effects: int) -> None:
    api.emulator.fault(operation="start_deposit", kind="hang", seconds=30, when=when)
    with pytest.raises(requests.Timeout):
        api.post(
            LIST, {"walletId": WALLET, "amount": {"amount": "1", "currency": "USDC"}}, key="k", timeout=0.3
        )
    assert len(api.emulator.ledger()) == effects


def test_a_hang_may_answer_late(api: Api) -> None:
    api.emulator.fault(operation="list_deposits", kind="hang", seconds=0.3, when="after")
    began = time.monotonic()
    assert api.get(LIST).ok
    assert time.monotonic() - began >= 0.3


@WHENS
def test_status_replaces_the_answer(api: Api, when: str, effects: int) -> None:
    api.emulator.fault(operation="start_deposit", kind="status", code=502, when=when)
    assert refusal(api.deposit()) == (502, None)
    assert len(api.emulator.ledger()) == effects


def test_status_can_bear_a_proxys_page_or_any_body(api: Api) -> None:
    api.emulator.fault(operation="*", kind="status", code=504, html=True)
    assert api.get(LIST).text.startswith("<html>")
    api.emulator.fault(operation="*", kind="status", code=200, body="")
    assert api.get(LIST).content == b""
    api.emulator.fault(operation="*", kind="status", code=201, body={"odd": 1})
    assert api.get(LIST).json() == {"odd": 1}


@WHENS
def test_error_answers_one_of_endls_codes(api: Api, when: str, effects: int) -> None:
    api.emulator.fault(operation="issue_card", kind="error", code="ERRCRD_1009", when=when)
    assert refusal(api.issue(key="k")) == (502, "ERRCRD_1009")
    assert len(api.emulator.ledger()) == effects


@pytest.mark.parametrize("at", [0, 1, 20])
def test_truncate_promises_more_than_it_sends(api: Api, at: int) -> None:
    api.emulator.seed(deposits=[{"customerId": COMPANY}])
    whole = api.get(LIST).content
    api.emulator.fault(operation="list_deposits", kind="truncate", at=at)
    head, _, body = raw(api.emulator).partition(b"\r\n\r\n")
    assert f"Content-Length: {len(whole)}".encode() in head
    assert body == whole[:at]


def test_truncate_can_lie_about_the_length_too(api: Api) -> None:
    api.emulator.seed(deposits=[{"customerId": COMPANY}])
    api.emulator.fault(operation="list_deposits", kind="truncate", at=5, length="cut")
    assert len(api.get(LIST).content) == 5


@pytest.mark.parametrize(
    ("mutation", "is_right"),
    [
        ("absent", lambda money: "amount" not in money),
        ("null", lambda money: money["amount"] is None),
        ("list", lambda money: money["amount"] == ["10.00"]),
        ("object", lambda money: money["amount"] == {"value": "10.00"}),
        ("number", lambda money: money["amount"] == 42),
        ("huge", lambda money: len(money["amount"]) == 1_000_000),
        ("nan", lambda money: money["amount"] != money["amount"]),
        ("surrogate", lambda money: money["amount"] == "\ud800"),
    ],
)
def test_mutate_spoils_one_field(api: Api, mutation: str, is_right: Callable[[dict[str, Any]], bool]) -> None:
    api.emulator.fault(operation="start_deposit", kind="mutate", field="amount.amount", mutation=mutation)
    assert is_right(api.deposit().json()["amount"])
    assert api.emulator.ledger()[0]["amount"] == "10.00"


def test_mutate_goes_through_lists_and_takes_a_value(api: Api) -> None:
    api.emulator.seed(deposits=[{"customerId": COMPANY}, {"customerId": COMPANY}])
    api.emulator.fault(
        operation="list_deposits", kind="mutate", field="status", mutation="value", value="odd"
    )
    assert [one["status"] for one in api.get(LIST).json()] == ["odd", "odd"]


def test_slow_trickles(api: Api) -> None:
    api.emulator.fault(operation="list_deposits", kind="slow", bytes_per_second=100)
    began = time.monotonic()
    said = raw(api.emulator)
    assert said.endswith(b"[]")
    assert time.monotonic() - began > len(said) / 100


def test_redirect_points_elsewhere(api: Api) -> None:
    api.emulator.fault(operation="*", kind="redirect", location="http://127.0.0.1:1/")
    answer = api.get(LIST)
    assert (answer.status_code, answer.headers["Location"]) == (302, "http://127.0.0.1:1/")


@pytest.mark.parametrize("wait", [None, "absent", 1, 0, -1, "999999", "garbage"])
def test_throttle_says_how_long_as_it_was_told(api: Api, wait: object) -> None:
    api.emulator.fault(operation="*", kind="throttle", retry_after=wait)
    answer = api.get(LIST)
    assert refusal(answer) == (429, "ERRCORE_1006")
    expected = None if wait in (None, "absent") else str(wait)
    assert answer.headers.get("Retry-After") == expected


def test_throttle_can_give_a_date(api: Api) -> None:
    api.emulator.fault(operation="*", kind="throttle", retry_after="date", seconds=60)
    when = parsedate_to_datetime(api.get(LIST).headers["Retry-After"]).timestamp()
    assert 55 < when - time.time() <= 60


def test_bomb_grows_when_unpacked(api: Api) -> None:
    api.emulator.fault(operation="*", kind="bomb", size=1_000_000)
    said = raw(api.emulator, seconds=0.5)
    assert len(said) < 5_000
    api.emulator.fault(operation="*", kind="bomb", size=1_000_000)
    assert len(api.get(LIST).content) == 1_000_000


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "nonsense"},
        {"kind": "drop", "when": "never"},
        {"kind": "drop", "times": "often"},
        {"kind": "error", "code": "ERR"},
        {"kind": "mutate", "mutation": "odd"},
        {"kind": "lost"},
        {"operation": "webhook", "kind": "drop"},
    ],
)
def test_a_fault_that_means_nothing_is_refused(api: Api, fault: dict[str, object]) -> None:
    assert api.call("POST", "/_control/faults", json=fault).status_code == 400
    assert api.control("faults") == []


def test_requests_are_counted_even_when_they_fail(api: Api) -> None:
    api.emulator.fault(operation="start_deposit", kind="status", code=502, when="after")
    for _ in range(2):
        api.deposit(key="k")
    seen = api.emulator.requests_seen()
    assert seen["counts"] == [{"operation": "start_deposit", "key": "k", "count": 2}]
    assert [one["status"] for one in seen["last"]] == ["201", "status after"]
