"""Repeated keys: one effect, whatever the answer."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import Api, refusal


def test_a_repeated_deposit_brings_the_first_answer(api: Api) -> None:
    first = api.deposit()
    api.emulator.settle()
    again = api.deposit()
    assert (again.status_code, again.content) == (201, first.content)
    assert len(api.emulator.ledger()) == 1


def test_a_repeated_registration_brings_the_first_answer(api: Api) -> None:
    first = api.register(key="k")
    again = api.register(key="k")
    assert (again.status_code, again.content) == (201, first.content)
    assert len(api.emulator.ledger()) == 1


def test_a_repeated_card_has_been_issued_already(api: Api) -> None:
    assert api.issue(key="k").status_code == 201
    assert refusal(api.issue(key="k")) == (409, "ERRCRD_1008")
    assert len(api.emulator.ledger()) == 1


def test_a_repeated_card_may_bring_the_first_envelope(api: Api) -> None:
    api.emulator.settings(card_replay="first-result")
    first = api.issue(key="k")
    assert api.issue(key="k").content == first.content
    assert len(api.emulator.ledger()) == 1


def test_the_same_key_with_other_bytes_is_a_conflict(api: Api) -> None:
    api.deposit()
    assert refusal(api.deposit("11.00")) == (409, None)
    api.register(key="k")
    assert refusal(api.register(key="k", lastName="Other")) == (409, None)
    api.issue(key="k")
    assert refusal(api.issue(4201, key="k")) == (409, None)
    assert len(api.emulator.ledger()) == 3


def test_the_same_key_for_another_cardholder_is_a_conflict(api: Api) -> None:
    api.issue(key="k")
    assert refusal(api.issue(key="k", holder="chd_waiting")) == (409, None)


def test_a_key_belongs_to_its_customer(api: Api) -> None:
    api.deposit("1.00", key="k")
    other = api.deposit("1.00", key="k", customer="cus_person", wallet="wlt_person", currency="USD")
    assert other.status_code == 201


def test_a_refusal_is_not_remembered(api: Api) -> None:
    api.emulator.settings(issuing_available=False)
    assert refusal(api.issue(key="k")) == (403, "ERRCRD_1007")
    api.emulator.settings(issuing_available=True)
    assert api.issue(key="k").status_code == 201


def test_a_repeat_is_answered_even_when_issuing_has_stopped(api: Api) -> None:
    api.issue(key="k")
    api.emulator.settings(issuing_available=False)
    assert refusal(api.issue(key="k")) == (409, "ERRCRD_1008")


@pytest.mark.parametrize("switch", ["registration_keys", "card_keys"])
def test_keys_can_be_ignored(api: Api, switch: str) -> None:
    api.emulator.settings(**{switch: "ignore"}, duplicate_emails=True)
    send = api.register if switch == "registration_keys" else api.issue
    assert [send(key="k").status_code for _ in range(2)] == [201, 201]
    assert len(api.emulator.ledger()) == 2


def test_many_equal_deposits_at_once_have_one_effect(emulator: Emulator) -> None:
    barrier = Barrier(12)

    def send(_: int) -> bytes:
        api = Api(emulator)
        barrier.wait(timeout=5)
        return api.deposit().content

    with ThreadPoolExecutor(12) as pool:
        answers = set(pool.map(send, range(12)))
    assert len(answers) == 1
    assert len(emulator.ledger()) == 1


def test_the_ledger_says_what_was_sent(api: Api) -> None:
    api.deposit("1.50", key="k")
    entry = api.emulator.ledger()[0]
    assert (entry["operation"], entry["key"], entry["amount"]) == ("start_deposit", "k", "1.50")
    assert len(entry["body_sha256"]) == 64
    assert api.control("ledger") == [entry]
