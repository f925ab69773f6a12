"""Past the operations: raw SQL, on whichever database the tests run."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import Error, connection, transaction

from backoffice.access.models import User
from backoffice.approvals import drawing, policies
from backoffice.approvals.books import book_of
from backoffice.approvals.facts import hash_of
from backoffice.approvals.models import Approval
from backoffice.approvals.models import Step as DrawnStep
from backoffice.approvals.rules import CHECKER, COMPLIANCE, Step
from backoffice.endl import Client, call_issue_card
from cards import issuing
from cards.models import Cardholder, CardOrder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.attempts import attempt
from tests.backoffice.approvals.desk import approve, rules_become
from tests.backoffice.approvals.rulebook import rule
from tests.backoffice.approvals.test_bypasses.tools import (
    a_decision,
    a_limit,
    refused_by_the_database,
    to_the_gate,
)
from tests.wishes import a_deposit, an_order, approval_of

pytestmark = pytest.mark.django_db


def insert_with_approval(request: Any, like: Approval) -> None:
    """Insert a request with an approval of its own that looks like this one, its hash as it must be."""
    steps = [
        DrawnStep(number=each.number, people=each.people, role=each.role, permission=each.permission)
        for each in like.steps.all()
    ]
    like.pk = None
    like.draw_steps(steps)
    request.approval = like
    book = book_of(like.kind)
    wish = book.wish_of(request)
    like.amount, like.facts = wish.amount, book.facts(request)
    like.facts_hash = hash_of(like.facts)
    drawing.save(like)
    request.approval = like
    request.save(force_insert=True)


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

    @attempt("raw SQL", "manager's ceiling")
    def test_an_order_over_the_ceiling_that_its_rule_never_saw(
        self, cardholder: Cardholder, manager: User, endl: Client, now: datetime
    ) -> None:
        """A card order over the ceiling is inserted with an approval in the name of the ceiling's rule."""
        order = an_order(cardholder, by=manager, now=now)
        forged = CardOrder.objects.get(pk=order.pk)
        call = call_issue_card(
            customer_id=forged.customer_endl_id, cardholder_id=cardholder.endl_id, amount_cents=9_000_00,
            memo=None,
        )  # fmt: skip
        forged.pk, forged.amount_cents, forged.form_token = None, 9_000_00, "a forged page"
        forged.body, forged.idempotency_key = call.body, "office-a-key-that-was-forged"
        insert_with_approval(forged, approval_of(order))
        assert to_the_gate(forged, endl, now) == "expired"
        assert "does not ask" in forged.outcome_message
        CardOrder.objects.filter(pk=order.pk).update(state="cancelled")

    @attempt("raw SQL", "large deposit")
    def test_a_large_deposit_under_the_rule_of_small_ones(
        self, wish: DepositRequest, checker: User, endl: Client, now: datetime
    ) -> None:
        """A large deposit is inserted with one step, as small ones have it, and rightly approved by one."""
        forged = DepositRequest.objects.get(pk=wish.pk)
        forged.pk, forged.amount, forged.form_token = None, Decimal("50000.00"), "a forged page"
        forged.idempotency_key = "office-a-key-that-was-forged"
        insert_with_approval(forged, approval_of(wish))
        assert approve(forged, checker, now).state == "approved"
        assert to_the_gate(forged, endl, now) == "expired"
        assert "does not ask" in forged.outcome_message

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
