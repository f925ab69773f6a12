"""What the database itself refuses, whoever asks: by CHECK where a row suffices, by trigger where not."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import Error, connection, transaction

from backoffice.access.models import User
from backoffice.approvals.models import Approval, Decision
from backoffice.approvals.policies import CEILING_RULE
from backoffice.triggers import all_triggers, check_triggers, drop_triggers, install_triggers
from cards.models import Cardholder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.wishes import a_deposit, an_order, approval_of

ANOTHER_KEY = "office-another-key-of-tests"


def refused(sql: str, *values: Any) -> str:
    """Run raw SQL that must fail; returns the database's words."""
    with pytest.raises(Error) as told, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)
    return str(told.value)


def decision(approval: Approval, person: User, now: datetime, **other: object) -> Decision:
    """A decision that the ORM has not looked at."""
    given = {
        "approval": approval, "person": person, "maker_id": approval.maker_id, "made_at": now,
        "verdict": Decision.Verdict.APPROVE, "seen_hash": approval.facts_hash,
        "permission": approval.permission, **other,
    }  # fmt: skip
    return Decision(**given)


def a_copy(wish: DepositRequest, **changes: Any) -> DepositRequest:
    """A second row like this one, with an approval of its own, that the ORM has not looked at."""
    approval = approval_of(wish)
    approval.pk = None
    approval.save()
    copy = DepositRequest.objects.get(pk=wish.pk)
    copy.pk, copy.approval = None, approval
    for name, value in {"form_token": "other", "idempotency_key": ANOTHER_KEY, **changes}.items():
        setattr(copy, name, value)
    return copy


def refused_row(row: Decision | Approval | DepositRequest) -> str:
    with pytest.raises(Error) as told, transaction.atomic():
        row.save(force_insert=True)
    return str(told.value)


class TestDecisions:
    def test_the_maker_is_no_checker(self, approval: Approval, now: datetime) -> None:
        assert "decision_not_by_the_maker" in refused_row(decision(approval, approval.maker, now))

    def test_whoever_names_another_maker_is_found_out(
        self, approval: Approval, checker2: User, now: datetime
    ) -> None:
        row = decision(approval, approval.maker, now, maker_id=checker2.pk)
        assert "names the maker" in refused_row(row)

    def test_one_a_person(self, approval: Approval, checker: User, now: datetime) -> None:
        decision(approval, checker, now).save()
        assert "unique" in refused_row(decision(approval, checker, now)).lower()

    def test_a_rejection_has_a_reason(self, approval: Approval, checker: User, now: datetime) -> None:
        row = decision(approval, checker, now, verdict=Decision.Verdict.REJECT)
        assert "decision_reject_has_a_reason" in refused_row(row)

    def test_none_after_the_end(
        self, wish: DepositRequest, checker: User, checker2: User, now: datetime
    ) -> None:
        deposits.approve_deposit(request=wish, by=checker, seen=approval_of(wish).facts_hash, now=now)
        assert "pending approval" in refused_row(decision(approval_of(wish), checker2, now))

    def test_they_never_change_or_go(self, approval: Approval, checker: User, now: datetime) -> None:
        decision(approval, checker, now).save()
        assert "never change" in refused("UPDATE approvals_decision SET verdict = 'reject', reason = 'x'")
        assert "stay" in refused("DELETE FROM approvals_decision")


class TestApprovals:
    APPROVE = "UPDATE approvals_approval SET state = 'approved', decided_at = %s, good_until = %s"

    def test_not_without_a_decision(self, approval: Approval, now: datetime) -> None:
        assert "needs its decisions" in refused(self.APPROVE, now, now)

    def test_not_with_a_decision_on_something_else(
        self, approval: Approval, checker: User, now: datetime
    ) -> None:
        decision(approval, checker, now, seen_hash="0" * 64).save()
        assert "needs its decisions" in refused(self.APPROVE, now, now)

    def test_not_with_a_rejection(self, approval: Approval, checker: User, now: datetime) -> None:
        decision(approval, checker, now, verdict=Decision.Verdict.REJECT, reason="No").save()
        assert "needs its decisions" in refused(self.APPROVE, now, now)

    def test_not_without_an_end(self, approval: Approval, checker: User, now: datetime) -> None:
        decision(approval, checker, now).save()
        words = refused("UPDATE approvals_approval SET state = 'approved', decided_at = %s", now)
        assert "approval_good_until" in words

    @pytest.mark.parametrize(
        "change",
        [
            "facts_hash = 'other'",
            'facts = \'{"amount": "1"}\'',
            "needed = 2",
            "permission = 'cards.view_card'",
            "customer_endl_id = 'cus_other'",
        ],
    )
    def test_the_facts_stay(self, approval: Approval, change: str) -> None:
        assert "does not change" in refused(f"UPDATE approvals_approval SET {change}")

    def test_the_maker_stays(self, approval: Approval, checker: User) -> None:
        assert "does not change" in refused("UPDATE approvals_approval SET maker_id = %s", checker.pk)

    def test_it_is_decided_once(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        deposits.reject_deposit(
            request=wish, by=checker, seen=approval_of(wish).facts_hash, reason="No", now=now
        )
        assert "decided once" in refused("UPDATE approvals_approval SET state = 'pending', decided_at = NULL")

    def test_its_time_cannot_be_stretched(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        deposits.approve_deposit(request=wish, by=checker, seen=approval_of(wish).facts_hash, now=now)
        later = now + timedelta(days=9)
        assert "does not change" in refused("UPDATE approvals_approval SET good_until = %s", later)

    def test_it_starts_pending_unless_a_rule_gives_it(self, approval: Approval, now: datetime) -> None:
        approval.pk, approval.state, approval.decided_at, approval.good_until = None, "approved", now, now
        assert "starts pending" in refused_row(approval)

    @pytest.mark.parametrize("rule", ["", "a rule that nobody knows", "deposit", CEILING_RULE])
    @pytest.mark.parametrize("state", ["pending", "approved"])
    def test_nobody_is_needed_only_by_a_rule_that_says_so(
        self, approval: Approval, rule: str, state: str, now: datetime
    ) -> None:
        approval.pk, approval.rule, approval.needed = None, rule, 0
        approval.state, approval.decided_at, approval.good_until = state, now, now
        assert "starts pending" in refused_row(approval)

    def test_it_stays(self, approval: Approval) -> None:
        assert "stay" in refused("DELETE FROM approvals_approval")


class TestRequests:
    @pytest.mark.parametrize("state", ["approved", "sending"])
    def test_none_travels_unapproved(self, wish: DepositRequest, state: str, now: datetime) -> None:
        words = refused("UPDATE funding_depositrequest SET state = %s, lease_until = %s", state, now)
        assert "only when approved" in words

    def test_none_starts_approved_unless_it_is(self, wish: DepositRequest) -> None:
        assert "approved only" in refused_row(a_copy(wish, state="approved"))

    @pytest.mark.parametrize(
        "change", ["amount = 26", "currency = 'USDT'", "chain = 'tron'", "note = 'x'", "path = '/x'",
                   "idempotency_key = 'office-another-key-of-tests'", "base_url = 'http://127.0.0.1:1'",
                   "operation = 'x'"],
    )  # fmt: skip
    def test_what_was_asked_for_never_changes(self, wish: DepositRequest, change: str) -> None:
        assert "keeps its bytes" in refused(f"UPDATE funding_depositrequest SET {change}")

    def test_the_bytes_never_change(self, wish: DepositRequest) -> None:
        assert "keeps its bytes" in refused("UPDATE funding_depositrequest SET body = %s", b"{}")

    def test_the_maker_never_changes(self, wish: DepositRequest, checker: User) -> None:
        assert "keeps its bytes" in refused("UPDATE funding_depositrequest SET maker_id = %s", checker.pk)

    @pytest.mark.parametrize("state", ["requested", "refused", "unknown"])
    def test_an_end_does_not_turn_back(
        self, wish: DepositRequest, maker: User, now: datetime, state: str
    ) -> None:
        deposits.cancel_deposit(request=wish, by=maker, now=now)
        words = refused("UPDATE funding_depositrequest SET state = %s, unclear_at = %s", state, now)
        assert "does not turn back" in words

    @pytest.mark.parametrize("state", ["requested", "expired", "cancelled", "rejected"])
    def test_what_may_have_happened_is_not_forgotten(
        self, wish: DepositRequest, now: datetime, state: str
    ) -> None:
        DepositRequest.objects.filter(pk=wish.pk).update(state="unknown", unclear_at=now)
        assert "not forgotten" in refused("UPDATE funding_depositrequest SET state = %s", state)
        assert "not forgotten" in refused(
            "UPDATE funding_depositrequest SET unclear_at = NULL, state = 'refused'"
        )

    def test_they_stay(self, wish: DepositRequest) -> None:
        assert "stay" in refused("DELETE FROM funding_depositrequest")

    @pytest.mark.parametrize("amount", ["0", "-1", "1000000000000"])
    def test_amounts_are_amounts(self, wish: DepositRequest, amount: str) -> None:
        assert "depositrequest_amount" in refused_row(a_copy(wish, amount=Decimal(amount)))

    def test_a_key_that_is_too_short_is_no_key(self, wish: DepositRequest) -> None:
        assert "key_is_long_enough" in refused_row(a_copy(wish, idempotency_key="1"))

    def test_a_key_serves_one_request(self, wish: DepositRequest) -> None:
        words = refused_row(a_copy(wish, idempotency_key=wish.idempotency_key))
        assert "idempotency_key" in words

    def test_what_is_sent_has_a_lease(self, wish: DepositRequest, checker: User, now: datetime) -> None:
        deposits.approve_deposit(request=wish, by=checker, seen=approval_of(wish).facts_hash, now=now)
        words = refused("UPDATE funding_depositrequest SET state = 'sending'")
        assert "sending_has_a_lease" in words

    def test_what_endl_took_has_its_deposit(self, wish: DepositRequest) -> None:
        words = refused("UPDATE funding_depositrequest SET state = 'submitted'")
        assert "taken_has_its_deposit" in words

    def test_keys_are_unique_and_long(self, wallet: Wallet, maker: User, now: datetime) -> None:
        first, second = (a_deposit(wallet, by=maker, now=now) for _ in range(2))
        assert first.idempotency_key != second.idempotency_key
        assert len(first.idempotency_key) >= 20

    def test_orders_follow_the_same_rules(self, cardholder: Cardholder, manager: User, now: datetime) -> None:
        an_order(cardholder, by=manager, now=now, cents=2_000_00)
        assert "only when approved" in refused("UPDATE cards_cardorder SET state = 'approved'")
        assert "keeps its bytes" in refused("UPDATE cards_cardorder SET amount_cents = 1")
        assert "stay" in refused("DELETE FROM cards_cardorder")


class TestTheTriggersThemselves:
    def test_they_are_all_installed(self, db: None) -> None:
        assert check_triggers(databases=["default"]) == []

    def test_a_missing_one_is_found(self, db: None) -> None:
        trigger = next(each for each in all_triggers() if each.event == "DELETE")
        with connection.cursor() as cursor:
            on = f" ON {trigger.table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {trigger.name}{on}")
        [error] = check_triggers(databases=["default"])
        assert trigger.name in error.msg
        install_triggers()
        assert check_triggers(databases=["default"]) == []

    def test_sqlites_step_aside_while_tables_change_and_come_back(self, db: None) -> None:
        drop_triggers(plan=[])
        assert check_triggers(databases=["default"]) == []
        drop_triggers(plan=["a migration"])
        gone = check_triggers(databases=["default"])
        assert len(gone) == (len(list(all_triggers())) if connection.vendor == "sqlite" else 0)
        install_triggers()
        assert check_triggers(databases=["default"]) == []

    def test_migrate_is_not_kept_from_installing_them(
        self, db: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.argv", ["manage.py", "migrate"])
        with transaction.atomic(), connection.cursor() as cursor:
            on = " ON audit_entry" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER entry_stays{on}")
        assert check_triggers(databases=["default"]) == []

    def test_their_names_are_unique(self) -> None:
        names = [trigger.name for trigger in all_triggers()]
        assert len(names) == len(set(names))
        assert all(len(name) <= 63 for name in names)
