"""In bulk: by made-up actions, by many single acts, and by the pages that approve many."""

from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client as Browser

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals.decisions import (
    SameHands,
)
from backoffice.approvals.models import Approval, BulkRun
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals import pages as queue
from tests.backoffice.approvals.attempts import attempt
from tests.backoffice.approvals.desk import approve, refusals, rules_become
from tests.backoffice.approvals.rulebook import TWO, rule
from tests.backoffice.approvals.test_bypasses.tools import (
    REQUESTS,
    SignIn,
    a_limit,
    forget_the_proof,
    is_untouched,
)
from tests.people import as_now
from tests.wishes import a_deposit, approval_of

pytestmark = pytest.mark.django_db


class TestInBulk:
    @attempt("bulk", "own request")
    def test_an_action_that_is_none(
        self, client_of: SignIn, wish: DepositRequest, maker: User, superuser: User
    ) -> None:
        """Lists are posted with made-up actions over all pages: approve, delete_selected."""
        maker.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        for person in (maker, superuser):
            browser = client_of(person)
            for action in ("approve", "approve_selected", "delete_selected"):
                for page in (REQUESTS, "/admin/approvals/approval/"):
                    browser.post(
                        page,
                        {"action": action, "select_across": 1, "_selected_action": [wish.pk], "post": "yes"},
                    )
        assert is_untouched(wish)

    @attempt("bulk", "own request")
    def test_own_among_others(self, wallet: Wallet, maker: User, checker: User, now: datetime) -> None:
        """Somebody approves a list of requests one after the other, with their own between the others."""
        checker.groups.add(Group.objects.get(name=roles.FINANCE_MAKER))
        mine = a_deposit(wallet, by=as_now(checker), now=now, amount="1.00")
        theirs = a_deposit(wallet, by=maker, now=now, amount="2.00")
        with pytest.raises(SameHands):
            approve(mine, as_now(checker), now)
        assert approve(theirs, as_now(checker), now).state == "approved"
        assert is_untouched(mine)
        assert refusals() == ["SameHands"]
        deposits.cancel_deposit(request=theirs, by=maker, now=now)


class TestInBulkByItsOwnPages:
    def chosen(self, browser: Browser, *approvals: Approval) -> BulkRun:
        assert queue.choose(browser, *approvals).status_code == 302
        return BulkRun.objects.latest("pk")

    def confirm(self, browser: Browser, run: BulkRun) -> Any:
        return browser.post(f"/admin/approvals/bulkrun/{run.pk}/decide/", {"reason": ""})

    @attempt("bulk", "own request")
    def test_own_ones_are_ticked(self, client_of: SignIn, wish: DepositRequest, maker: User) -> None:
        """The maker, a checker too, ticks their own request and confirms the choice."""
        maker.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        browser = client_of(maker)
        self.confirm(browser, self.chosen(browser, approval_of(wish)))
        assert is_untouched(wish)

    @attempt("bulk", "own session")
    def test_the_choice_of_another_is_confirmed(
        self, client_of: SignIn, wish: DepositRequest, checker: User, checker2: User
    ) -> None:
        """A checker confirms the choice that another checker has made."""
        run = self.chosen(client_of(checker), approval_of(wish))
        assert self.confirm(client_of(checker2), run).status_code in (302, 403, 404)
        assert is_untouched(wish)

    @attempt("bulk", "step-up")
    def test_confirmed_without_a_fresh_factor(
        self, client_of: SignIn, wish: DepositRequest, checker: User
    ) -> None:
        """A choice is confirmed with a second factor that is five minutes old."""
        browser = client_of(checker)
        run = self.chosen(browser, approval_of(wish))
        forget_the_proof(browser)
        self.confirm(browser, run)
        assert is_untouched(wish)

    @attempt("bulk", "other hash")
    def test_the_hash_of_another_is_ticked(
        self, client_of: SignIn, wish: DepositRequest, maker: User, checker: User, now: datetime
    ) -> None:
        """A large request is ticked with the hash of a small one."""
        large = a_deposit(wish.wallet, by=maker, now=now, amount="9000.00")
        swapped = approval_of(large)
        swapped.facts_hash = approval_of(wish).facts_hash
        browser = client_of(checker)
        self.confirm(browser, self.chosen(browser, swapped))
        assert is_untouched(large)

    @attempt("bulk", "policy changed between look and click")
    def test_the_rules_change_between_choice_and_confirmation(
        self, *, client_of: SignIn, wish: DepositRequest, checker: User, administrator: User,
        administrator2: User, now: datetime,
    ) -> None:  # fmt: skip
        """A choice is confirmed after the rules began to ask for more."""
        browser = client_of(checker)
        run = self.chosen(browser, approval_of(wish))
        rules_become([rule("two", steps=TWO)], by=administrator, agreed_by=administrator2, now=now)
        self.confirm(browser, run)
        assert is_untouched(wish)
        assert refusals() == ["RulesChanged"]

    @attempt("bulk", "personal limit")
    def test_many_small_ones_over_the_limit_of_the_day(
        self, *, client_of: SignIn, wallet: Wallet, maker: User, checker: User, administrator: User,
        now: datetime,
    ) -> None:  # fmt: skip
        """A choice of many is confirmed that together pass the day's limit: the rest is refused."""
        wishes = [a_deposit(wallet, by=maker, now=now, amount="10.00") for _ in range(4)]
        browser = client_of(checker)
        run = self.chosen(browser, *map(approval_of, wishes))
        a_limit(checker, administrator, now, "10.00", day="20.00")
        self.confirm(browser, run)
        assert Approval.objects.filter(state="approved").count() == 2
        assert refusals() == ["OverLimit", "OverLimit"]
        for wish in DepositRequest.objects.filter(state="approved"):
            deposits.cancel_deposit(request=wish, by=maker, now=now)
