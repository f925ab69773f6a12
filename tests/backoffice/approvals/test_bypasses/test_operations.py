"""Past the pages: operations called in a shell or in another's session, rules, limits, and splitting."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.core import serializers
from django.db import Error, transaction

from backoffice.access import people, roles
from backoffice.access.models import User
from backoffice.approvals import changes, limits, policies
from backoffice.approvals.decisions import (
    NotProved,
    NotYourSession,
    OverLimit,
    SameHands,
)
from backoffice.approvals.models import Approval, Limit
from backoffice.audit.context import Origin, acting_from
from backoffice.audit.trail import NotAllowed
from backoffice.endl import Client
from cards import issuing
from cards.models import Cardholder, CardOrder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.attempts import attempt
from tests.backoffice.approvals.desk import approve, refusals
from tests.backoffice.approvals.test_bypasses.tools import (
    SignIn,
    a_change,
    a_limit,
    is_untouched,
    press,
    refused_by_the_database,
)
from tests.people import a_person, as_now
from tests.wishes import a_deposit, an_order, approval_of

pytestmark = pytest.mark.django_db


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
