"""The practice office's people and its three months of activity."""

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone
from pytest_django import Settings

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals.models import Approval
from backoffice.audit.models import Entry
from backoffice.delivery import invariants
from backoffice.delivery.models import State
from backoffice.emulator import Emulator
from cards import scope
from cards.models import Card, Cardholder, CardholderRequest, CardOrder, Customer, SealedDetails
from funding.models import Deposit, DepositRequest, Withdrawal
from tests.commands.conftest import Run

NAMES = {
    "maker",
    "checker",
    "checker2",
    "compliance",
    "manager",
    "auditor",
    "administrator",
    "administrator2",
}


class TestPeople:
    def test_one_for_each_role(self, run: Run) -> None:
        assert run("create_sample_people").exit_code == 0
        assert set(User.objects.values_list("username", flat=True)) == NAMES
        assert set(Group.objects.filter(user__isnull=False).values_list("name", flat=True)) == set(
            roles.ROLES
        )
        assert all(person.check_password("practice") and str(person) for person in User.objects.all())

    def test_they_work_for_every_customer_but_administrators(self, run: Run) -> None:
        run("create_sample_people")
        assigned = User.objects.filter(assignments__customer=None, assignments__isnull=False)
        assert set(assigned.values_list("username", flat=True)) == NAMES - {"administrator", "administrator2"}

    def test_nobody_can_do_alone_what_takes_two(self, run: Run) -> None:
        run("create_sample_people")
        assert not any(roles.toxic_pairs_of(person.role_names) for person in User.objects.all())

    def test_a_second_run_changes_nothing(self, run: Run) -> None:
        run("create_sample_people")
        User.objects.filter(username="maker").update(first_name="Somebody")
        again = run("create_sample_people")
        assert (again.exit_code, again.summary) == (0, "0 sample people made, 8 were there already.")
        assert User.objects.get(username="maker").first_name == "Somebody"

    def test_not_outside_practice(self, run: Run, settings: Settings) -> None:
        settings.PRACTICE = False
        assert run("create_sample_people").exit_code == 1
        assert not User.objects.exists()

    def test_not_for_a_server_elsewhere(self, run: Run, settings: Settings) -> None:
        settings.ENDL_BASE_URL = "https://api-sandbox.endl.io"
        ran = run("create_sample_people")
        assert ran.exit_code == 1
        assert "loopback" in ran.summary


class TestActivity:
    @pytest.fixture
    def active(self, run: Run, emulator: Emulator, key_pair: tuple[object, str]) -> None:
        emulator.register_key(key_pair[1])
        run("create_sample_people")
        ran = run("create_sample_activity")
        assert ran.exit_code == 0, ran.text

    def test_three_months_of_it(self, active: None) -> None:
        oldest = DepositRequest.objects.earliest("created_at").created_at
        assert 80 < (timezone.now() - oldest).days < 95
        ends = {State.COMPLETED, State.FAILED, State.REJECTED, State.CANCELLED, State.EXPIRED, State.REFUSED}
        assert ends < set(DepositRequest.objects.values_list("state", flat=True))

    def test_past_deposits_belong_to_what_endl_has_and_some_requests_are_open(self, active: None) -> None:
        for wish in DepositRequest.objects.filter(state__in=(State.COMPLETED, State.FAILED)):
            assert wish.deposit is not None
            assert wish.deposit.amount == wish.amount
            assert wish.deposit.created_at == wish.first_attempt_at
        assert not Deposit.objects.exclude(contradiction="").exists()
        assert Withdrawal.objects.exists()
        assert DepositRequest.objects.filter(state=State.REQUESTED).count() == 2
        assert CardOrder.objects.get(state=State.REQUESTED).amount_cents > 1_000_00
        assert Cardholder.objects.filter(review_state="unreviewed").exists()
        assert DepositRequest.objects.filter(state=State.REFUSED, outcome_message__icontains="funds").exists()
        assert CardOrder.objects.get(state=State.DETAILS_LOST).card is not None
        assert CardholderRequest.objects.filter(state=State.REFUSED).exists()

    def test_it_is_sound_and_on_record_as_a_sample(self, active: None) -> None:
        assert invariants.breaches(now=timezone.now()) == []
        assert set(
            Approval.objects.filter(decisions__isnull=False).values_list(
                "maker__username", "decisions__person__username"
            )
        ) == {("maker", "checker"), ("manager", "checker")}
        assert not Entry.objects.filter(is_sample=False).exists()
        assert Entry.objects.filter(verb="deposit.approve", is_sample=True).exists()
        assert SealedDetails.objects.filter(envelope__isnull=False).count() >= 3
        assert SealedDetails.objects.filter(destroyed_at__isnull=False).count() >= 3
        assert Card.objects.filter(order__isnull=False, status="active").exists()
        manager = User.objects.get(username="manager")
        assert scope.customers_for(manager).count() == Customer.objects.count() == 5

    def test_a_second_run_does_nothing(self, active: None, run: Run) -> None:
        before = Entry.objects.count(), DepositRequest.objects.count()
        assert run("create_sample_activity").exit_code == 0
        assert (Entry.objects.count(), DepositRequest.objects.count()) == before

    def test_one_that_was_broken_off_is_completed(
        self, run: Run, emulator: Emulator, key_pair: tuple[object, str], settings: Settings
    ) -> None:
        emulator.register_key(key_pair[1])
        run("create_sample_people")
        # The parts were made, and the process stopped before it said so.
        parts, settings.SAMPLES = settings.SAMPLES, [*settings.SAMPLES, "nowhere.make"]
        with pytest.raises(ImportError):
            run("create_sample_activity")
        counts = CardOrder.objects.count(), DepositRequest.objects.count(), len(emulator.ledger())
        settings.SAMPLES = parts
        assert run("create_sample_activity").exit_code == 0
        assert counts == (CardOrder.objects.count(), DepositRequest.objects.count(), len(emulator.ledger()))

    def test_people_come_first(self, run: Run, emulator: Emulator) -> None:
        ran = run("create_sample_activity")
        assert ran.exit_code == 1
        assert "create_sample_people" in ran.summary

    def test_not_without_our_emulator(self, run: Run, settings: Settings) -> None:
        run("create_sample_people")
        ran = run("create_sample_activity")
        assert ran.exit_code == 1
        assert "does not answer" in ran.summary

    def test_not_outside_practice(self, run: Run, settings: Settings) -> None:
        settings.PRACTICE = False
        assert run("create_sample_activity").exit_code == 1
