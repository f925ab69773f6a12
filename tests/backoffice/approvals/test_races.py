"""Two people who decide at the same moment: one wins, and the other is told who."""

from datetime import datetime

import pytest

from backoffice.access.models import User
from backoffice.approvals import changes, policies
from backoffice.approvals.decisions import AlreadyDecided, RulesChanged
from backoffice.approvals.models import Approval, Decision, RuleSet
from backoffice.audit.models import Entry
from backoffice.audit.trail import Refusal
from cards.models import Cardholder, CardOrder
from funding import deposits
from funding.models import DepositRequest
from tests.backoffice.approvals.rulebook import TWO, rule
from tests.threads import at_once, losers
from tests.wishes import an_order, approval_of

pytestmark = [pytest.mark.django_db(transaction=True)]


def approving(wish: DepositRequest, by: User, now: datetime) -> object:
    mine = DepositRequest.objects.get(pk=wish.pk)
    seen = approval_of(mine).facts_hash
    return deposits.approve_deposit(request=mine, by=by, seen=seen, now=now)


def rejecting(wish: DepositRequest, by: User, now: datetime) -> object:
    mine = DepositRequest.objects.get(pk=wish.pk)
    seen = approval_of(mine).facts_hash
    return deposits.reject_deposit(request=mine, by=by, seen=seen, reason="Twice", now=now)


def cancelling(wish: DepositRequest, by: User, now: datetime) -> object:
    return deposits.cancel_deposit(request=DepositRequest.objects.get(pk=wish.pk), by=by, now=now)


@pytest.mark.parametrize("turn", range(3))
def test_approve_and_approve(
    wish: DepositRequest, checker: User, checker2: User, now: datetime, turn: int
) -> None:
    outcomes = at_once(lambda: approving(wish, checker, now), lambda: approving(wish, checker2, now))
    [lost] = losers(outcomes)
    winner = Decision.objects.get().person
    assert isinstance(lost, AlreadyDecided)
    assert f"{winner} was first: approved at" in lost.sentence
    assert DepositRequest.objects.get().state == "approved"
    assert Entry.objects.filter(verb="deposit.approve", result="refused").count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_approve_and_reject(
    wish: DepositRequest, checker: User, checker2: User, now: datetime, turn: int
) -> None:
    outcomes = at_once(lambda: approving(wish, checker, now), lambda: rejecting(wish, checker2, now))
    [lost] = losers(outcomes)
    decision = Decision.objects.get()
    assert isinstance(lost, AlreadyDecided)
    assert f"{decision.person} was first" in lost.sentence
    assert (
        DepositRequest.objects.get().state == {"approve": "approved", "reject": "rejected"}[decision.verdict]
    )


@pytest.mark.parametrize("turn", range(3))
def test_cancel_and_approve(
    wish: DepositRequest, maker: User, checker: User, now: datetime, turn: int
) -> None:
    outcomes = at_once(lambda: cancelling(wish, maker, now), lambda: approving(wish, checker, now))
    # Approved first, it can still be cancelled; cancelled first, it cannot be approved.
    assert all(isinstance(lost, Refusal) for lost in losers(outcomes))
    assert outcomes[0] not in losers(outcomes)
    assert DepositRequest.objects.get().state == "cancelled"
    assert Approval.objects.get().state == Approval.State.CANCELLED
    if losers(outcomes):
        assert "maker was first: cancelled at" in str(outcomes[1])
        assert not Decision.objects.exists()


@pytest.mark.parametrize("turn", range(3))
def test_cancel_and_reject(
    wish: DepositRequest, maker: User, checker: User, now: datetime, turn: int
) -> None:
    outcomes = at_once(lambda: cancelling(wish, maker, now), lambda: rejecting(wish, checker, now))
    [lost] = losers(outcomes)
    assert isinstance(lost, Refusal)
    assert "checker was first" in lost.sentence or "maker was first" in lost.sentence
    assert DepositRequest.objects.get().state == Approval.objects.get().state


def test_one_person_who_clicks_twice(wish: DepositRequest, checker: User, now: datetime) -> None:
    outcomes = at_once(*[lambda: approving(wish, checker, now)] * 3)
    assert len(losers(outcomes)) == 2
    assert Decision.objects.count() == 1


def test_two_orders_at_once_both_count_for_the_day(
    cardholder: Cardholder, manager: User, now: datetime
) -> None:
    for _ in range(4):
        an_order(cardholder, by=manager, now=now, cents=1_000_00)
    outcomes = at_once(*[lambda: an_order(cardholder, by=manager, now=now, cents=1_000_00)] * 3)
    assert losers(outcomes) == []
    assert CardOrder.objects.filter(state="approved").count() == 5
    assert CardOrder.objects.filter(state="requested").count() == 2


def test_two_changes_of_the_rules(administrator: User, administrator2: User, now: datetime) -> None:
    changed = [
        changes.propose(
            proposed=[rule(name)], base=policies.active(), reason="A test", by=administrator, now=now
        )
        for name in ("one", "other")
    ]
    outcomes = at_once(
        *[
            lambda change=change: changes.agree(
                change=change, seen=change.proposed_hash, by=administrator2, now=now
            )
            for change in (*changed, changed[0])
        ]
    )
    assert all(isinstance(lost, Refusal) for lost in losers(outcomes))
    assert len(losers(outcomes)) == 2
    assert policies.active().version == RuleSet.objects.count() == 2


def test_a_change_of_the_rules_and_an_approval(
    *, wish: DepositRequest, checker: User, administrator: User, administrator2: User, now: datetime
) -> None:
    """Either order is fine: approved under the old rules, or refused and drawn up anew."""
    change = changes.propose(
        proposed=[rule("two", steps=TWO)], base=policies.active(), reason="A test", by=administrator, now=now
    )
    outcomes = at_once(
        lambda: changes.agree(change=change, seen=change.proposed_hash, by=administrator2, now=now),
        lambda: approving(wish, checker, now),
    )
    state, needed = DepositRequest.objects.values_list("state", "approval__needed").get()
    assert (state, needed) == (("requested", 2) if losers(outcomes) else ("approved", 1))
    assert all(isinstance(lost, RulesChanged) for lost in losers(outcomes))
