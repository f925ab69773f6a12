"""Approving many at once: exactly what was shown, each by the one door, each reported on its own."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from backoffice.access.models import User
from backoffice.approvals import bulk, limits
from backoffice.approvals.models import Approval, BulkRow, BulkRun, Decision
from backoffice.audit.trail import NotAllowed
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.pages import QUEUE, choose, text_of
from tests.wishes import a_deposit, approval_of

SignIn = Callable[[User], Browser]
Make = Callable[..., list[Approval]]


@pytest.fixture
def some(wallet: Wallet, maker: User, now: datetime) -> Make:
    """Deposits that wait, of different amounts."""

    def make(count: int, *, start: int = 1, by: User = maker) -> list[Approval]:
        return [
            approval_of(
                a_deposit(wallet, by=by, now=now - timedelta(minutes=number), amount=f"{start + number}.00")
            )
            for number in range(count)
        ]

    return make


def run_of(answer: object) -> BulkRun:
    assert answer.status_code == 302  # type: ignore[attr-defined]
    return BulkRun.objects.latest("pk")


def confirm(browser: Browser, run: BulkRun, **given: str) -> object:
    return browser.post(f"/admin/approvals/bulkrun/{run.pk}/decide/", given)


def outcomes(run: BulkRun) -> dict[int, str]:
    return dict(run.rows.values_list("approval", "state"))


class TestChoosing:
    def test_decides_nothing_and_shows_count_sum_and_largest(
        self, client_of: SignIn, checker: User, some: Make
    ) -> None:
        browser, three = client_of(checker), some(3, start=10)
        answer = choose(browser, *three)
        shown = text_of(browser.get(answer.url))
        assert "Approve 3 at once?" in shown
        assert "33.00 USDC largest: 12.00 USDC" in shown
        assert not Decision.objects.exists()

    def test_the_whole_filter_is_chosen_by_its_own_button(
        self, client_of: SignIn, checker: User, some: Make
    ) -> None:
        some(4)
        run = run_of(choose(client_of(checker), how="all"))
        assert run.rows.count() == 4

    def test_nothing_ticked_is_said(self, client_of: SignIn, checker: User, approval: Approval) -> None:
        browser = client_of(checker)
        assert "Tick at least one request" in text_of(browser.get(choose(browser).url))

    def test_my_own_what_is_decided_and_what_i_may_not_see_are_left_out(
        self, *, client_of: SignIn, checker: User, checker2: User, maker: User, some: Make, now: datetime
    ) -> None:
        one, two = some(2)
        request = DepositRequest.objects.get(approval=two)
        deposits.reject_deposit(request=request, by=checker2, seen=two.facts_hash, reason="No", now=now)
        run = run_of(choose(client_of(checker), one, two))
        assert outcomes(run) == {one.pk: "waiting", two.pk: "left_out"}
        assert "checker2 was first: rejected" in run.rows.get(approval=two).outcome

    @pytest.mark.parametrize("pick", ["x", "1", "999999:abc", "-1:abc", f"{'9' * 30}:abc", ":"])
    def test_rubbish_is_no_choice(
        self, client_of: SignIn, checker: User, approval: Approval, pick: str
    ) -> None:
        answer = client_of(checker).post(f"{QUEUE}bulk/choose/", {"choose": "ticked", "pick": [pick]})
        assert answer.status_code == 302
        assert not BulkRow.objects.filter(state="waiting").exists()

    def test_at_most_so_many(self, checker: User, approval: Approval, now: datetime) -> None:
        picks = [bulk.Pick(approval, approval.facts_hash)] * (bulk.MOST + 1)
        with pytest.raises(bulk.NothingChosen, match="At most 200"):
            bulk.choose(picks=picks, chosen="all", by=checker, now=now)

    def test_an_auditor_chooses_nothing_that_could_be_approved(
        self, client_of: SignIn, auditor: User, approval: Approval
    ) -> None:
        run = run_of(choose(client_of(auditor), approval))
        assert outcomes(run) == {approval.pk: "left_out"}


class TestConfirming:
    def test_approves_just_the_ticked_ones(self, client_of: SignIn, checker: User, some: Make) -> None:
        browser, five = client_of(checker), some(5)
        run = run_of(choose(browser, five[0], five[3]))
        confirm(browser, run)
        approved = set(Approval.objects.filter(state="approved").values_list("pk", flat=True))
        assert approved == {five[0].pk, five[3].pk}
        shown = text_of(browser.get(f"/admin/approvals/bulkrun/{run.pk}/change/"))
        assert "2 approved by you, 0 not approved, 0 still waiting." in shown

    def test_what_arrives_and_what_leaves_in_between(
        self, *, client_of: SignIn, checker: User, checker2: User, some: Make, maker: User, now: datetime
    ) -> None:
        """C091: exactly what was shown, less what is decided by then, each named; nothing new."""
        browser, chosen = client_of(checker), some(6)
        run = run_of(choose(browser, how="all"))
        late = some(2, start=50)
        gone = chosen[:2]
        for each in gone:
            request = DepositRequest.objects.get(approval=each)
            deposits.cancel_deposit(request=request, by=maker, now=now)
        confirm(browser, run)
        assert outcomes(run) == {each.pk: "refused" if each in gone else "done" for each in chosen}
        assert all("maker was first: cancelled" in row.outcome for row in run.rows.filter(state="refused"))
        assert set(
            Approval.objects.filter(pk__in=[each.pk for each in late]).values_list("state", flat=True)
        ) == {"pending"}

    def test_one_that_changed_since_is_refused_and_the_others_go_on(
        self, client_of: SignIn, checker: User, some: Make
    ) -> None:
        browser, (one, two) = client_of(checker), some(2)
        one.facts_hash = "0" * 64
        run = run_of(choose(browser, one, two))
        confirm(browser, run)
        assert outcomes(run) == {one.pk: "left_out", two.pk: "done"}

    def test_the_limit_of_the_day_ends_it_row_by_row(
        self, client_of: SignIn, checker: User, administrator: User, some: Make, now: datetime
    ) -> None:
        limits.set_limit(
            person=checker, currency="USDC", per_decision=Decimal(20), per_day=Decimal(25), reason="new",
            by=administrator, now=now,
        )  # fmt: skip
        browser, chosen = client_of(checker), some(3, start=10)
        run = run_of(choose(browser, *chosen))
        confirm(browser, run)
        assert [outcomes(run)[each.pk] for each in chosen] == ["done", "done", "refused"]
        assert "in 24 hours" in run.rows.get(state="refused").outcome

    def test_what_deserves_a_look_can_be_left_out(self, client_of: SignIn, checker: User, some: Make) -> None:
        browser, chosen = client_of(checker), some(2)
        run = run_of(choose(browser, *chosen))
        assert set(run.rows.values_list("grade", flat=True)) == {"look"}
        answer = confirm(browser, run, leave_out_looks="on")
        assert "Nothing is left" in text_of(browser.get(answer.url))  # type: ignore[attr-defined]
        assert not Decision.objects.exists()

    def test_asks_for_the_factor(self, client_of: SignIn, checker: User, approval: Approval) -> None:
        browser = client_of(checker)
        run = run_of(choose(browser, approval))
        session = browser.session
        session["account_authentication_methods"] = []
        session.save()
        confirm(browser, run)
        assert not Decision.objects.exists()
        confirm(browser, run, factor="practice")
        assert Decision.objects.count() == 1

    def test_goes_on_where_it_stopped(
        self, client_of: SignIn, checker: User, some: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bulk.go_on, "__kwdefaults__", {"seconds": 0.0})
        browser, chosen = client_of(checker), some(3)
        run = run_of(choose(browser, *chosen))
        confirm(browser, run)
        assert run.rows.filter(state="waiting").count() == 2
        shown = browser.get(f"/admin/approvals/bulkrun/{run.pk}/change/")
        assert "Go on with 2" in text_of(shown)
        confirm(browser, run)
        confirm(browser, run)
        assert run.rows.filter(state="done").count() == 3

    def test_twice_is_once(self, client_of: SignIn, checker: User, approval: Approval) -> None:
        browser = client_of(checker)
        run = run_of(choose(browser, approval))
        confirm(browser, run)
        assert confirm(browser, run).status_code == 302  # type: ignore[attr-defined]
        assert Decision.objects.count() == 1

    def test_is_nobody_elses(
        self,
        *,
        client_of: SignIn,
        checker: User,
        checker2: User,
        auditor: User,
        approval: Approval,
        now: datetime,
    ) -> None:
        run = run_of(choose(client_of(checker), approval))
        assert confirm(client_of(checker2), run).status_code == 404  # type: ignore[attr-defined]
        assert confirm(client_of(auditor), run).status_code == 403  # type: ignore[attr-defined]
        with pytest.raises(NotAllowed):
            bulk.confirm(run=run, leaves_looks=False, reason="", by=checker2, now=now)
        assert not Decision.objects.exists()


class TestRows:
    def test_what_was_chosen_does_not_change(self, client_of: SignIn, checker: User, some: Make) -> None:
        one, two = some(2)
        run = run_of(choose(client_of(checker), one))
        for change in ({"seen_hash": "1" * 64}, {"approval": two}, {"amount": Decimal(7)}):
            with pytest.raises(IntegrityError), transaction.atomic():
                run.rows.update(**change)

    def test_a_run_that_is_confirmed_takes_in_nothing(
        self, client_of: SignIn, checker: User, some: Make
    ) -> None:
        one, two = some(2)
        browser = client_of(checker)
        run = run_of(choose(browser, one))
        confirm(browser, run)
        with pytest.raises(IntegrityError), transaction.atomic():
            BulkRow.objects.create(
                run=run, number=9, approval=two, seen_hash=two.facts_hash, summary="x", grade="pass"
            )

    def test_the_page_costs_the_same_for_few_and_many(
        self, client_of: SignIn, checker: User, some: Make
    ) -> None:
        browser = client_of(checker)
        few, many = run_of(choose(browser, *some(2))), run_of(choose(browser, *some(20, start=30)))
        counts = []
        for run in (few, few, many):
            with CaptureQueriesContext(connection) as asked:
                browser.get(f"/admin/approvals/bulkrun/{run.pk}/change/")
            counts.append(len(asked))
        assert counts[1] == counts[2]
