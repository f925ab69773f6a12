"""Past the decision: what changes before it is sent, and messages put on the broker by hand."""

import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Group

from backoffice.access import people, roles
from backoffice.access.models import User
from backoffice.approvals import decisions
from backoffice.approvals.decisions import (
    NoLongerGood,
)
from backoffice.audit.models import Entry
from backoffice.celery import app
from backoffice.delivery import sender
from backoffice.endl import Client
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.attempts import PAGE, all_attempts, as_table, attempt, page_with
from tests.backoffice.approvals.desk import approve
from tests.people import as_now
from tests.wishes import a_deposit, approval_of
from tests.worker import Worker

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

from tests.backoffice.approvals.test_bypasses.tools import (
    is_untouched,
    to_the_gate,
)

pytestmark = pytest.mark.django_db


class TestTheLastGate:
    """Approved rightly; what must hold changes before it is sent."""

    @pytest.fixture
    def given(self, wish: DepositRequest, checker: User, now: datetime) -> DepositRequest:
        approved: DepositRequest = approve(wish, checker, now)
        assert approved.state == "approved"
        return approved

    @attempt("last gate", "deactivated")
    def test_a_checker_who_left(
        self, given: DepositRequest, checker: User, administrator: User, endl: Client, now: datetime
    ) -> None:
        """The checker is deactivated between the decision and the sending."""
        people.deactivate(person=checker, reason="Left", by=administrator)
        assert to_the_gate(given, endl, now) == "expired"
        assert Entry.objects.filter(verb="deposit.expire").exists()

    @attempt("last gate", "role")
    def test_a_checker_whose_role_was_taken(
        self, given: DepositRequest, checker: User, administrator: User, endl: Client, now: datetime
    ) -> None:
        """The checker's role is taken between the decision and the sending."""
        people.take_role(person=checker, role=roles.FINANCE_CHECKER, reason="Moved", by=administrator)
        assert to_the_gate(given, endl, now) == "expired"

    @attempt("last gate", "role")
    def test_a_permission_that_comes_from_elsewhere_by_now(
        self, given: DepositRequest, checker: User, endl: Client, now: datetime
    ) -> None:
        """The role that counted is taken, and the bare permission given by hand."""
        held = Group.objects.get(name=roles.FINANCE_CHECKER).permissions.get(codename="decide_deposits")
        checker.groups.clear()
        checker.user_permissions.add(held)
        assert as_now(checker).has_perm(deposits.PERMISSION)
        assert to_the_gate(given, endl, now) == "expired"

    @attempt("last gate", "expired")
    def test_an_approval_from_yesterday(self, given: DepositRequest, endl: Client, now: datetime) -> None:
        """The request is sent a second after its approval ran out."""
        assert to_the_gate(given, endl, now + timedelta(hours=24, seconds=1)) == "expired"

    @attempt("last gate", "other hash")
    def test_another_address(self, given: DepositRequest, endl: Client, now: datetime, settings: Any) -> None:
        """What was approved for one Endl is sent to another."""
        settings.ENDL_BASE_URL = "http://127.0.0.1:1"
        assert to_the_gate(given, endl, now) == "expired"

    @attempt("last gate", "other hash")
    def test_facts_that_are_others_by_now(self, given: DepositRequest, endl: Client, now: datetime) -> None:
        """The wallet's Endl id is changed between the decision and the sending."""
        Wallet.objects.filter(pk=given.wallet_id).update(endl_id="wlt_elsewhere")
        fresh = DepositRequest.objects.get(pk=given.pk)
        assert to_the_gate(fresh, endl, now) == "expired"

    @attempt("last gate", "two seats")
    def test_one_persons_decisions_for_two(
        self, wallet: Wallet, maker: User, checker: User, checker2: User, now: datetime
    ) -> None:
        """Of two checkers of a large deposit, one is no longer entitled when it is sent."""
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        for by in (checker, checker2):
            large = approve(large, by, now)
        checker2.groups.clear()
        fresh = DepositRequest.objects.get(pk=large.pk)
        with pytest.raises(NoLongerGood):
            decisions.check_still_good(
                approval_of(fresh), deposits.facts_of(fresh), has_started=False, now=now
            )


class TestAMessageOnTheBroker:
    @attempt("task message", "approved before it is sent")
    def test_the_task_called_for_what_nobody_approved(
        self, wish: DepositRequest, endl: Client, now: datetime
    ) -> None:
        """The sending task's work is done for a request that waits, was rejected, or was never made."""
        for pk in (wish.pk, wish.pk + 1000, -1):
            sender.deliver(deposits.ROAD, pk, endl=endl, clock=lambda: now)
        assert is_untouched(wish)

    @attempt("task message", "approved before it is sent")
    @pytest.mark.worker
    @pytest.mark.django_db(transaction=True)
    def test_messages_put_there_by_hand(
        self, worker: Worker, wish: DepositRequest, emulator: "Emulator"
    ) -> None:
        """A real worker takes hand-made messages: a waiting request, forged arguments, ids of other types."""
        worker.start(beat=False)
        for args, kwargs in (
            ([wish.pk], {}), ([wish.pk], {"approved": True}), ([], {"request_id": wish.pk, "by": "checker"}),
            ([f"{wish.pk} OR 1=1"], {}), ([{"pk": wish.pk}], {}), ([str(wish.pk)], {}),
        ):  # fmt: skip
            app.send_task("funding.tasks.send_deposit", args, kwargs, queue="money")
        app.send_task("funding.deposits.approve_deposit", [wish.pk], queue="money")
        app.send_task("office.tests.the_last_one", queue="money")
        until = time.monotonic() + 30
        while "the_last_one" not in worker.log.read_text() and time.monotonic() < until:
            time.sleep(0.1)
        assert "the_last_one" in worker.log.read_text()
        assert is_untouched(wish)
        assert not [entry for entry in emulator.ledger() if entry["operation"] == "start_deposit"]


class TestTheList:
    def test_it_is_long_enough(self) -> None:
        assert len(all_attempts()) >= 30
        doors = {each.door for each in all_attempts()}
        assert doors >= {
            "form", "bulk", "admin URL", "task message", "shell", "raw SQL", "inline", "session of another",
            "stale page", "replay", "threshold splitting", "rule change", "last gate",
        }  # fmt: skip
        assert all(each.what.endswith(".") for each in all_attempts())

    def test_page_and_tests_agree(self) -> None:
        assert PAGE.read_text() == page_with(as_table())
