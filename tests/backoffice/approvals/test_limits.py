"""Personal limits: what one person may decide at once and in a day, and who may say so."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import Error, connection, transaction

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import limits
from backoffice.approvals.limits import (
    ChangedSinceAsked,
    DecidedAlready,
    NoReason,
    NotALimit,
    OverLimit,
    OwnLimit,
    RaiseWaits,
    SameAdministrator,
)
from backoffice.approvals.models import Decision, Limit, LimitChange
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from funding import deposits
from funding.models import Wallet
from tests.backoffice.approvals.desk import approve, refusals
from tests.people import a_person
from tests.wishes import a_deposit, approval_of


def set_limit(
    person: User, by: User, now: datetime, one: str = "100.00", day: str = "250.00"
) -> Limit | LimitChange:
    return limits.set_limit(
        person=person, currency="USDC", per_decision=Decimal(one), per_day=Decimal(day),
        reason="New here", by=by, now=now,
    )  # fmt: skip


@pytest.fixture
def limit(checker: User, administrator: User, now: datetime) -> Limit:
    made = set_limit(checker, administrator, now)
    assert isinstance(made, Limit)
    return made


class TestDeciding:
    def test_within_it_the_decision_keeps_it_as_it_stood(
        self, limit: Limit, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        for used in ("0", "100"):
            approve(a_deposit(wallet, by=maker, now=now, amount="100.00"), checker, now)
            kept = Decision.objects.latest("pk")
            assert (kept.limit_per_decision, kept.limit_per_day) == (Decimal(100), Decimal(250))
            assert (kept.used_before, kept.amount, kept.currency) == (Decimal(used), Decimal(100), "USDC")

    def test_beyond_one_decision(
        self, limit: Limit, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        with pytest.raises(OverLimit, match=r"Your limit is 100\.00 USDC per decision; this is 100\.01"):
            approve(a_deposit(wallet, by=maker, now=now, amount="100.01"), checker, now)
        assert refusals() == ["OverLimit"]

    def test_beyond_the_day_which_rolls(
        self, limit: Limit, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        for _ in range(2):
            approve(a_deposit(wallet, by=maker, now=now, amount="100.00"), checker, now)
        third = a_deposit(wallet, by=maker, now=now, amount="50.01")
        with pytest.raises(OverLimit, match=r"in 24 hours, of which 50\.00 USDC|of which 50\.00 are left"):
            approve(third, checker, now + timedelta(hours=23, minutes=59))
        assert approve(third, checker, now + timedelta(hours=24)).state == "approved"

    def test_a_rejection_uses_nothing(
        self, limit: Limit, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        large = a_deposit(wallet, by=maker, now=now, amount="900.00")
        seen = approval_of(large).facts_hash
        deposits.reject_deposit(request=large, by=checker, seen=seen, reason="No", now=now)
        assert limits.used_in_a_day(checker, "USDC", now=now) == 0

    def test_other_people_and_other_currencies_have_their_own(
        self, *, limit: Limit, wallet: Wallet, maker: User, checker2: User, now: datetime
    ) -> None:
        assert approve(a_deposit(wallet, by=maker, now=now, amount="900.00"), checker2, now)
        assert limits.standing(limit.person, "USD", now=now) is None

    def test_lowering_it_counts_what_is_used_already(
        self, *, limit: Limit, wallet: Wallet, maker: User, checker: User, administrator: User, now: datetime
    ) -> None:
        approve(a_deposit(wallet, by=maker, now=now, amount="90.00"), checker, now)
        set_limit(checker, administrator, now, "90.00", "90.00")
        with pytest.raises(OverLimit):
            approve(a_deposit(wallet, by=maker, now=now, amount="0.01"), checker, now)


class TestSettingThem:
    def test_the_first_and_a_lower_one_hold_at_once(
        self, limit: Limit, checker: User, administrator: User, now: datetime
    ) -> None:
        set_limit(checker, administrator, now, "50.00", "250.00")
        limit.refresh_from_db()
        assert (limit.per_decision, limit.per_day) == (Decimal(50), Decimal(250))
        assert Entry.objects.filter(verb="limit.set").count() == 2

    @pytest.mark.parametrize(("one", "day"), [("100.01", "250.00"), ("1.00", "250.01")])
    def test_a_higher_one_waits_for_another_administrator(
        self, *, limit: Limit, checker: User, administrator: User, administrator2: User, now: datetime,
        one: str, day: str,
    ) -> None:  # fmt: skip
        change = set_limit(checker, administrator, now, one, day)
        assert isinstance(change, LimitChange)
        limit.refresh_from_db()
        assert limit.per_decision == 100
        raised = limits.agree(change=change, seen=limits.seen_hash(change), by=administrator2, now=now)
        assert (raised.per_decision, raised.per_day) == (Decimal(one), Decimal(day))

    def test_who_asked_for_it_does_not_agree(
        self, limit: Limit, checker: User, administrator: User, now: datetime
    ) -> None:
        change = set_limit(checker, administrator, now, "900.00", "900.00")
        assert isinstance(change, LimitChange)
        with pytest.raises(SameAdministrator):
            limits.agree(change=change, seen=limits.seen_hash(change), by=administrator, now=now)
        assert refusals("limit.agree") == ["SameAdministrator"]

    def test_nobody_has_a_hand_in_their_own(
        self, administrator: User, administrator2: User, checker: User, now: datetime
    ) -> None:
        both = a_person("both", roles.ADMINISTRATOR, roles.FINANCE_CHECKER)
        with pytest.raises(OwnLimit):
            set_limit(both, both, now)
        set_limit(both, administrator, now)
        change = set_limit(both, administrator, now, "900.00", "900.00")
        assert isinstance(change, LimitChange)
        with pytest.raises(OwnLimit):
            limits.agree(change=change, seen=limits.seen_hash(change), by=both, now=now)
        assert limits.why_not_agree(change, administrator2) == ""

    def test_a_raise_is_decided_once_and_as_it_was_seen(
        self, *, limit: Limit, checker: User, administrator: User, administrator2: User, now: datetime
    ) -> None:
        change = set_limit(checker, administrator, now, "900.00", "900.00")
        assert isinstance(change, LimitChange)
        with pytest.raises(ChangedSinceAsked):
            limits.agree(change=change, seen="0" * 64, by=administrator2, now=now)
        limits.reject(change=change, reason="Too much", by=administrator2, now=now)
        with pytest.raises(DecidedAlready):
            limits.agree(change=change, seen=limits.seen_hash(change), by=administrator2, now=now)

    def test_a_raise_of_a_limit_that_is_another_by_now_is_stale(
        self, *, limit: Limit, checker: User, administrator: User, administrator2: User, now: datetime
    ) -> None:
        change = set_limit(checker, administrator, now, "900.00", "900.00")
        assert isinstance(change, LimitChange)
        with pytest.raises(RaiseWaits):
            set_limit(checker, administrator2, now, "800.00", "800.00")
        set_limit(checker, administrator, now, "10.00", "10.00")
        with pytest.raises(ChangedSinceAsked):
            limits.agree(change=change, seen=limits.seen_hash(change), by=administrator2, now=now)
        assert limits.withdraw(change=change, by=administrator, now=now).state == "cancelled"

    @pytest.mark.parametrize("who", ["checker2", "manager", "auditor", "superuser"])
    def test_only_administrators(
        self, checker: User, who: str, request: pytest.FixtureRequest, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            set_limit(checker, request.getfixturevalue(who), now)

    @pytest.mark.parametrize(
        ("one", "day", "currency"),
        [("2.00", "1.00", "USDC"), ("-1", "1.00", "USDC"), ("NaN", "1.00", "USDC"), ("1", "1", "usdc"),
         ("1", "1", ""), ("1", "1000000000000", "USDC")],
    )  # fmt: skip
    def test_what_is_no_limit_is_refused(
        self, *, checker: User, administrator: User, now: datetime, one: str, day: str, currency: str
    ) -> None:
        with pytest.raises(NotALimit):
            limits.set_limit(
                person=checker, currency=currency, per_decision=Decimal(one), per_day=Decimal(day),
                reason="New here", by=administrator, now=now,
            )  # fmt: skip

    def test_the_same_again_and_no_reason(
        self, limit: Limit, checker: User, administrator: User, now: datetime
    ) -> None:
        with pytest.raises(NotALimit):
            set_limit(checker, administrator, now)
        with pytest.raises(NoReason):
            limits.set_limit(
                person=checker, currency="USD", per_decision=Decimal(1), per_day=Decimal(1), reason=" ",
                by=administrator, now=now,
            )  # fmt: skip


class TestTheDatabaseHoldsThemToo:
    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE approvals_limit SET per_decision = 200",
            "UPDATE approvals_limit SET per_day = 999",
            "UPDATE approvals_limit SET currency = 'USD'",
            "UPDATE approvals_limit SET set_by_id = person_id",
            "DELETE FROM approvals_limit",
        ],
    )
    def test_against_raw_sql(self, limit: Limit, sql: str) -> None:
        with pytest.raises(Error), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)

    def test_a_raise_that_nobody_agreed_to_raises_nothing(
        self, limit: Limit, checker: User, administrator: User, now: datetime
    ) -> None:
        change = set_limit(checker, administrator, now, "900.00", "900.00")
        raised = Limit.objects.filter(pk=limit.pk)
        with pytest.raises(Error), transaction.atomic():
            raised.update(per_decision=900, per_day=900, raised_by=change.pk)
        with pytest.raises(Error), transaction.atomic():
            LimitChange.objects.update(state="approved", decided_by=administrator, decided_at=now)
