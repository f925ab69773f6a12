"""Every door times every rule: ways around an approval, none of which succeeds.

docs/security.md lists them (`tests/backoffice/approvals/attempts.py`).
"""

import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core import serializers
from django.db import Error, connection, transaction
from django.test import Client as Browser

from backoffice.access import people, roles
from backoffice.access.models import User
from backoffice.approvals import changes, decisions, limits, policies
from backoffice.approvals.decisions import (
    AlreadyDecided,
    ChangedSinceShown,
    NoLongerGood,
    NotProved,
    NotYourSession,
    OverLimit,
    SameHands,
)
from backoffice.approvals.forms import DecideForm
from backoffice.approvals.models import Approval, Decision, Limit, RuleSet, RuleSetChange
from backoffice.approvals.rules import CHECKER, COMPLIANCE, Step
from backoffice.audit.context import Origin, acting_from
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.celery import app
from backoffice.delivery import sender
from backoffice.endl import Client
from cards import issuing
from cards.models import Cardholder, CardOrder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.attempts import ATTEMPTS, PAGE, as_table, attempt, page_with
from tests.backoffice.approvals.desk import approve, refusals, rules_become
from tests.backoffice.approvals.rulebook import TWO, rule
from tests.people import a_person, as_now
from tests.wishes import a_deposit, an_order, approval_of
from tests.worker import Worker

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]
REQUESTS = "/admin/funding/depositrequest/"


@pytest.fixture(autouse=True)
def _nothing_came_of_it(db: None, emulator: "Emulator", endl: Client) -> Any:
    """After each attempt: the sender finds nothing to send, and Endl has made no deposit and no card."""
    yield
    for wish in DepositRequest.objects.all():
        sender.deliver(deposits.ROAD, wish.pk, endl=endl)
    for order in CardOrder.objects.exclude(approval__needed=0):
        sender.deliver(issuing.ROAD, order.pk, endl=endl)
    made = [entry["operation"] for entry in emulator.ledger()]
    assert "start_deposit" not in made
    assert made.count("issue_card") == 0


def press(browser: Browser, wish: DepositRequest, verdict: str = "approve", **forged: Any) -> Any:
    """Post the decision's form as a browser would, with whatever else somebody puts into it."""
    given = {"seen": approval_of(wish).facts_hash, "verdict": verdict, "reason": "", **forged}
    return browser.post(f"{REQUESTS}{wish.pk}/decide/", given)


def is_untouched(wish: DepositRequest, state: str = "requested") -> bool:
    """Whether a request still waits, and nobody's decision stands on its approval."""
    wish.refresh_from_db()
    approval = approval_of(wish)
    return wish.state == state and approval.state == "pending" and not approval.decisions.exists()


def refused_by_the_database(sql: str, *values: Any) -> str:
    """Run raw SQL that the database must refuse; returns its words."""
    with pytest.raises(Error) as told, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)
    return str(told.value)


def forget_the_proof(browser: Browser) -> None:
    """Make the session's proof older than a step-up lasts."""
    session = browser.session
    for record in session["account_authentication_methods"]:
        record["at"] = time.time() - 301
    session.save()


def to_the_gate(wish: Any, endl: Client, now: datetime) -> str:
    """Try to send it, and say what became of it."""
    road: Any = issuing.ROAD if isinstance(wish, CardOrder) else deposits.ROAD
    sender.deliver(road, wish.pk, endl=endl, clock=lambda: now)
    wish.refresh_from_db()
    return str(wish.state)


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


class TestAnothersSession:
    @attempt("session of another", "own session")
    def test_an_operation_in_anothers_name(
        self, wish: DepositRequest, checker: User, maker: User, now: datetime
    ) -> None:
        """Code that serves the maker's session calls the operation in the checker's name."""
        served = Origin(is_web=True, person=maker.pk, factor="mfa", factor_age_seconds=1)
        with acting_from(served), pytest.raises(NotYourSession):
            approve(wish, checker, now)
        assert is_untouched(wish)
        assert refusals() == ["NotYourSession"]

    @attempt("session of another", "deactivated")
    def test_the_session_of_somebody_who_left(
        self, client_of: SignIn, wish: DepositRequest, checker: User, administrator: User
    ) -> None:
        """The browser of a checker stays open after they were deactivated."""
        browser = client_of(checker)
        people.deactivate(person=checker, reason="Left", by=administrator)
        assert press(browser, wish).status_code in (302, 403, 404)
        assert is_untouched(wish)

    @attempt("session of another", "role")
    def test_the_session_of_somebody_whose_role_was_taken(
        self, client_of: SignIn, wish: DepositRequest, checker: User, administrator: User
    ) -> None:
        """The browser of a checker stays open after their role was taken."""
        browser = client_of(checker)
        people.take_role(person=checker, role=roles.FINANCE_CHECKER, reason="Moved", by=administrator)
        press(browser, wish)
        assert is_untouched(wish)

    @attempt("session of another", "no impersonation")
    def test_nobody_gives_themselves_a_role(
        self, client_of: SignIn, wish: DepositRequest, administrator: User
    ) -> None:
        """An administrator makes themselves a checker, to approve."""
        with pytest.raises(people.OwnAccount):
            people.give_role(person=administrator, role=roles.FINANCE_CHECKER, reason="x", by=administrator)
        assert press(client_of(administrator), wish).status_code in (403, 404)
        assert is_untouched(wish)
        assert refusals("role.give") == ["OwnAccount"]


class TestTheShell:
    @attempt("shell", "own request")
    def test_the_makers_own(self, wish: DepositRequest, maker: User, now: datetime) -> None:
        """The operation is called in a shell in the maker's name, a superuser with every role."""
        maker.groups.set(Group.objects.all())
        User.objects.filter(pk=maker.pk).update(is_superuser=True)
        with pytest.raises(SameHands):
            approve(wish, as_now(maker), now)
        assert refusals() == ["SameHands"]

    @attempt("shell", "superuser")
    def test_a_superusers(self, wish: DepositRequest, superuser: User, now: datetime) -> None:
        """The operation is called in a shell in the name of a superuser."""
        with pytest.raises(NotAllowed):
            approve(wish, superuser, now)
        assert is_untouched(wish)
        assert refusals() == ["NotAllowed"]

    @attempt("shell", "deactivated")
    def test_by_somebody_who_left(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        """The operation is called with a person object from before they were deactivated."""
        User.objects.filter(pk=checker.pk).update(is_active=False)
        with pytest.raises(NotAllowed):
            approve(wish, checker, now)
        assert refusals() == ["NotAllowed"]

    @attempt("shell", "role")
    def test_permissions_remembered_on_the_object(
        self, wish: DepositRequest, checker: User, now: datetime
    ) -> None:
        """A person object that remembers permissions of a role that was taken since."""
        assert checker.has_perm(deposits.PERMISSION)
        checker.groups.clear()
        with pytest.raises(NotAllowed):
            approve(wish, checker, now)
        assert refusals() == ["NotAllowed"]

    @attempt("shell", "states are not fields")
    def test_rows_saved_by_hand(self, wish: DepositRequest, now: datetime) -> None:
        """Approval and request are set to approved with the ORM, one way and the other."""
        approval = approval_of(wish)
        approval.state, approval.decided_at, approval.good_until = "approved", now, now + timedelta(1)
        for deed in (
            approval.save,
            lambda: Approval.objects.update(state="approved", decided_at=now, good_until=now),
            lambda: DepositRequest.objects.update(state="approved"),
            lambda: Approval.objects.filter(pk=approval.pk).update(needed=0, rule=policies.CEILING_RULE),
        ):
            with pytest.raises(Error), transaction.atomic():
                deed()
        assert is_untouched(wish)

    @attempt("shell", "states are not fields")
    def test_a_fixture_that_is_loaded(self, wish: DepositRequest) -> None:
        """`loaddata` brings the request and its approval as approved."""
        rows = serializers.serialize("json", [approval_of(wish)]).replace('"pending"', '"approved"')
        [row] = serializers.deserialize("json", rows)
        with pytest.raises(Error), transaction.atomic():
            row.save()
        assert is_untouched(wish)

    @attempt("shell", "personal limit")
    def test_an_own_limit_raised(self, checker: User, administrator: User, now: datetime) -> None:
        """Somebody who is checker and administrator raises their own limit, and agrees to it."""
        both = a_person("both", roles.FINANCE_CHECKER, roles.ADMINISTRATOR)
        a_limit(both, administrator, now, "1.00")
        with pytest.raises(limits.OwnLimit):
            a_limit(both, both, now, "9999.00")
        raise_ = a_limit(both, administrator, now, "9999.00")
        with pytest.raises(limits.OwnLimit):
            limits.agree(change=raise_, seen=limits.seen_hash(raise_), by=both, now=now)
        assert Limit.objects.get(person=both).per_decision == 1
        assert refusals("limit.set") + refusals("limit.agree") == ["OwnLimit", "OwnLimit"]

    @attempt("shell", "personal limit")
    def test_a_limit_raised_by_one(self, checker: User, administrator: User, now: datetime) -> None:
        """One administrator raises a limit and agrees to it."""
        a_limit(checker, administrator, now, "1.00")
        raise_ = a_limit(checker, administrator, now, "9999.00")
        with pytest.raises(limits.SameAdministrator):
            limits.agree(change=raise_, seen=limits.seen_hash(raise_), by=administrator, now=now)
        assert Limit.objects.get().per_decision == 1
        assert refusals("limit.agree") == ["SameAdministrator"]

    @attempt("shell", "personal limit")
    def test_a_large_one_in_slices(
        self, wallet: Wallet, maker: User, checker: User, administrator: User, now: datetime
    ) -> None:
        """A checker whose day is used up approves one more slice, a minute before it is a day ago."""
        a_limit(checker, administrator, now, "60.00", day="100.00")
        first = approve(a_deposit(wallet, by=maker, now=now, amount="60.00"), checker, now)
        second = a_deposit(wallet, by=maker, now=now, amount="60.00")
        with pytest.raises(OverLimit):
            approve(second, checker, now + timedelta(hours=23, minutes=59))
        assert is_untouched(second)
        deposits.cancel_deposit(request=first, by=maker, now=now)


class TestTheRulesThemselves:
    @attempt("rule change", "self-approved rule change")
    def test_a_change_that_its_maker_agrees_to(self, administrator: User, now: datetime) -> None:
        """An administrator proposes rules and agrees to them."""
        change = a_change(administrator, now)
        with pytest.raises(changes.SameAdministrator):
            changes.agree(change=change, seen=change.proposed_hash, by=administrator, now=now)
        assert policies.active().version == 1
        assert refusals("rules.agree") == ["SameAdministrator"]

    @attempt("rule change", "superuser")
    def test_a_change_by_a_superuser(self, administrator: User, superuser: User, now: datetime) -> None:
        """A superuser proposes rules, and agrees to another's."""
        change = a_change(administrator, now)
        with pytest.raises(NotAllowed):
            changes.agree(change=change, seen=change.proposed_hash, by=superuser, now=now)
        with pytest.raises(NotAllowed):
            a_change(superuser, now)
        assert policies.active().version == 1
        assert refusals("rules.agree") + refusals("rules.propose") == ["NotAllowed", "NotAllowed"]

    @attempt("rule change", "other hash")
    def test_a_change_that_was_swapped(
        self, administrator: User, administrator2: User, now: datetime
    ) -> None:
        """The second administrator agrees to one change and the id of another is posted."""
        shown, other = a_change(administrator, now), a_change(administrator, now, most="9000.00")
        with pytest.raises(changes.ChangedSinceShown):
            changes.agree(change=other, seen=shown.proposed_hash, by=administrator2, now=now)
        assert policies.active().version == 1

    @attempt("rule change", "step-up")
    def test_a_change_without_a_fresh_factor(
        self, administrator: User, administrator2: User, now: datetime
    ) -> None:
        """An administrator's session agrees to rules with a factor that is too old."""
        change = a_change(administrator, now)
        served = Origin(is_web=True, person=administrator2.pk, factor="mfa", factor_age_seconds=300)
        with acting_from(served), pytest.raises(NotProved):
            changes.agree(change=change, seen=change.proposed_hash, by=administrator2, now=now)
        assert refusals("rules.agree") == ["NotProved"]

    @attempt("raw SQL", "rule set edited directly")
    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE approvals_rule SET content = '{}', asks_nobody = (1 = 1)",
            "UPDATE approvals_rule SET number = number + 100",
            "DELETE FROM approvals_rule",
            "UPDATE approvals_ruleset SET state = 'retired', version = 5",
            "INSERT INTO approvals_ruleset (version, state, made_at) VALUES (1, 'active', '2026-01-01')",
        ],
    )
    def test_rules_edited_in_the_database(self, wish: DepositRequest, sql: str) -> None:
        """The active rules are edited, moved, deleted, retired and added to by SQL."""
        refused_by_the_database(sql)
        assert policies.rules_of(policies.active()) == policies.first_rules()

    @attempt("raw SQL", "self-approved rule change")
    def test_a_change_decided_in_the_database(
        self, administrator: User, administrator2: User, now: datetime
    ) -> None:
        """A proposed change is marked as agreed by its maker, or swapped after it was proposed, by SQL."""
        a_change(administrator, now)
        refused_by_the_database(
            "UPDATE approvals_rulesetchange SET state = 'approved', decided_by_id = maker_id, "
            "decided_at = made_at"
        )
        refused_by_the_database("UPDATE approvals_rulesetchange SET proposed = '[]'")
        assert policies.active().version == 1


class TestSplitting:
    @attempt("threshold splitting", "large deposit")
    def test_a_large_deposit_in_two(self, wallet: Wallet, maker: User, checker: User, now: datetime) -> None:
        """A deposit of 12,000 is asked for as two of 6,000: the second needs two people."""
        first, second = (a_deposit(wallet, by=maker, now=now, amount="6000.00") for _ in range(2))
        assert approve(second, checker, now).state == "requested"
        deposits.cancel_deposit(request=first, by=maker, now=now)
        deposits.cancel_deposit(request=second, by=maker, now=now)

    @attempt("threshold splitting", "large deposit")
    def test_a_large_deposit_by_two_makers(
        self, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        """Two makers ask for the two halves of a large deposit from one wallet."""
        first = a_deposit(wallet, by=maker, now=now, amount="6000.00")
        second = a_deposit(wallet, by=a_person("m2", roles.FINANCE_MAKER), now=now, amount="6000.00")
        assert approve(second, checker, now).state == "requested"
        deposits.cancel_deposit(request=first, by=maker, now=now)

    @attempt("threshold splitting", "manager's ceiling")
    def test_a_large_card_in_small_ones(self, cardholder: Cardholder, manager: User, now: datetime) -> None:
        """A manager orders cards within the ceiling until the day's sum is passed: the next waits."""
        orders = [an_order(cardholder, by=manager, now=now, cents=1_000_00) for _ in range(6)]
        assert [order.state for order in orders] == ["approved"] * 5 + ["requested"]

    @attempt("threshold splitting", "manager's ceiling")
    def test_an_order_cancelled_when_it_has_left_does_not_free_the_ceiling(
        self, cardholder: Cardholder, manager: User, endl: Client, now: datetime
    ) -> None:
        """A manager takes orders back to make room: only what was never sent stops counting."""
        for _ in range(5):
            an_order(cardholder, by=manager, now=now, cents=1_000_00)
        sent = CardOrder.objects.earliest("pk")
        CardOrder.objects.filter(pk=sent.pk).update(state="unknown", unclear_at=now, needs_person=True)
        with pytest.raises(Exception, match="cannot be cancelled"):
            issuing.cancel_order(request=CardOrder.objects.get(pk=sent.pk), by=manager, now=now)
        assert an_order(cardholder, by=manager, now=now, cents=1).state == "requested"


class TestRawSql:
    """On whichever database the tests run: PostgreSQL and SQLite hold the same rules."""

    APPROVE = "UPDATE approvals_approval SET state = 'approved', decided_at = %s, good_until = %s"

    @attempt("raw SQL", "enough decisions")
    def test_approved_without_a_decision(self, wish: DepositRequest, now: datetime) -> None:
        """An approval is set to approved."""
        assert "needs its decisions" in refused_by_the_database(self.APPROVE, now, now)

    @attempt("raw SQL", "own request")
    def test_a_decision_by_the_maker(self, wish: DepositRequest, now: datetime) -> None:
        """A decision by the maker is inserted, with the maker's name and with another's."""
        approval = approval_of(wish)
        for maker_id in (approval.maker_id, approval.maker_id + 1):
            with pytest.raises(Error), transaction.atomic():
                a_decision(approval, approval.maker, now, maker_id=maker_id).save(force_insert=True)

    @attempt("raw SQL", "two seats")
    def test_two_decisions_of_one_person(
        self, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        """A second decision of the same person is inserted, then the approval set to approved."""
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        approve(large, checker, now)
        with pytest.raises(Error), transaction.atomic():
            a_decision(approval_of(large), checker, now).save(force_insert=True)
        refused_by_the_database(self.APPROVE, now, now)

    @attempt("raw SQL", "role")
    def test_a_decision_for_another_step(
        self, *, cardholder: Cardholder, manager: User, compliance: User, administrator: User,
        administrator2: User, now: datetime,
    ) -> None:  # fmt: skip
        """A decision is inserted for the second step while the first one waits."""
        held = [rule("both", kind="card_order", steps=(Step(1, CHECKER), Step(1, COMPLIANCE)))]
        rules_become(held, by=administrator, agreed_by=administrator2, now=now)
        approval = approval_of(an_order(cardholder, by=manager, now=now))
        row = a_decision(approval, compliance, now, step=2, permission=issuing.COMPLIANCE_PERMISSION)
        with pytest.raises(Error), transaction.atomic():
            row.save(force_insert=True)

    @attempt("raw SQL", "deactivated")
    def test_a_decision_by_somebody_who_left(
        self, wish: DepositRequest, checker: User, now: datetime
    ) -> None:
        """A decision of a deactivated person is inserted."""
        User.objects.filter(pk=checker.pk).update(is_active=False)
        with pytest.raises(Error, match="active person"), transaction.atomic():
            a_decision(approval_of(wish), checker, now).save(force_insert=True)

    @attempt("raw SQL", "personal limit")
    def test_a_decision_over_the_limit(
        self, wish: DepositRequest, checker: User, administrator: User, now: datetime
    ) -> None:
        """A decision over its person's limit is inserted, and the limit raised."""
        a_limit(checker, administrator, now, "24.99")
        with pytest.raises(Error, match="within the limit"), transaction.atomic():
            a_decision(approval_of(wish), checker, now).save(force_insert=True)
        refused_by_the_database("UPDATE approvals_limit SET per_decision = 99, per_day = 99")

    @attempt("raw SQL", "four eyes on the record")
    def test_a_decision_that_nobody_made(
        self, wish: DepositRequest, checker: User, endl: Client, now: datetime
    ) -> None:
        """A whole, well-formed decision is inserted in a checker's name, and the request set to approved."""
        a_decision(approval_of(wish), checker, now).save(force_insert=True)
        with connection.cursor() as cursor:
            cursor.execute(self.APPROVE, (now, now + timedelta(hours=1)))
            cursor.execute("UPDATE funding_depositrequest SET state = 'approved'")
        assert to_the_gate(wish, endl, now) == "expired"
        assert "trail does not tell" in wish.outcome_message

    @attempt("raw SQL", "what was approved does not change")
    @pytest.mark.parametrize(
        "change",
        [
            "facts_hash = 'x'", "needed = 0", "amount = 1", "permission = 'cards.view_card'", "rule = 'x'",
            "maker_id = maker_id + 1", "rule_set_id = NULL", "good_until = '2099-01-01'", "figures = '{}'",
        ],
    )  # fmt: skip
    def test_an_approval_changed_after_it_was_given(
        self, wish: DepositRequest, maker: User, checker: User, now: datetime, change: str
    ) -> None:
        """Hash, amount, people, rule, maker and time of a given approval are changed."""
        given = approve(wish, checker, now)
        refused_by_the_database(f"UPDATE approvals_approval SET {change}")
        deposits.cancel_deposit(request=given, by=maker, now=now)

    @attempt("raw SQL", "steps are frozen")
    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE approvals_step SET people = 1",
            "UPDATE approvals_step SET permission = 'cards.view_card'",
            "DELETE FROM approvals_step",
            (
                "INSERT INTO approvals_step (approval_id, number, people, role, permission) "
                "SELECT approval_id, 2, 1, role, permission FROM approvals_step"
            ),
        ],
    )
    def test_steps_made_easier(self, wallet: Wallet, maker: User, now: datetime, sql: str) -> None:
        """The steps of an open approval are changed, deleted, added to."""
        a_deposit(wallet, by=maker, now=now, amount="10000.00")
        refused_by_the_database(sql)

    @attempt("raw SQL", "only a rule asks nobody")
    def test_an_approval_that_a_rule_never_gave(self, wish: DepositRequest, now: datetime) -> None:
        """An approval by rule is inserted for a deposit, with rules that do not say so."""
        approval = approval_of(wish)
        for name in ("", "deposit", policies.CEILING_RULE, "mine"):
            approval.pk, approval.rule, approval.needed, approval.state = None, name, 0, "approved"
            approval.decided_at = approval.good_until = now
            with pytest.raises(Error), transaction.atomic():
                approval.save(force_insert=True)

    @attempt("raw SQL", "decisions are kept")
    def test_decisions_rewritten(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        """A rejection is turned into an approval, and decisions and refusals are deleted."""
        seen = approval_of(wish).facts_hash
        deposits.reject_deposit(request=wish, by=checker, seen=seen, reason="No", now=now)
        refused_by_the_database("UPDATE approvals_decision SET verdict = 'approve'")
        refused_by_the_database("DELETE FROM approvals_decision")
        refused_by_the_database("DELETE FROM audit_entry")
        refused_by_the_database("UPDATE approvals_approval SET state = 'pending', decided_at = NULL")


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
        assert len(ATTEMPTS) >= 30
        doors = {each.door for each in ATTEMPTS}
        assert doors >= {
            "form", "bulk", "admin URL", "task message", "shell", "raw SQL", "inline", "session of another",
            "stale page", "replay", "threshold splitting", "rule change", "last gate",
        }  # fmt: skip
        assert all(each.what.endswith(".") for each in ATTEMPTS)

    def test_page_and_tests_agree(self) -> None:
        assert PAGE.read_text() == page_with(as_table())


def a_limit(person: User, by: User, now: datetime, one: str, day: str = "") -> Any:
    """Set a limit in USDC; the day's is the same unless given."""
    return limits.set_limit(
        person=person, currency="USDC", per_decision=Decimal(one), per_day=Decimal(day or one),
        reason="A test", by=by, now=now,
    )  # fmt: skip


def a_change(by: User, now: datetime, most: str = "500.00") -> RuleSetChange:
    """Propose that deposits up to an amount need nobody."""
    easy = [rule("easy", kind="deposit", most=most, steps=()), *policies.first_rules()]
    return changes.propose(proposed=easy, base=policies.active(), reason="Faster", by=by, now=now)


def a_decision(approval: Approval, person: User, now: datetime, **other: Any) -> Decision:
    """A decision as somebody would write it into the table."""
    given: dict[str, Any] = {
        "approval": approval, "person": person, "maker_id": approval.maker_id, "made_at": now,
        "verdict": "approve", "seen_hash": approval.facts_hash, "permission": approval.permission,
        "roles": [roles.FINANCE_CHECKER], **other,
    }  # fmt: skip
    return Decision(**given)
