"""Deposits and withdrawals: money is reserved, arrives or comes back."""

import pytest

from tests.backoffice.emulator.client import COMPANY, WALLET, Api, eventually, refusal


def balance(api: Api) -> str:
    return str(api.control(f"things/wallets/{WALLET}")["balances"][0]["amount"])


def test_a_deposit_is_pending_and_then_completed(api: Api) -> None:
    started = api.deposit().json()
    assert (started["status"], started["completedAt"], started["chain"]) == ("pending", None, "base")
    assert balance(api) == "90.00"
    assert api.emulator.settle() == [started["depositId"]]
    ended = api.get(f"/cards/{COMPANY}/deposits/{started['depositId']}").json()
    assert (ended["status"], ended["failureReason"]) == ("completed", None)
    assert ended["transactionHash"].startswith("0x")
    assert balance(api) == "90.00"


@pytest.mark.parametrize("switch", [{"failing_wallets": [WALLET]}, {"failing_amounts": ["10.00"]}])
def test_a_failed_deposit_gives_the_money_back(api: Api, switch: dict[str, list[str]]) -> None:
    api.emulator.settings(**switch, failure_reason={"code": "no"})
    identity = api.deposit().json()["depositId"]
    api.emulator.settle()
    ended = api.get(f"/cards/{COMPANY}/deposits/{identity}").json()
    assert (ended["status"], ended["failureReason"]) == ("failed", {"code": "no"})
    assert balance(api) == "100.00"


def test_a_deposit_settles_by_itself_when_due(api: Api) -> None:
    api.emulator.settings(settle_seconds=0.1)
    path = f"/cards/{COMPANY}/deposits/{api.deposit().json()['depositId']}"
    eventually(lambda: api.get(path).json()["status"] == "completed")


def test_time_can_be_brought_nearer(api: Api) -> None:
    path = f"/cards/{COMPANY}/deposits/{api.deposit().json()['depositId']}"
    api.control("advance", {"seconds": 3000})
    assert api.get(path).json()["status"] == "pending"
    api.control("advance", {"seconds": 700})
    eventually(lambda: api.get(path).json()["status"] == "completed")


def test_any_status_may_come_at_once(api: Api) -> None:
    api.emulator.settings(deposit_status="completed", deposit_fee="0.25")
    answer = api.deposit().json()
    assert answer["status"] == "completed"
    assert answer["fees"] == [{"type": "transaction_fee", "amount": {"amount": "0.25", "currency": "USDC"}}]


@pytest.mark.parametrize(
    ("customer", "wallet", "expected"),
    [
        ("cus_nobody", WALLET, (404, "ERRREF_1001")),
        ("cus_employee", "wlt_employee", (400, None)),
        ("cus_outside", WALLET, (403, None)),
        ("cus_person", WALLET, (400, None)),
        (COMPANY, "wlt_nowhere", (400, None)),
    ],
)
def test_who_may_not_deposit(api: Api, customer: str, wallet: str, expected: tuple[int, str | None]) -> None:
    assert refusal(api.deposit(customer=customer, wallet=wallet)) == expected
    assert api.emulator.ledger() == []


def test_an_individual_may_deposit(api: Api) -> None:
    answer = api.deposit("5.00", customer="cus_person", wallet="wlt_person", currency="USD")
    assert answer.status_code == 201


def test_the_wallet_must_hold_the_token_on_the_chain(api: Api) -> None:
    assert refusal(api.deposit(chain="tron")) == (400, None)
    assert refusal(api.deposit(currency="EUR")) == (400, "ERRCRD_1005")


def test_a_wallet_gives_no_more_than_it_has(api: Api) -> None:
    assert api.deposit("60.00", key="a").ok
    assert refusal(api.deposit("60.00", key="b")) == (409, None)
    assert api.deposit("40", key="c").ok
    assert balance(api) == "0.00"


@pytest.mark.parametrize(
    "amount", ["0", "-1", "1e3", "1.0000001", "", "NaN", " 1", "1.", ".5", "1,0", 5, None, "\u0661"]
)
def test_an_amount_is_a_plain_decimal_string(api: Api, amount: object) -> None:
    answer = api.deposit(amount)
    assert refusal(answer) == (400, "ERRCRD_1005")
    assert answer.json()["message"].startswith("amount")


def test_dollars_have_two_places(api: Api) -> None:
    assert refusal(api.deposit("1.001", currency="USD")) == (400, "ERRCRD_1005")


def test_an_external_deposit_appears_only_once_completed(api: Api) -> None:
    seed = {"depositId": "cdp_x", "customerId": COMPANY, "method": "external", "status": "pending"}
    api.emulator.seed(deposits=[seed])
    assert refusal(api.get(f"/cards/{COMPANY}/deposits/cdp_x")) == (404, None)
    assert api.get(f"/cards/{COMPANY}/deposits").json() == []
    api.emulator.settle()
    assert [one["depositId"] for one in api.get(f"/cards/{COMPANY}/deposits").json()] == ["cdp_x"]


def test_a_deposit_is_shown_to_its_customer_only(api: Api) -> None:
    identity = api.deposit().json()["depositId"]
    assert refusal(api.get(f"/cards/cus_person/deposits/{identity}")) == (404, None)


@pytest.mark.parametrize("reason", ["text", {"code": "object"}])
def test_a_withdrawal_is_ended_by_hand(api: Api, reason: object) -> None:
    api.emulator.seed(withdrawals=[{"withdrawalId": "cwd_x", "customerId": COMPANY, "status": "pending"}])
    path = f"/cards/{COMPANY}/withdrawals/cwd_x"
    assert api.get(path).json()["status"] == "pending"
    api.control("withdrawals/cwd_x/settle", {"status": "failed", "failureReason": reason})
    assert (api.get(path).json()["status"], api.get(path).json()["failureReason"]) == ("failed", reason)
    assert api.call("POST", "/_control/withdrawals/cwd_x/settle", json={}).status_code == 404


def test_an_unknown_withdrawal_is_not_found(api: Api) -> None:
    assert refusal(api.get(f"/cards/{COMPANY}/withdrawals/cwd_none")) == (404, None)
    assert refusal(api.get("/cards/cus_nobody/withdrawals/cwd_none")) == (404, "ERRREF_1001")
