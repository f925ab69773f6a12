"""One choice of many in two windows at once, and two people with the same choice."""

from datetime import datetime

import pytest
from django.utils import timezone

from backoffice.access.models import User
from backoffice.approvals import bulk
from backoffice.approvals.models import Approval, BulkRow, BulkRun, Decision
from backoffice.audit.trail import Refusal
from funding.models import Wallet
from tests.threads import at_once, losers
from tests.wishes import a_deposit, approval_of

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def five(wallet: Wallet, maker: User, now: datetime) -> list[Approval]:
    return [approval_of(a_deposit(wallet, by=maker, now=now, amount=f"{each}.00")) for each in range(1, 6)]


def chosen(approvals: list[Approval], by: User, now: datetime) -> BulkRun:
    picks = [bulk.Pick(each, each.facts_hash) for each in approvals]
    return bulk.choose(picks=picks, chosen="A test", by=by, now=now)


def confirming(run: BulkRun, by: User) -> BulkRun:
    mine = BulkRun.objects.get(pk=run.pk)
    return bulk.confirm(run=mine, leaves_looks=False, reason="", by=by, now=timezone.now())


def test_two_windows_confirm_once_and_decide_once(five: list[Approval], checker: User, now: datetime) -> None:
    run = chosen(five, checker, now)
    outcomes = at_once(lambda: confirming(run, checker), lambda: confirming(run, checker))
    assert len(losers(outcomes)) == 1
    assert isinstance(losers(outcomes)[0], Refusal)
    confirmed = BulkRun.objects.get(pk=run.pk)
    assert losers(at_once(*[lambda: bulk.go_on(confirmed, by=checker)] * 2)) == []
    assert Decision.objects.count() == 5
    assert set(run.rows.values_list("state", flat=True)) == {BulkRow.State.DONE}


def test_two_people_with_the_same_choice(
    five: list[Approval], checker: User, checker2: User, now: datetime
) -> None:
    runs = [confirming(chosen(five, person, now), person) for person in (checker, checker2)]
    at_once(lambda: bulk.go_on(runs[0], by=checker), lambda: bulk.go_on(runs[1], by=checker2))
    assert Decision.objects.count() == 5
    assert set(Approval.objects.values_list("state", flat=True)) == {"approved"}
    done = BulkRow.objects.filter(state=BulkRow.State.DONE).count()
    assert (done, BulkRow.objects.filter(state=BulkRow.State.REFUSED).count()) == (5, 5)
    assert all("was first" in row.outcome for row in BulkRow.objects.filter(state=BulkRow.State.REFUSED))
