"""The three forms of a list."""

from typing import Any

from tests.backoffice.emulator.client import COMPANY, Api, refusal

DEPOSITS = f"/cards/{COMPANY}/deposits"


def fill(api: Api, count: int) -> None:
    seeds = [
        {"depositId": f"cdp_{n}", "customerId": COMPANY, "createdAt": f"2026-10-{n // 2 + 1:02d}T00:00:00Z"}
        for n in range(count)
    ]
    api.emulator.seed(deposits=seeds)


def test_a_bare_array_is_newest_first(api: Api) -> None:
    fill(api, 5)
    assert [one["depositId"] for one in api.get(DEPOSITS).json()] == [f"cdp_{n}" for n in (4, 3, 2, 1, 0)]


def test_an_object_has_one_array(api: Api) -> None:
    api.emulator.settings(list_form="object")
    assert set(api.get(DEPOSITS).json()) == {"items"}
    assert set(api.get(f"/cards/{COMPANY}/withdrawals").json()) == {"items"}
    assert set(api.get(f"/customer/{COMPANY}/card-users").json()) == {"cardUsers"}


def test_pages_bring_each_thing_once(api: Api) -> None:
    fill(api, 7)
    api.emulator.settings(list_form="paged", page_size=3)
    seen: list[str] = []
    sizes: list[int] = []
    cursor: str | None = None
    while cursor is not None or not sizes:
        page: Any = api.get(DEPOSITS, params={"cursor": cursor}).json()
        seen += [one["depositId"] for one in page["items"]]
        sizes.append(len(page["items"]))
        cursor = page["nextCursor"]
        # What comes in between is newer, and pushes nothing off its page.
        api.emulator.seed(deposits=[{"customerId": COMPANY}])
    assert seen == [f"cdp_{n}" for n in range(6, -1, -1)]
    assert sizes == [3, 3, 1]


def test_a_full_last_page_has_no_cursor(api: Api) -> None:
    fill(api, 3)
    api.emulator.settings(list_form="paged", page_size=3)
    assert api.get(DEPOSITS).json()["nextCursor"] is None


def test_an_invented_cursor_is_refused(api: Api) -> None:
    api.emulator.settings(list_form="paged")
    for cursor in ("!", "abc", "é"):
        assert refusal(api.get(DEPOSITS, params={"cursor": cursor})) == (400, "ERRCRD_1005")
