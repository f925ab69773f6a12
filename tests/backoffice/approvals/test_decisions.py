"""Who may decide, once, on what they have seen; and until when it holds."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import Group

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import decisions, policies
from backoffice.approvals.decisions import (
    AlreadyDecided,
    ChangedSinceShown,
    NoLongerGood,
    NoReason,
    SameHands,
)
from backoffice.approvals.models import Approval, Decision
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from cards import issuing
from cards.models import Cardholder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.people import a_person, as_now
from tests.wishes import a_deposit, an_order, approval_of


def approve(wish: DepositRequest, by: User, now: datetime, seen: str | None = None) -> DepositRequest:
    seen = approval_of(wish).facts_hash if seen is None else seen
    return deposits.approve_deposit(request=wish, by=by, seen=seen, now=now)


def reject(wish: DepositRequest, by: User, now: datetime, reason: str = "Twice") -> DepositRequest:
    seen = approval_of(wish).facts_hash
    return deposits.reject_deposit(request=wish, by=by, seen=seen, reason=reason, now=now)


def refusals(verb: str = "deposit.approve") -> list[str]:
    """The kinds of refusals on record, oldest first."""
    rows = Entry.objects.filter(verb=verb, result=Entry.Result.REFUSED).order_by("id")
    return [row.new["refusal"] for row in rows]


class TestApproving:
    def test_another_person_approves(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        assert approve(wish, checker, now).state == "approved"
        approval = approval_of(wish)
        assert approval.state == Approval.State.APPROVED
        assert approval.good_until == now + timedelta(hours=24)
        decision = approval.decisions.get()
        assert (decision.person, decision.maker, decision.seen_hash) == (
            checker,
            wish.maker,
            approval.facts_hash,
        )
        assert Entry.objects.get(verb="deposit.approve").result == Entry.Result.DONE

    def test_the_maker_cannot(self, wish: DepositRequest, maker: User, now: datetime) -> None:
        maker.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        with pytest.raises(SameHands):
            approve(wish, as_now(maker), now)
        assert refusals() == ["SameHands"]
        assert approval_of(wish).state == Approval.State.PENDING

    def test_nobody_decides_twice(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        approve(wish, checker, now)
        with pytest.raises(AlreadyDecided):
            approve(wish, checker, now)
        assert Decision.objects.count() == 1

    def test_who_has_decided_waits_for_the_others(
        self, wallet: Wallet, maker: User, checker: User, checker2: User, now: datetime
    ) -> None:
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        assert approve(large, checker, now).state == "requested"
        with pytest.raises(AlreadyDecided, match="You have decided"):
            approve(large, checker, now)
        assert approve(large, checker2, now).state == "approved"

    def test_what_was_not_seen_cannot_be_approved(
        self, wish: DepositRequest, checker: User, now: datetime
    ) -> None:
        with pytest.raises(ChangedSinceShown):
            approve(wish, checker, now, seen="0" * 64)
        assert refusals() == ["ChangedSinceShown"]

    def test_the_second_checker_is_told_who_was_first(
        self, wish: DepositRequest, checker: User, checker2: User, now: datetime
    ) -> None:
        approve(wish, checker, now)
        with pytest.raises(AlreadyDecided, match="checker was first: approved at"):
            approve(wish, checker2, now)

    def test_what_was_cancelled_cannot_be_approved_and_says_who_did(
        self, wish: DepositRequest, maker: User, checker: User, now: datetime
    ) -> None:
        deposits.cancel_deposit(request=wish, by=maker, now=now)
        with pytest.raises(AlreadyDecided, match="maker was first: cancelled at"):
            approve(wish, checker, now)

    @pytest.mark.parametrize("who", ["manager", "compliance", "auditor", "administrator", "superuser"])
    def test_other_roles_cannot(
        self, wish: DepositRequest, who: str, request: pytest.FixtureRequest, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            approve(wish, request.getfixturevalue(who), now)
        assert refusals() == ["NotAllowed"]

    def test_a_checker_of_other_customers_cannot(self, wish: DepositRequest, now: datetime) -> None:
        stranger = a_person("stranger", roles.FINANCE_CHECKER, works_for_all=False)
        with pytest.raises(NotAllowed):
            approve(wish, stranger, now)

    def test_a_checker_who_left_cannot(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        User.objects.filter(pk=checker.pk).update(is_active=False)
        with pytest.raises(NotAllowed):
            approve(wish, checker, now)

    def test_a_checker_of_deposits_and_of_cards_is_asked_for_by_the_right_name(
        self, cardholder: Cardholder, manager: User, checker: User, now: datetime
    ) -> None:
        order = an_order(cardholder, by=manager, now=now, cents=2_000_00)
        assert approval_of(order).permission == issuing.PERMISSION
        issuing.approve_order(request=order, by=checker, seen=approval_of(order).facts_hash, now=now)
        assert order.state == "approved"


class TestRejecting:
    def test_it_ends_there_with_its_reason(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        assert reject(wish, checker, now, " Wrong wallet ").state == "rejected"
        decision = approval_of(wish).decisions.get()
        assert (decision.verdict, decision.reason) == (Decision.Verdict.REJECT, "Wrong wallet")
        assert approval_of(wish).good_until is None

    @pytest.mark.parametrize("reason", ["", "   ", "\n"])
    def test_it_needs_a_reason(self, wish: DepositRequest, checker: User, now: datetime, reason: str) -> None:
        with pytest.raises(NoReason):
            reject(wish, checker, now, reason)
        assert refusals("deposit.reject") == ["NoReason"]

    def test_the_maker_cannot_reject_but_cancel(
        self, wish: DepositRequest, maker: User, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            reject(wish, maker, now)
        assert deposits.cancel_deposit(request=wish, by=maker, now=now).state == "cancelled"
        assert approval_of(wish).state == Approval.State.CANCELLED

    def test_only_the_maker_cancels(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        with pytest.raises(Exception, match="Only the person who made"):
            deposits.cancel_deposit(request=wish, by=checker, now=now)


class TestWhetherItStillHolds:
    def good(self, wish: DepositRequest, now: datetime, *, has_started: bool = False) -> None:
        wish = DepositRequest.objects.get(pk=wish.pk)
        decisions.check_still_good(
            approval_of(wish), deposits.facts_of(wish), has_started=has_started, now=now
        )

    def test_for_a_day(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        approve(wish, checker, now)
        self.good(wish, now + timedelta(hours=24))
        with pytest.raises(NoLongerGood, match="ran out"):
            self.good(wish, now + timedelta(hours=24, seconds=1))

    def test_once_an_attempt_has_begun_time_does_not_matter(
        self, wish: DepositRequest, checker: User, now: datetime
    ) -> None:
        approve(wish, checker, now)
        self.good(wish, now + timedelta(days=3), has_started=True)

    def test_only_when_it_was_given(self, wish: DepositRequest, now: datetime) -> None:
        with pytest.raises(NoLongerGood, match="waiting"):
            self.good(wish, now)

    def test_only_for_what_was_approved(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        approve(wish, checker, now)
        with pytest.raises(NoLongerGood, match="not what was approved"):
            decisions.check_still_good(
                approval_of(wish), {**deposits.facts_of(wish), "amount": "26.00"}, has_started=False, now=now
            )

    @pytest.mark.parametrize(
        "fact", ["kind", "operation", "path", "body_sha256", "idempotency_key", "base_url", "environment",
                 "customer", "maker", "policy", "wallet", "amount", "currency", "chain", "note"],
    )  # fmt: skip
    def test_every_fact_is_bound(self, wish: DepositRequest, fact: str) -> None:
        facts = deposits.facts_of(wish)
        assert fact in facts
        assert decisions.hash_of({**facts, fact: "other"}) != approval_of(wish).facts_hash

    def test_only_while_its_checker_is_entitled(
        self, wish: DepositRequest, checker: User, now: datetime
    ) -> None:
        approve(wish, checker, now)
        checker.groups.clear()
        with pytest.raises(NoLongerGood, match="entitled"):
            self.good(wish, now)


class TestTheButtons:
    def test_they_are_offered_to_who_may(self, approval: Approval, checker: User) -> None:
        assert decisions.may_decide(approval, checker)
        assert decisions.why_not(approval, checker) == ""

    def test_and_nobody_else_with_the_reason(
        self, approval: Approval, maker: User, superuser: User, auditor: User
    ) -> None:
        assert "You made this request" in decisions.why_not(approval, maker)
        for person in (superuser, auditor):
            assert not decisions.may_decide(approval, person)

    def test_looking_writes_nothing(self, approval: Approval, maker: User) -> None:
        before = Entry.objects.count()
        decisions.may_decide(approval, maker)
        assert Entry.objects.count() == before


class TestTheNamedRule:
    """Within the manager's ceilings nobody is asked."""

    def order(self, cardholder: Cardholder, manager: User, now: datetime, cents: int) -> str:
        return an_order(cardholder, by=manager, now=now, cents=cents).state

    def test_up_to_a_thousand_dollars(self, cardholder: Cardholder, manager: User, now: datetime) -> None:
        assert self.order(cardholder, manager, now, 1_000_00) == "approved"
        assert self.order(cardholder, manager, now, 1_000_01) == "requested"

    def test_up_to_five_thousand_a_day(self, cardholder: Cardholder, manager: User, now: datetime) -> None:
        states = [self.order(cardholder, manager, now, 1_000_00) for _ in range(6)]
        assert states == ["approved"] * 5 + ["requested"]
        assert self.order(cardholder, manager, now + timedelta(days=1, seconds=1), 1_000_00) == "approved"

    def test_what_came_to_nothing_does_not_count(
        self, cardholder: Cardholder, manager: User, now: datetime
    ) -> None:
        for _ in range(5):
            order = an_order(cardholder, by=manager, now=now, cents=1_000_00)
            issuing.cancel_order(request=order, by=manager, now=now)
        assert self.order(cardholder, manager, now, 1_000_00) == "approved"

    def test_the_ceiling_is_each_managers_own(
        self, cardholder: Cardholder, manager: User, now: datetime
    ) -> None:
        for _ in range(5):
            self.order(cardholder, manager, now, 1_000_00)
        other = a_person("manager2", roles.MANAGER)
        assert self.order(cardholder, other, now, 1_000_00) == "approved"

    def test_it_names_itself(self, cardholder: Cardholder, manager: User, now: datetime) -> None:
        approval = approval_of(an_order(cardholder, by=manager, now=now))
        assert (approval.rule, approval.needed) == (policies.CEILING_RULE, 0)
        assert not approval.decisions.exists()
