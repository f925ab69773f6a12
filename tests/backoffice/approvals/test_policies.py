"""The rules at work: who is asked for what, in which order, and what new rules do to what is open."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import decisions, drawing, policies
from backoffice.approvals.decisions import AlreadyDecided, ChangedSinceShown, NoLongerGood, RulesChanged
from backoffice.approvals.facts import hash_of
from backoffice.approvals.models import Approval, RuleSet
from backoffice.approvals.rules import CHECKER, COMPLIANCE, Step
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import invariants
from cards import issuing
from cards.models import Cardholder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.desk import approve, refusals, rules_become, steps
from tests.backoffice.approvals.rulebook import ONE, TWO, rule, total
from tests.people import a_person
from tests.wishes import a_deposit, an_order, approval_of


class TestTheFirstSet:
    def test_it_comes_with_the_house(self, db: None) -> None:
        assert policies.active().version == 1
        assert policies.rules_of(policies.active()) == policies.first_rules()

    def test_keeping_it_again_changes_nothing(self, db: None) -> None:
        policies.keep_first_rules()
        assert RuleSet.objects.count() == 1

    @pytest.mark.parametrize(("amount", "people"), [("0.01", 1), ("9999.99", 1), ("10000.00", 2)])
    def test_deposits(self, wallet: Wallet, maker: User, now: datetime, amount: str, people: int) -> None:
        approval = approval_of(a_deposit(wallet, by=maker, now=now, amount=amount))
        assert steps(approval) == [(people, CHECKER)]
        assert approval.state == Approval.State.PENDING

    def test_pieces_of_a_large_deposit(self, wallet: Wallet, maker: User, now: datetime) -> None:
        wishes = [a_deposit(wallet, by=maker, now=now, amount="3500.00") for _ in range(3)]
        assert [approval_of(each).needed for each in wishes] == [1, 1, 2]
        assert approval_of(wishes[2]).rule == "deposits of one maker that add up"

    def test_pieces_that_two_makers_ask_for(self, wallet: Wallet, maker: User, now: datetime) -> None:
        maker2 = a_person("maker2", roles.FINANCE_MAKER)
        a_deposit(wallet, by=maker, now=now, amount="6000.00")
        second = a_deposit(wallet, by=maker2, now=now, amount="6000.00")
        assert approval_of(second).rule == "deposits from one wallet that add up"

    def test_what_came_to_nothing_is_no_piece(
        self, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        first = a_deposit(wallet, by=maker, now=now, amount="6000.00")
        deposits.reject_deposit(
            request=first, by=checker, seen=approval_of(first).facts_hash, reason="No", now=now
        )
        assert approval_of(a_deposit(wallet, by=maker, now=now, amount="6000.00")).needed == 1

    def test_what_another_process_dated_a_moment_later_counts(
        self, wallet: Wallet, maker: User, now: datetime
    ) -> None:
        a_deposit(wallet, by=maker, now=now + timedelta(seconds=2), amount="6000.00")
        assert approval_of(a_deposit(wallet, by=maker, now=now, amount="6000.00")).needed == 2


class TestWhatAnApprovalKeeps:
    def test_version_rule_steps_and_figures(self, wallet: Wallet, maker: User, now: datetime) -> None:
        a_deposit(wallet, by=maker, now=now, amount="500.00")
        approval = approval_of(a_deposit(wallet, by=maker, now=now, amount="1000.00"))
        assert (approval.policy_version, approval.rule, approval.needed) == ("1", "deposit", 1)
        assert (str(approval.amount), approval.currency) == ("1000.000000", "USDC")
        totals = {key: Decimal(total) for key, total in approval.figures["totals"].items()}
        assert totals == {"maker, 24 h": 1500, "wallet, 24 h": 1500}
        assert approval.figures["is_first"] is False

    def test_of_a_small_one_nothing_is_added_up(self, wish: DepositRequest) -> None:
        assert approval_of(wish).figures == {"totals": {}, "is_first": True}

    def test_its_hash_covers_them(self, wish: DepositRequest) -> None:
        facts = deposits.facts_of(wish)
        assert facts["policy"] == {
            "version": 1,
            "rule": "deposit",
            "steps": [{"people": 1, "role": CHECKER, "permission": deposits.PERMISSION}],
        }
        assert hash_of(facts) == approval_of(wish).facts_hash

    def test_one_from_before_there_were_rule_sets_still_holds(self, wish: DepositRequest) -> None:
        old = Approval(policy_version="1", rule="")
        wish.approval = old
        assert deposits.facts_of(wish)["policy"] == "1"


class TestSteps:
    @pytest.fixture
    def order_in_two_steps(
        self,
        *,
        cardholder: Cardholder,
        manager: User,
        administrator: User,
        administrator2: User,
        now: datetime,
    ) -> object:
        held = [rule("in two steps", kind="card_order", steps=(Step(1, CHECKER), Step(1, COMPLIANCE)))]
        rules_become(held, by=administrator, agreed_by=administrator2, now=now)
        return an_order(cardholder, by=manager, now=now)

    def test_one_after_the_other(
        self, order_in_two_steps: object, checker: User, compliance: User, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            approve(order_in_two_steps, compliance, now)
        assert approve(order_in_two_steps, checker, now).state == "requested"
        approval = Approval.objects.latest("pk")
        assert (approval.at_step, approval.permission) == (2, issuing.COMPLIANCE_PERMISSION)
        assert approval.step_since == now
        assert approve(order_in_two_steps, compliance, now).state == "approved"

    def test_nobody_sits_in_two_seats(self, order_in_two_steps: object, now: datetime) -> None:
        both = a_person("both", roles.FINANCE_CHECKER, roles.COMPLIANCE)
        approve(order_in_two_steps, both, now)
        with pytest.raises(AlreadyDecided, match="You have decided"):
            approve(order_in_two_steps, both, now)

    def test_each_decision_keeps_its_step_permission_and_roles(
        self, order_in_two_steps: object, checker: User, compliance: User, now: datetime
    ) -> None:
        approve(order_in_two_steps, checker, now)
        approve(order_in_two_steps, compliance, now)
        kept = [
            (made.step, made.permission, made.roles) for made in Approval.objects.latest("pk").decisions.all()
        ]
        assert kept == [
            (1, issuing.PERMISSION, [roles.FINANCE_CHECKER]),
            (2, issuing.COMPLIANCE_PERMISSION, [roles.COMPLIANCE]),
        ]

    def test_the_gate_wants_each_step_still_good(
        self, *, order_in_two_steps: object, checker: User, compliance: User, now: datetime
    ) -> None:
        approve(order_in_two_steps, checker, now)
        order = approve(order_in_two_steps, compliance, now)
        decisions.check_still_good(approval_of(order), issuing.facts_of(order), has_started=False, now=now)
        compliance.groups.clear()
        with pytest.raises(NoLongerGood, match="entitled"):
            decisions.check_still_good(
                approval_of(order), issuing.facts_of(order), has_started=False, now=now
            )


class TestNoRule:
    def test_two_people_besides_the_maker(
        self, *, wallet: Wallet, maker: User, administrator: User, administrator2: User, now: datetime
    ) -> None:
        rules_become([rule(kind="card_order")], by=administrator, agreed_by=administrator2, now=now)
        approval = approval_of(a_deposit(wallet, by=maker, now=now))
        assert (approval.rule, steps(approval)) == ("", [(2, CHECKER)])


class TestRulesThatChangeWhileSomethingIsOpen:
    def stricter(self, administrator: User, administrator2: User, now: datetime) -> RuleSet:
        held = [replace(each, steps=TWO) if each.steps else each for each in policies.first_rules()]
        return rules_become(held, by=administrator, agreed_by=administrator2, now=now)

    def test_who_approves_under_the_old_ones_is_told_and_it_is_drawn_up_anew(
        self, *, wish: DepositRequest, checker: User, checker2: User, administrator: User,
        administrator2: User, now: datetime,
    ) -> None:  # fmt: skip
        old = approval_of(wish)
        self.stricter(administrator, administrator2, now)
        with pytest.raises(RulesChanged, match="The rules changed since you looked"):
            approve(wish, checker, now)
        wish.refresh_from_db()
        new = approval_of(wish)
        old.refresh_from_db()
        assert (new.replaces, new.needed, new.policy_version) == (old, 2, "2")
        assert (old.state, new.state) == (Approval.State.REDRAWN, Approval.State.PENDING)
        assert refusals() == ["RulesChanged"]
        entry = Entry.objects.get(verb="approval.redraw")
        assert (entry.old["people"], entry.new["people"]) == (1, 2)
        assert approve(wish, checker, now).state == "requested"
        assert approve(wish, checker2, now).state == "approved"

    def test_the_old_page_is_of_no_use_any_more(
        self, *, wish: DepositRequest, checker: User, administrator: User, administrator2: User, now: datetime
    ) -> None:
        old = approval_of(wish).facts_hash
        self.stricter(administrator, administrator2, now)
        for refused in (RulesChanged, ChangedSinceShown):
            with pytest.raises(refused):
                approve(wish, checker, now, seen=old)

    def test_what_was_decided_before_does_not_carry_over(
        self, *, wallet: Wallet, maker: User, checker: User, checker2: User, administrator: User,
        administrator2: User, now: datetime,
    ) -> None:  # fmt: skip
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        approve(large, checker, now)
        rules_become(
            [rule("three", steps=(Step(3, CHECKER),))], by=administrator, agreed_by=administrator2, now=now
        )
        with pytest.raises(RulesChanged):
            approve(large, checker2, now)
        new = approval_of(DepositRequest.objects.get(pk=large.pk))
        assert (new.needed, new.decisions.count()) == (3, 0)

    def test_milder_rules_leave_what_is_open_as_it_is(
        self, *, wallet: Wallet, maker: User, checker: User, administrator: User, administrator2: User,
        now: datetime,
    ) -> None:  # fmt: skip
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        rules_become([rule("one", steps=ONE)], by=administrator, agreed_by=administrator2, now=now)
        assert approve(large, checker, now).state == "requested"

    def test_rejecting_needs_no_new_approval(
        self, *, wish: DepositRequest, checker: User, administrator: User, administrator2: User, now: datetime
    ) -> None:
        self.stricter(administrator, administrator2, now)
        seen = approval_of(wish).facts_hash
        deposits.reject_deposit(request=wish, by=checker, seen=seen, reason="No", now=now)
        assert wish.state == "rejected"

    def test_drawing_up_anew_happens_once(
        self, *, wish: DepositRequest, administrator: User, administrator2: User, now: datetime
    ) -> None:
        old = approval_of(wish).pk
        self.stricter(administrator, administrator2, now)
        assert drawing.redraw(old) is not None
        assert drawing.redraw(old) is None

    def test_new_windows_are_counted_as_of_when_it_was_made(
        self, *, wallet: Wallet, maker: User, checker: User, administrator: User, administrator2: User,
        now: datetime,
    ) -> None:  # fmt: skip
        first = a_deposit(wallet, by=maker, now=now, amount="600.00")
        second = a_deposit(wallet, by=maker, now=now + timedelta(hours=1), amount="600.00")
        held = [rule("sum", totals=(total("customer", 3, "1000.00"),), steps=TWO), rule("rest")]
        rules_become(held, by=administrator, agreed_by=administrator2, now=now)
        assert approve(first, checker, now).state == "approved"
        with pytest.raises(RulesChanged):
            approve(second, checker, now)


class TestTheHourlyCheck:
    def test_finds_a_step_that_lacks_people(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        approve(wish, checker, now)
        assert list(invariants.i6_four_eyes(now)) == []
        with connection.cursor() as cursor:
            on = " ON approvals_step" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER step_stays_as_it_is{on}")
        approval_of(wish).steps.update(people=2)
        [found] = invariants.i6_four_eyes(now)
        assert found.message == "It is approved, and step 1 lacks people."
