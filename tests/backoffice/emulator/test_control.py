"""The control API, its page, and the sample world."""

from typing import Any

import pytest

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import COMPANY, HOLDER, Api, refusal

NOW = "2026-11-30T12:00:00Z"


def test_it_says_that_it_is_well(api: Api) -> None:
    assert api.control("healthz") == {"status": "ok"}


def test_state_shows_switches_faults_and_counts(api: Api) -> None:
    state = api.control("state")
    assert state["settings"]["settle_seconds"] == 3600
    assert (state["faults"], state["counts"]["customers"], state["pendingDeposits"]) == ([], 5, 0)
    assert len(state["keyId"]) == 16


@pytest.mark.parametrize(
    "change", [{"odd": 1}, {"list_form": "tree"}, {"permitted": "no"}, {"reads_off": "x"}]
)
def test_an_impossible_switch_is_refused(api: Api, change: dict[str, Any]) -> None:
    before = api.control("state")["settings"]
    assert api.call("POST", "/_control/settings", json=change).status_code == 400
    assert api.control("state")["settings"] == before


def test_reset_empties_the_world_and_undoes_the_switches(api: Api) -> None:
    api.deposit()
    api.emulator.settings(permitted=False)
    api.emulator.fault(kind="drop")
    state = api.control("reset", {"keep_keys": True})
    assert set(state["counts"].values()) == {0}
    assert (state["faults"], state["settings"]["permitted"]) == ([], True)
    assert state["settings"]["settle_seconds"] == 3600
    assert state["keyId"]
    assert api.emulator.ledger() == []
    assert api.control("reset", {})["keyId"] is None


def test_a_seed_updates_what_is_known(api: Api) -> None:
    api.emulator.seed(cardholders=[{"cardholderId": HOLDER, "status": "disabled"}])
    assert refusal(api.issue()) == (400, "ERRCRD_1003")
    assert api.control(f"things/cardholders/{HOLDER}")["email"] == "holder@example.com"


def test_a_seed_can_be_back_dated_and_gets_an_id(api: Api) -> None:
    when = "2026-01-02T03:04:05Z"
    made = api.control("seed", {"withdrawals": [{"customerId": COMPANY, "createdAt": when}]})
    shown = api.get(f"/cards/{COMPANY}/withdrawals/{made['withdrawals'][0]}").json()
    assert (shown["createdAt"], shown["completedAt"]) == (when, when)


@pytest.mark.parametrize("seed", [{"odd": []}, {"cards": [{}]}, {"cards": ["text"]}])
def test_an_impossible_seed_changes_nothing(api: Api, seed: dict[str, Any]) -> None:
    with_customer = {"customers": [{"customerId": "cus_new"}], **seed}
    assert api.call("POST", "/_control/seed", json=with_customer).status_code == 400
    assert api.control("state")["counts"]["customers"] == 5


@pytest.mark.parametrize("pem", ["", "nonsense"])
def test_only_an_rsa_public_key_is_registered(api: Api, pem: str) -> None:
    assert api.call("POST", "/_control/keys", json={"pem": pem}).status_code == 400
    assert api.control("state")["keyId"]


def test_details_are_kept_only_for_cards_it_issued(api: Api) -> None:
    api.emulator.seed(cards=[{"cardId": "crd_seeded", "cardholderId": HOLDER}])
    assert api.call("GET", "/_control/details/crd_seeded").status_code == 404


def test_the_page_shows_no_card_details_and_fetches_nothing(api: Api) -> None:
    details = api.control(f"details/{api.issue().json()['cardId']}")
    page = api.call("GET", "/_control/").text
    assert "Endl emulator" in page
    assert details["number"] not in page
    assert "http://" not in page
    assert "src=" not in page


def test_the_pages_forms_work(api: Api) -> None:
    fault = {"json": '{"operation": "list_deposits", "kind": "status", "code": 418}'}
    assert api.call("POST", "/_control/faults", data=fault).status_code == 303
    assert api.control("faults")[0]["code"] == 418
    switches = {"list_form": '"object"', "page_size": "7", "webhook_header": "X-Plain"}
    assert api.call("POST", "/_control/settings", data=switches).status_code == 303
    settings = api.control("state")["settings"]
    assert (settings["list_form"], settings["page_size"], settings["webhook_header"]) == (
        "object",
        7,
        "X-Plain",
    )
    assert api.call("POST", "/_control/settle", data={"json": ""}).status_code == 303


@pytest.mark.parametrize("headers", [{"Host": "evil.example:80"}, {"Origin": "https://evil.example"}])
def test_pages_elsewhere_cannot_reach_the_controls(api: Api, headers: dict[str, str]) -> None:
    assert api.call("POST", "/_control/reset", json={}, headers=headers).status_code == 403
    assert api.control("state")["counts"]["customers"] == 5


def test_the_sample_is_the_same_each_time(emulator: Emulator) -> None:
    api = Api(emulator)
    first = api.control("sample", {"now": NOW})
    ledger, counts = emulator.ledger(), api.control("state")["counts"]
    assert api.control("sample", {"now": "2027-01-01T00:00:00Z"}) == first
    assert (emulator.ledger(), api.control("state")["counts"]) == (ledger, counts)
    with Emulator() as other:
        assert Api(other).control("sample", {"now": NOW}) == first


def test_the_sample_lies_in_the_last_90_days(api: Api) -> None:
    made = api.control("sample", {"now": NOW})
    moments = [
        one["createdAt"] for kind in ("cardholders", "cards", "deposits", "withdrawals") for one in made[kind]
    ]
    assert min(moments) >= "2026-09-01T00:00:00Z"
    assert max(moments) <= NOW
    holders = {one["cardholderId"]: one for one in made["cardholders"]}
    assert all(card["createdAt"] >= holders[card["cardholderId"]]["createdAt"] for card in made["cards"])
    assert {one["status"] for one in made["deposits"]} == {"pending", "completed", "failed"}


def test_the_sample_can_be_worked_with(api: Api) -> None:
    api.control("sample", {"now": NOW})
    assert len(api.get("/customer/cus_aurora/card-users").json()) == 7
    assert refusal(api.get("/customer/cus_cedar/card-users")) == (400, "ERRCRD_1001")
    assert api.deposit(customer="cus_birch", wallet="wlt_birch_usdt", currency="USDT").ok
    assert refusal(api.deposit(customer="cus_eli", wallet="wlt_eli_usd", currency="USD")) == (400, None)
