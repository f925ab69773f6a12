"""Through the pages: forged forms, addresses, lists, inlines, stale pages and others' sessions."""

import secrets
from datetime import datetime
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals.decisions import (
    AlreadyDecided,
    ChangedSinceShown,
)
from backoffice.approvals.forms import DecideForm
from backoffice.approvals.models import Limit, RuleSet
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.attempts import attempt
from tests.backoffice.approvals.desk import approve, refusals, rules_become
from tests.backoffice.approvals.rulebook import TWO, rule
from tests.backoffice.approvals.test_bypasses.tools import (
    REQUESTS,
    SignIn,
    a_limit,
    forget_the_proof,
    is_untouched,
    press,
    refused_by_the_database,
)
from tests.people import a_person, as_now
from tests.wishes import a_deposit, approval_of

pytestmark = pytest.mark.django_db


class TestTheForm:
    @attempt("form", "own request")
    def test_own_request(self, client_of: SignIn, wish: DepositRequest, maker: User) -> None:
        """The maker holds the checker's role too and presses Approve on their own request."""
        maker.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        press(client_of(maker), wish)
        assert is_untouched(wish)
        assert refusals() == ["SameHands"]

    @attempt("form", "superuser")
    def test_superuser(self, client_of: SignIn, wish: DepositRequest, superuser: User) -> None:
        """A superuser without a role posts the decision."""
        assert press(client_of(superuser), wish).status_code in (403, 404)
        assert is_untouched(wish)

    @attempt("form", "own request")
    def test_superuser_who_is_the_maker(self, client_of: SignIn, wish: DepositRequest, maker: User) -> None:
        """The maker is made a superuser, holds every role, and approves."""
        maker.groups.set(Group.objects.all())
        User.objects.filter(pk=maker.pk).update(is_superuser=True)
        press(client_of(as_now(maker)), wish)
        assert is_untouched(wish)
        assert refusals() == ["SameHands"]

    @attempt("form", "other hash")
    def test_another_hash(self, client_of: SignIn, wish: DepositRequest, checker: User) -> None:
        """The hidden hash is replaced by one of the attacker's choice."""
        press(client_of(checker), wish, seen="f" * 64)
        assert is_untouched(wish)
        assert refusals() == ["ChangedSinceShown"]

    @attempt("form", "step-up")
    def test_without_a_fresh_factor(self, client_of: SignIn, wish: DepositRequest, checker: User) -> None:
        """The session's second factor is five minutes old, and the field for it is left out."""
        browser = client_of(checker)
        forget_the_proof(browser)
        press(browser, wish)
        assert is_untouched(wish)

    @attempt("form", "step-up")
    def test_a_page_that_forgot_to_ask(
        self, client_of: SignIn, wish: DepositRequest, checker: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The page itself was changed so that it no longer asks for the factor: the operation does."""
        monkeypatch.setattr(DecideForm, "needs_step_up", False)
        browser = client_of(checker)
        forget_the_proof(browser)
        press(browser, wish)
        assert is_untouched(wish)
        assert refusals() == ["NotProved"]

    @attempt("form", "personal limit")
    def test_over_the_personal_limit(
        self, client_of: SignIn, wish: DepositRequest, checker: User, administrator: User, now: datetime
    ) -> None:
        """A checker approves more than their personal limit."""
        a_limit(checker, administrator, now, "24.99")
        press(client_of(checker), wish)
        assert is_untouched(wish)
        assert refusals() == ["OverLimit"]

    @attempt("form", "two seats")
    def test_twice_in_two_tabs(
        self, client_of: SignIn, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        """One checker presses Approve in two tabs, where two people are asked."""
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        for _ in range(2):
            press(client_of(checker), large)
        large.refresh_from_db()
        assert (large.state, approval_of(large).decisions.count()) == ("requested", 1)
        assert refusals() == ["AlreadyDecided"]

    @attempt("form", "role")
    def test_as_somebody_who_may_only_look(
        self, client_of: SignIn, wish: DepositRequest, auditor: User
    ) -> None:
        """An auditor, who sees the page, posts the decision."""
        press(client_of(auditor), wish)
        assert is_untouched(wish)
        assert refusals() == ["NotAllowed"]

    @attempt("form", "customer")
    def test_for_a_customer_of_others(self, client_of: SignIn, wish: DepositRequest) -> None:
        """A checker of other customers posts the decision: the answer is that of an id that never was."""
        stranger = a_person("stranger", roles.FINANCE_CHECKER, works_for_all=False)
        assert press(client_of(stranger), wish).status_code == 404
        assert is_untouched(wish)


class TestTheAddressWithForgedFields:
    @attempt("admin URL", "states are not fields")
    def test_state_and_approval_in_the_request_form(
        self, client_of: SignIn, wallet: Wallet, maker: User
    ) -> None:
        """The form that asks for a deposit is posted with state, approval, maker and rule filled in."""
        forged = {"state": "approved", "approval": "1", "maker": "1", "rule": "x", "needed": "0"}
        given = {
            "form_token": secrets.token_hex(16),
            "wallet": wallet.pk,
            "amount": "5",
            "chain": "",
            "note": "",
        }
        client_of(maker).post(f"{REQUESTS}add/", given | forged)
        assert is_untouched(DepositRequest.objects.get())

    @attempt("admin URL", "states are not fields")
    def test_the_change_page_takes_no_post(
        self, client_of: SignIn, wish: DepositRequest, checker: User, superuser: User
    ) -> None:
        """The standard change pages of request, approval and decision are posted with state=approved."""
        for person in (checker, superuser):
            browser = client_of(person)
            for url in (
                f"{REQUESTS}{wish.pk}/change/",
                f"/admin/approvals/approval/{wish.approval_id}/change/",
            ):
                answer = browser.post(url, {"state": "approved", "needed": 0, "_save": "Save"})
                assert answer.status_code in (403, 404, 405)
        assert is_untouched(wish)

    @attempt("admin URL", "own request")
    def test_the_maker_as_a_field(
        self, client_of: SignIn, wish: DepositRequest, maker: User, checker: User
    ) -> None:
        """The maker, a checker too, decides with `by`, `maker` and `person` naming somebody else."""
        maker.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        press(client_of(maker), wish, by=checker.pk, maker=checker.pk, person=checker.pk)
        assert is_untouched(wish)
        assert refusals() == ["SameHands"]

    @attempt("admin URL", "rules")
    def test_add_pages_of_rows_that_operations_write(
        self, client_of: SignIn, wish: DepositRequest, administrator: User, superuser: User
    ) -> None:
        """The add pages of approvals, decisions, steps, rules and limits are posted, by a superuser too."""
        for person in (administrator, superuser):
            browser = client_of(person)
            for model in ("approval", "decision", "step", "rule", "ruleset", "limit"):
                answer = browser.post(
                    f"/admin/approvals/{model}/add/", {"state": "active", "person": person.pk}
                )
                assert answer.status_code in (200, 403, 404, 405)
        assert is_untouched(wish)
        assert (RuleSet.objects.count(), Limit.objects.count()) == (1, 0)

    @attempt("admin URL", "GET changes nothing")
    def test_a_link_that_decides(self, client_of: SignIn, wish: DepositRequest, checker: User) -> None:
        """The decision's fields are put into a link."""
        seen = approval_of(wish).facts_hash
        client_of(checker).get(f"{REQUESTS}{wish.pk}/decide/?verdict=approve&seen={seen}")
        assert is_untouched(wish)

    @attempt("admin URL", "states are not fields")
    def test_cells_of_a_list(self, client_of: SignIn, wish: DepositRequest, checker: User) -> None:
        """A list is posted as if its state column could be edited in place."""
        forged = {
            "form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": wish.pk, "form-0-state": "approved",
            "_save": "Save",
        }  # fmt: skip
        client_of(checker).post(REQUESTS, forged)
        assert is_untouched(wish)


class TestAnotherModelsInline:
    @attempt("inline", "states are not fields")
    @pytest.mark.parametrize("page", ["cards/customer", "funding/wallet", "access/user", "auth/group"])
    def test_rows_slipped_into_another_page(
        self, client_of: SignIn, wish: DepositRequest, superuser: User, page: str
    ) -> None:
        """Change pages of customers, wallets, people and roles are posted with rows of other models."""
        label, name = page.split("/")
        pk = apps.get_model(label, name)._default_manager.values_list("pk", flat=True).first()
        forged: dict[str, Any] = {"groups": "1", "is_superuser": "on", "user_permissions": "1"}
        for prefix in ("requests", "depositrequest_set", "decisions", "decision_set", "approval_limits"):
            forged |= {
                f"{prefix}-TOTAL_FORMS": 1, f"{prefix}-INITIAL_FORMS": 1, f"{prefix}-0-id": wish.pk,
                f"{prefix}-0-state": "approved", f"{prefix}-0-verdict": "approve",
            }  # fmt: skip
        answer = client_of(superuser).post(f"/admin/{page}/{pk}/change/", forged)
        assert answer.status_code in (200, 403, 404, 405)
        assert is_untouched(wish)
        assert not Limit.objects.exists()


class TestAStalePage:
    @attempt("stale page", "decided once")
    def test_after_somebody_rejected(
        self, client_of: SignIn, wish: DepositRequest, checker: User, checker2: User, now: datetime
    ) -> None:
        """A page from before another checker's rejection is posted with Approve."""
        seen = approval_of(wish).facts_hash
        deposits.reject_deposit(request=wish, by=checker2, seen=seen, reason="No", now=now)
        press(client_of(checker), wish, seen=seen)
        wish.refresh_from_db()
        assert wish.state == "rejected"

    @attempt("stale page", "decided once")
    def test_after_the_maker_took_it_back(
        self, wish: DepositRequest, maker: User, checker: User, now: datetime
    ) -> None:
        """A request is approved after its maker cancelled it."""
        stale = DepositRequest.objects.select_related("approval").get(pk=wish.pk)
        deposits.cancel_deposit(request=wish, by=maker, now=now)
        with pytest.raises(AlreadyDecided):
            approve(stale, checker, now)
        assert refusals() == ["AlreadyDecided"]

    @attempt("stale page", "policy changed between look and click")
    def test_under_rules_that_ask_for_more_by_now(
        self, *, client_of: SignIn, wish: DepositRequest, checker: User, administrator: User,
        administrator2: User, now: datetime,
    ) -> None:  # fmt: skip
        """The rules change between look and click; the old page is posted, twice."""
        seen = approval_of(wish).facts_hash
        rules_become([rule("two", steps=TWO)], by=administrator, agreed_by=administrator2, now=now)
        browser = client_of(checker)
        for _ in range(2):
            press(browser, wish, seen=seen)
        assert is_untouched(wish)
        assert refusals() == ["RulesChanged", "ChangedSinceShown"]
        assert approval_of(wish).needed == 2


class TestAReplayOnAnotherObject:
    @attempt("replay", "other hash")
    def test_the_hash_of_a_small_one_on_a_large_one(
        self, client_of: SignIn, wish: DepositRequest, maker: User, checker: User, now: datetime
    ) -> None:
        """The post that approved a small deposit is sent again to the page of a large one."""
        large = a_deposit(wish.wallet, by=maker, now=now, amount="9000.00")
        press(client_of(checker), large, seen=approval_of(wish).facts_hash)
        assert is_untouched(large)
        assert refusals() == ["ChangedSinceShown"]

    @attempt("replay", "other hash")
    def test_the_same_amount_again(
        self, wish: DepositRequest, maker: User, checker: User, now: datetime
    ) -> None:
        """The approval of one request is used for a second one with the same wallet and amount."""
        twin = a_deposit(wish.wallet, by=maker, now=now)
        with pytest.raises(ChangedSinceShown):
            approve(twin, checker, now, seen=approval_of(wish).facts_hash)
        assert is_untouched(twin)

    @attempt("raw SQL", "replay on another object")
    def test_an_approval_moved_to_another_request(
        self, wish: DepositRequest, maker: User, checker: User, now: datetime
    ) -> None:
        """The approval that somebody gave one request is hung onto another by SQL."""
        given = approve(wish, checker, now)
        other = a_deposit(wish.wallet, by=maker, now=now, amount="9000.00")
        DepositRequest.objects.filter(pk=given.pk).update(state="cancelled")
        told = refused_by_the_database(
            "UPDATE funding_depositrequest SET approval_id = %s WHERE id = %s", given.approval_id, other.pk
        )
        assert "approval" in told
        assert is_untouched(other)
