"""Deposits without webhooks: followed to their end by the read that Endl has, less and less often."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from backoffice.audit.models import Entry
from backoffice.delivery.models import Line, State
from backoffice.endl import Client
from backoffice.mirror.models import Read
from funding import deposits
from funding.models import Deposit, DepositRequest
from tests.funding.conftest import Request

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db


def follow(wish: DepositRequest, endl: Client) -> DepositRequest:
    deposits.follow(wish, endl=endl, now=timezone.now())
    return DepositRequest.objects.get(pk=wish.pk)


@pytest.mark.parametrize("reads_off", [[], ["get_deposit"]])
def test_by_the_single_read_or_else_by_the_list(
    send: Request, endl: Client, emulator: "Emulator", reads_off: list[str]
) -> None:
    emulator.settings(reads_off=reads_off)
    wish = send()
    assert follow(wish, endl).state == State.SUBMITTED
    emulator.settle()
    assert follow(wish, endl).state == State.COMPLETED
    assert Entry.objects.filter(verb="deposit.completed", actor_name="system: follow").count() == 1
    assert set(Read.objects.exclude(off_since=None).values_list("name", flat=True)) == set(reads_off)


def test_without_any_read_it_waits(send: Request, endl: Client, emulator: "Emulator") -> None:
    emulator.settings(reads_off=["get_deposit", "list_deposits"])
    wish = send()
    emulator.settle()
    for _ in range(3):
        wish = follow(wish, endl)
    assert wish.state == State.SUBMITTED
    assert wish.follow_at is not None
    assert wish.follow_at > timezone.now()
    # Each read was tried once; then nobody asks for a day.
    asked = str(emulator.requests_seen())
    follow(wish, endl)
    assert str(emulator.requests_seen()) == asked


def test_looks_come_at_longer_intervals(send: Request, endl: Client) -> None:
    wish = send()
    waits = []
    for age in (timedelta(0), timedelta(minutes=10), timedelta(days=2)):
        DepositRequest.objects.update(state_at=timezone.now() - age)
        wish.refresh_from_db()
        follow_at = follow(wish, endl).follow_at
        assert follow_at is not None
        waits.append(follow_at - timezone.now())
    assert timedelta(seconds=5) < waits[0] < waits[1] < waits[2] <= timedelta(hours=1)


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "code": 500, "html": True},
        {"kind": "truncate", "at": 10},
        {"kind": "mutate", "field": "depositId", "mutation": "value", "value": "cdp_another"},
        {"kind": "error", "code": "ERRCORE_1006"},
    ],
)
def test_a_bad_answer_changes_nothing(
    send: Request, endl: Client, emulator: "Emulator", fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endl, "_sleep", lambda _: None)
    wish = send()
    emulator.settle()
    emulator.fault(operation="get_deposit", times=-1, **fault)
    assert follow(wish, endl).state == State.SUBMITTED
    assert Deposit.objects.get().status == "pending"
    emulator.clear_faults()
    # What Endl asked for by its 429 is over.
    Line.objects.update(slow_until=None)
    assert follow(wish, endl).state == State.COMPLETED


def test_a_status_that_nobody_knows_is_no_end(send: Request, endl: Client, emulator: "Emulator") -> None:
    wish = send()
    assert wish.deposit is not None
    emulator.seed(deposits=[{"depositId": wish.deposit.endl_id, "status": "on_hold"}])
    assert follow(wish, endl).state == State.SUBMITTED
    assert Deposit.objects.get().status == "on_hold"
