"""Changing the rules: proposed by one administrator, agreed to by another, once, as it was compared."""

from dataclasses import replace
from datetime import datetime

import pytest
from django.db import Error, connection, transaction

from backoffice.access.models import User
from backoffice.approvals import changes, policies, rules
from backoffice.approvals.changes import (
    ChangedSinceShown,
    DecidedAlready,
    NoReason,
    NotSound,
    SameAdministrator,
    StaleBase,
)
from backoffice.approvals.models import RuleSet, RuleSetChange
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from tests.backoffice.approvals.desk import refusals
from tests.backoffice.approvals.rulebook import ONE, TWO, rule

NEW = [rule("deposits", kind="deposit", steps=TWO), rule("the rest", steps=ONE)]


@pytest.fixture
def change(administrator: User, now: datetime) -> RuleSetChange:
    return changes.propose(
        proposed=NEW, base=policies.active(), reason="Four eyes are few", by=administrator, now=now
    )


def agree(change: RuleSetChange, by: User, now: datetime) -> RuleSet:
    return changes.agree(change=change, seen=change.proposed_hash, by=by, now=now)


class TestAgreeing:
    def test_makes_a_new_version_and_retires_the_old_one(
        self, change: RuleSetChange, administrator2: User, now: datetime
    ) -> None:
        made = agree(change, administrator2, now)
        assert (made.version, policies.active()) == (2, made)
        assert policies.rules_of(made) == tuple(NEW)
        assert RuleSet.objects.get(version=1).state == RuleSet.State.RETIRED
        entry = Entry.objects.get(verb="rules.agree")
        assert (entry.old, entry.new["rules"]) == ({"version": 1}, rules.as_json(NEW))

    def test_nothing_holds_before(self, change: RuleSetChange) -> None:
        assert policies.active().version == 1

    def test_who_proposed_them_does_not_agree(
        self, change: RuleSetChange, administrator: User, now: datetime
    ) -> None:
        with pytest.raises(SameAdministrator):
            agree(change, administrator, now)
        assert refusals("rules.agree") == ["SameAdministrator"]
        assert "another administrator" in changes.why_not_decide(change, administrator)

    @pytest.mark.parametrize("who", ["maker", "checker", "manager", "compliance", "auditor", "superuser"])
    def test_others_neither_propose_nor_agree(
        self, change: RuleSetChange, who: str, request: pytest.FixtureRequest, now: datetime
    ) -> None:
        person = request.getfixturevalue(who)
        with pytest.raises(NotAllowed):
            agree(change, person, now)
        with pytest.raises(NotAllowed):
            changes.propose(proposed=NEW, base=policies.active(), reason="x", by=person, now=now)

    def test_only_to_what_was_on_the_screen(
        self, change: RuleSetChange, administrator2: User, now: datetime
    ) -> None:
        with pytest.raises(ChangedSinceShown):
            changes.agree(change=change, seen="0" * 64, by=administrator2, now=now)

    def test_only_while_its_base_is_active(
        self, change: RuleSetChange, administrator: User, administrator2: User, now: datetime
    ) -> None:
        other = changes.propose(
            proposed=NEW[::-1], base=policies.active(), reason="Other", by=administrator, now=now
        )
        agree(other, administrator2, now)
        with pytest.raises(StaleBase, match="Version 2 of the rules became active since"):
            agree(change, administrator2, now)
        with pytest.raises(StaleBase):
            changes.propose(
                proposed=NEW, base=RuleSet.objects.get(version=1), reason="x", by=administrator, now=now
            )

    def test_once(self, change: RuleSetChange, administrator2: User, now: datetime) -> None:
        agree(change, administrator2, now)
        for again in (
            lambda: agree(change, administrator2, now),
            lambda: changes.reject(change=change, reason="No", by=administrator2, now=now),
            lambda: changes.withdraw(change=change, by=change.maker, now=now),
        ):
            with pytest.raises((DecidedAlready, StaleBase)):
                again()
        assert policies.active().version == 2


class TestNotAgreeing:
    def test_a_rejection_has_a_reason(
        self, change: RuleSetChange, administrator2: User, now: datetime
    ) -> None:
        with pytest.raises(NoReason):
            changes.reject(change=change, reason=" ", by=administrator2, now=now)
        rejected = changes.reject(change=change, reason="Too slow", by=administrator2, now=now)
        assert (rejected.state, rejected.decided_by) == ("rejected", administrator2)
        assert policies.active().version == 1

    def test_only_who_proposed_them_takes_them_back(
        self, change: RuleSetChange, administrator: User, administrator2: User, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            changes.withdraw(change=change, by=administrator2, now=now)
        assert changes.withdraw(change=change, by=administrator, now=now).state == "cancelled"
        assert not changes.waiting().exists()


class TestProposing:
    def test_needs_a_reason_and_a_difference(self, administrator: User, now: datetime) -> None:
        active = policies.active()
        with pytest.raises(NoReason):
            changes.propose(proposed=NEW, base=active, reason="", by=administrator, now=now)
        with pytest.raises(NotSound, match="nothing would change"):
            changes.propose(
                proposed=policies.first_rules(), base=active, reason="x", by=administrator, now=now
            )

    @pytest.mark.parametrize("unsound", [[], "rules", [{"name": "a"}], None, [{"name": "a", "steps": 1}]])
    def test_refuses_what_makes_no_sense(self, administrator: User, now: datetime, unsound: object) -> None:
        with pytest.raises(NotSound):
            changes.propose(proposed=unsound, base=policies.active(), reason="x", by=administrator, now=now)


class TestComparing:
    def test_old_and_new_side_by_side(self) -> None:
        first, second, third = rule("first"), rule("second"), rule("third")
        told = changes.compare([first, second, third], [third, replace(first, steps=TWO), rule("fourth")])
        assert {each.name: each.word for each in told} == {
            "third": "moved", "first": "changed", "second": "removed", "fourth": "added",
        }  # fmt: skip


class TestTheDatabaseHoldsThemToo:
    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE approvals_rule SET asks_nobody = (1 = 1)",
            "UPDATE approvals_rule SET content = '{}'",
            "DELETE FROM approvals_rule",
            (
                "INSERT INTO approvals_rule (rule_set_id, number, name, kind, asks_nobody, content) "
                "SELECT id, 99, 'x', 'deposit', (1 = 1), '{}' FROM approvals_ruleset WHERE state = 'active'"
            ),
            "UPDATE approvals_ruleset SET state = 'draft'",
            "UPDATE approvals_ruleset SET version = 7",
            "DELETE FROM approvals_ruleset",
            "UPDATE approvals_rulesetchange SET proposed = '[]'",
            (
                "UPDATE approvals_rulesetchange SET state = 'approved', decided_by_id = maker_id, "
                "decided_at = made_at"
            ),
            "UPDATE approvals_rulesetchange SET maker_id = maker_id + 1",
            "DELETE FROM approvals_rulesetchange",
        ],
    )
    def test_against_raw_sql(self, change: RuleSetChange, sql: str) -> None:
        with pytest.raises(Error), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)

    def test_a_second_set_is_active_only_by_a_change_that_another_agreed_to(
        self, change: RuleSetChange, now: datetime
    ) -> None:
        draft = RuleSet.objects.create(version=2, made_at=now, change=change)
        for state in ("active", "retired"):
            with pytest.raises(Error), transaction.atomic():
                RuleSet.objects.filter(pk=draft.pk).update(state=state)

    def test_two_sets_are_never_active_together(
        self, change: RuleSetChange, administrator2: User, now: datetime
    ) -> None:
        agree(change, administrator2, now)
        with pytest.raises(Error), transaction.atomic():
            RuleSet.objects.filter(version=1).update(state="active")
