"""Whatever people and the network do, in any order: one effect a request, and ends that stay."""

import secrets
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from backoffice.access.models import User
from backoffice.audit.trail import Refusal
from backoffice.delivery import checkpoint, sender
from backoffice.delivery.models import ENDS, Line, State
from backoffice.emulator import Emulator
from backoffice.endl import Client
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.delivery.conftest import Crash
from tests.wishes import Clock, approval_of

FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "drop", "when": "before"},
    {"kind": "drop", "when": "after"},
    {"kind": "status", "code": 502, "when": "before"},
    {"kind": "status", "code": 502, "when": "after"},
    {"kind": "truncate", "at": 10},
    {"kind": "mutate", "field": "depositId", "mutation": "null"},
    {"kind": "throttle", "retry_after": "20"},
    {"kind": "status", "code": 409},
    {"kind": "error", "code": "ERRCRD_1005"},
)
CHECKPOINTS = ("after-claim", "before-send", "after-send", "after-raw", "before-settled", "after-settled")
DEATHS = st.none() | st.sampled_from(CHECKPOINTS)
NOT_SENT = {State.REQUESTED, State.REJECTED, State.CANCELLED, State.EXPIRED}


class DepositMachine(RuleBasedStateMachine):
    """One wallet, a maker, a checker, and a network that fails at random."""

    world: tuple[Emulator, Client, Wallet, User, User]

    def __init__(self) -> None:
        super().__init__()
        self.emulator, self.endl, self.wallet, self.maker, self.checker = self.world
        self.emulator.clear_faults()
        self.clock = Clock(timezone.now())
        self.ends: dict[int, str] = {}
        self.approved: set[int] = set()
        self.mine: list[int] = []
        # An earlier example may have been told to wait until its own, later time.
        Line.objects.update(slow_until=None)

    def teardown(self) -> None:
        checkpoint.hooks.clear()

    def one(self, data: st.DataObject) -> DepositRequest | None:
        return DepositRequest.objects.get(pk=data.draw(st.sampled_from(self.mine))) if self.mine else None

    @rule()
    def request(self) -> None:
        if len(self.mine) < 3:
            wish = deposits.request_deposit(
                wallet=self.wallet, amount=Decimal("1.00"), chain="", note="",
                form_token=secrets.token_hex(8), by=self.maker, now=self.clock(),
            )  # fmt: skip
            self.mine.append(wish.pk)

    @rule(data=st.data(), verdict=st.sampled_from(["approve", "reject", "cancel"]))
    def decide(self, data: st.DataObject, verdict: str) -> None:
        wish = self.one(data)
        if wish is None:
            return
        seen, now = approval_of(wish).facts_hash, self.clock()
        try:
            if verdict == "approve":
                deposits.approve_deposit(request=wish, by=self.checker, seen=seen, now=now)
                self.approved.add(wish.pk)
            elif verdict == "reject":
                deposits.reject_deposit(request=wish, by=self.checker, seen=seen, reason="No", now=now)
            else:
                deposits.cancel_deposit(request=wish, by=self.maker, now=now)
        except Refusal:
            pass

    @rule(
        data=st.data(),
        fault=st.none() | st.sampled_from(FAULTS),
        death=st.none() | st.sampled_from(CHECKPOINTS),
    )
    def deliver(self, data: st.DataObject, fault: dict[str, Any] | None, death: str | None) -> None:
        wish = self.one(data)
        if wish is None:
            return
        if fault is not None:
            self.emulator.fault(operation="start_deposit", **fault)

        def die(reached: str) -> None:
            if reached == death:
                raise Crash(reached)

        checkpoint.hooks[:] = [die]
        try:
            sender.deliver(deposits.ROAD, wish.pk, endl=self.endl, clock=self.clock)
        except Crash:
            pass
        finally:
            checkpoint.hooks.clear()
            self.emulator.clear_faults()

    @rule(minutes=st.sampled_from([1, 5, 60, 60 * 13]))
    def wait(self, minutes: int) -> None:
        self.clock.now += timedelta(minutes=minutes)

    @invariant()
    def one_effect_a_request_and_only_what_was_approved(self) -> None:
        keys = [entry["key"] for entry in self.emulator.ledger()]
        for wish in DepositRequest.objects.filter(pk__in=self.mine):
            effects = keys.count(wish.idempotency_key)
            assert effects <= 1
            if effects:
                assert wish.pk in self.approved
                assert wish.state not in NOT_SENT
            if wish.state in (State.SUBMITTED, State.COMPLETED):
                assert effects == 1

    @invariant()
    def ends_stay(self) -> None:
        for wish in DepositRequest.objects.filter(pk__in=self.mine):
            assert self.ends.get(wish.pk, wish.state) == wish.state
            if wish.state in ENDS:
                self.ends[wish.pk] = wish.state


@pytest.fixture
def machine(
    emulator: Emulator, endl: Client, wallet: Wallet, maker: User, checker: User
) -> Iterator[type[DepositMachine]]:
    DepositMachine.world = (emulator, endl, wallet, maker, checker)
    yield DepositMachine
    del DepositMachine.world


def test_in_any_order(machine: type[DepositMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=30, stateful_step_count=25, deadline=None, database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
