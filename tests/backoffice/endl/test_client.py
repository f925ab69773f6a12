"""The reads: pages, tries, and when to stop."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from backoffice.endl import (
    Client,
    EndlError,
    NotFound,
    NotSent,
    OursToFix,
    Rejected,
    ServerTrouble,
    Throttled,
    UnreadableAnswer,
    Unsupported,
)
from tests.backoffice.endl.rogue import Behaviour, answer, free_port, resets, running, says, says_and_hangs_up


def page(value: Any) -> Behaviour:
    return says(answer(200, json.dumps(value)))


def deposits(*ids: str) -> list[dict[str, str]]:
    return [{"depositId": own, "status": "pending"} for own in ids]


def line_to(url: str, *, slept: list[float] | None = None, **options: Any) -> Client:
    sleep = (slept if slept is not None else []).append
    return Client(base_url=url, api_key="k", read_seconds=1, total_seconds=5, sleep=sleep, **options)


def listed(*pages: Any) -> tuple[list[str], int, list[bytes]]:
    with running(*map(page, pages)) as server, line_to(server.url) as endl:
        listing = endl.list_deposits("cus_1")
    return [item.deposit_id for item in listing.items], listing.unreadable, server.requests


@pytest.mark.parametrize("name", ["items", "data", "deposits", "whatever"])
def test_a_list_is_a_bare_array_or_the_only_array_of_an_object(name: str) -> None:
    assert listed(deposits("a", "b"))[0] == ["a", "b"]
    assert listed({name: deposits("a"), "total": 9, "nextCursor": None})[0] == ["a"]
    assert listed([])[0] == []


@pytest.mark.parametrize("body", [None, 5, {}, {"a": [], "b": []}, {"error": "no"}, "text"])
def test_anything_else_is_no_list(body: Any) -> None:
    with pytest.raises(UnreadableAnswer):
        listed(body)


def test_pages_are_walked_by_cursor_through_empty_ones() -> None:
    pages = [
        {"items": deposits("a"), "nextCursor": "c/1 &"},
        {"items": [], "nextCursor": 2},
        {"items": deposits("b")},
    ]
    ids, _, requests = listed(*pages)
    assert ids == ["a", "b"]
    lines = [request.split(b"\r\n")[0] for request in requests]
    assert lines[0] == b"GET /api/v0/cards/cus_1/deposits HTTP/1.1"
    assert lines[1].endswith(b"?cursor=c%2F1+%26 HTTP/1.1")
    assert lines[2].endswith(b"?cursor=2 HTTP/1.1")


def test_an_empty_cursor_is_the_end() -> None:
    assert listed({"items": deposits("a"), "nextCursor": ""})[0] == ["a"]


def test_a_cursor_that_comes_twice_stops_with_an_error() -> None:
    with pytest.raises(UnreadableAnswer, match="circles"):
        listed({"items": deposits("a"), "nextCursor": "same"})


def test_pages_without_end_stop_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backoffice.endl.client.MAX_PAGES", 3)
    with pytest.raises(UnreadableAnswer, match="end"):
        listed(*({"items": [], "nextCursor": str(n)} for n in range(5)))


@pytest.mark.parametrize("cursor", [True, {}, [1], "a\u0000", "x" * 3000, "\ud800"])
def test_a_cursor_that_is_none_stops_with_an_error(cursor: Any) -> None:
    with pytest.raises(UnreadableAnswer):
        listed({"items": deposits("a"), "nextCursor": cursor})


def test_an_item_that_moved_to_the_next_page_counts_once_and_the_later_reading_holds() -> None:
    later = [{"depositId": "b", "status": "completed"}, *deposits("c")]
    pages = [{"items": deposits("a", "b"), "nextCursor": "2"}, {"items": later}]
    with running(*map(page, pages)) as server, line_to(server.url) as endl:
        items = endl.list_deposits("cus_1").items
    assert [(item.deposit_id, item.status) for item in items] == [
        ("a", "pending"),
        ("b", "completed"),
        ("c", "pending"),
    ]


def test_bad_items_are_counted_and_do_not_spoil_the_list() -> None:
    bad = [{"depositId": None}, {"status": "pending"}, "text", None, {"depositId": "a/b"}]
    ids, unreadable, _ = listed([*deposits("a"), *bad, *deposits("b")])
    assert (ids, unreadable) == (["a", "b"], 5)


@pytest.mark.parametrize(
    ("read", "path", "body"),
    [
        (lambda e: e.list_cardholders("cus_1"), "/api/v0/customer/cus_1/card-users", []),
        (lambda e: e.list_deposits("cus_1"), "/api/v0/cards/cus_1/deposits", []),
        (lambda e: e.list_withdrawals("cus_1"), "/api/v0/cards/cus_1/withdrawals", []),
        (
            lambda e: e.get_deposit("cus_1", "cdp_1"),
            "/api/v0/cards/cus_1/deposits/cdp_1",
            {"depositId": "cdp_1"},
        ),
        (
            lambda e: e.get_withdrawal("cus_1", "cwd_1"),
            "/api/v0/cards/cus_1/withdrawals/cwd_1",
            {"withdrawalId": "cwd_1"},
        ),
    ],
)
def test_each_read_asks_its_path_without_a_key(read: Callable[[Client], Any], path: str, body: Any) -> None:
    with running(page(body)) as server, line_to(server.url) as endl:
        read(endl)
    assert server.requests[0].startswith(f"GET {path} HTTP/1.1".encode())
    assert b"Idempotency-Key" not in server.requests[0]


@pytest.mark.parametrize(
    "trouble",
    [
        resets,
        says_and_hangs_up(b""),
        says(answer(502, "<html>")),
        says(answer(503, "")),
        says(answer(429, "{}")),
    ],
    ids=["reset", "closed", "502", "503", "429"],
)
def test_a_read_tries_again_after_trouble(trouble: Behaviour) -> None:
    slept: list[float] = []
    with running(trouble, trouble, page([])) as server, line_to(server.url, slept=slept) as endl:
        assert endl.list_deposits("cus_1").items == []
    assert len(server.requests) == 3
    assert len(slept) == 2


def test_the_last_trouble_is_reported_when_all_tries_are_used() -> None:
    with (
        running(says(answer(429, '{"message":"slow down"}'))) as server,
        line_to(server.url) as endl,
        pytest.raises(Throttled, match="slow down"),
    ):
        endl.list_deposits("cus_1")
    assert len(server.requests) == 4


def test_delays_double_with_jitter_between_half_a_second_and_five() -> None:
    slept: list[float] = []
    with running(says(answer(500, ""))) as server, line_to(server.url, slept=slept, retries=6) as endl:
        endl._patience_seconds = 1000
        with pytest.raises(ServerTrouble):
            endl.list_deposits("cus_1")
    longest = [1.0, 2.0, 4.0, 5.0, 5.0, 5.0]
    assert len(slept) == 6
    assert all(max(0.5, top / 2) <= delay <= top for delay, top in zip(slept, longest, strict=True))


def test_a_refused_connection_is_tried_again_too() -> None:
    slept: list[float] = []
    with line_to(f"http://127.0.0.1:{free_port()}", slept=slept) as endl, pytest.raises(NotSent):
        endl.list_deposits("cus_1")
    assert len(slept) == 3


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, Rejected), (401, OursToFix), (403, Rejected), (404, NotFound), (302, UnreadableAnswer)],
)
def test_a_clear_answer_is_not_asked_for_again(status: int, kind: type[EndlError]) -> None:
    with running(says(answer(status, ""))) as server, line_to(server.url) as endl, pytest.raises(kind):
        endl.get_withdrawal("cus_1", "cwd_1")
    assert len(server.requests) == 1


def test_a_page_of_html_is_not_asked_for_again() -> None:
    with (
        running(says(answer(200, "<!DOCTYPE html>"))) as server,
        line_to(server.url) as endl,
        pytest.raises(UnreadableAnswer),
    ):
        endl.list_deposits("cus_1")
    assert len(server.requests) == 1


def test_retry_after_is_obeyed() -> None:
    slept: list[float] = []
    with (
        running(says(answer(429, "{}", Retry_After="7")), page([])) as server,
        line_to(server.url, slept=slept) as endl,
    ):
        endl.list_deposits("cus_1")
    assert slept == [7.0]


def test_a_longer_wait_than_one_can_stand_goes_up_at_once() -> None:
    slept: list[float] = []
    with (
        running(says(answer(429, "{}", Retry_After="86400"))) as server,
        line_to(server.url, slept=slept) as endl,
        pytest.raises(Throttled) as caught,
    ):
        endl.list_deposits("cus_1")
    assert (slept, len(server.requests), caught.value.retry_after_seconds) == ([], 1, 300.0)


def test_patience_ends_before_the_tries_do() -> None:
    with running(says(answer(500, ""))) as server, line_to(server.url, retries=50) as endl:
        endl._patience_seconds = 0.1
        with pytest.raises(ServerTrouble):
            endl.list_deposits("cus_1")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [405, 501])
def test_a_read_that_endl_lacks_is_unsupported(status: int) -> None:
    with (
        running(says(answer(status, "", X_Request_Id="req_3"))) as server,
        line_to(server.url) as endl,
        pytest.raises(Unsupported) as caught,
    ):
        endl.list_deposits("cus_1")
    assert (len(server.requests), caught.value.http_status, caught.value.request_id) == (1, status, "req_3")


def test_a_pausing_code_is_heard_even_behind_a_405() -> None:
    body = json.dumps({"errors": [{"code": "IP_NOT_ALLOWLISTED", "message": "who are you"}]})
    with running(says(answer(405, body))) as server, line_to(server.url) as endl, pytest.raises(OursToFix):
        endl.list_deposits("cus_1")
