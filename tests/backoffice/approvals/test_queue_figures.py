"""The figures of decisions: what they count, for whom, and what they cost."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from backoffice.access.models import User
from backoffice.approvals import figures
from funding import deposits
from funding.models import Wallet
from tests.backoffice.approvals.pages import text_of
from tests.wishes import a_deposit, approval_of

SignIn = Callable[[User], Browser]
PAGE = "/admin/approvals/decisionfigures/"


@pytest.fixture
def decided(wallet: Wallet, maker: User, checker: User, now: datetime) -> Callable[..., None]:
    """Let checker approve deposits of maker, each so long after it was asked for."""

    def decide(*seconds: float) -> None:
        for each in seconds:
            asked = now - timedelta(seconds=each)
            wish = a_deposit(wallet, by=maker, now=asked, amount="3.00")
            deposits.approve_deposit(request=wish, by=checker, seen=approval_of(wish).facts_hash, now=now)

    return decide


class TestCounting:
    def test_times_hasty_ones_and_load(self, decided: Callable[..., None], now: datetime) -> None:
        decided(5, 60, 120, 3600)
        told = figures.of_days(now - timedelta(days=1), now + timedelta(seconds=1))
        assert (told.made, told.approved, told.hasty) == (4, 4, 1)
        assert told.median == timedelta(seconds=90)
        assert told.p95 == timedelta(seconds=3600)
        assert [(each.person, each.made, each.hasty) for each in told.people] == [("checker", 4, 1)]

    def test_a_pair_that_never_says_no_is_marked(self, decided: Callable[..., None], now: datetime) -> None:
        decided(60, 60, 60, 60)
        span = (now - timedelta(days=1), now + timedelta(seconds=1))
        assert not figures.of_days(*span).pairs[0].always
        decided(60)
        (pair,) = figures.of_days(*span).pairs
        assert (pair.maker, pair.checker, pair.always) == ("maker", "checker", True)

    def test_other_days_are_not_counted(self, decided: Callable[..., None], now: datetime) -> None:
        decided(60)
        told = figures.of_days(now - timedelta(days=2), now)
        assert (told.made, told.median, told.people, told.pairs) == (0, None, (), ())


class TestPage:
    def test_is_for_those_who_watch(
        self,
        *,
        client_of: SignIn,
        auditor: User,
        administrator: User,
        compliance: User,
        checker: User,
        maker: User,
    ) -> None:
        assert [client_of(each).get(PAGE).status_code for each in (auditor, administrator, compliance)] == [
            200
        ] * 3
        assert [client_of(each).get(PAGE).status_code for each in (checker, maker)] == [403] * 2

    @pytest.mark.parametrize(
        ("query", "says"),
        [
            ("?since=2026-02-01&until=2026-01-01", "a range that begins first"),
            ("?since=1999-01-01&until=2026-01-01", "up to 366 days"),
            ("?since=x&until=", "Enter a valid date"),
        ],
    )
    def test_wrong_days_get_a_sentence(self, client_of: SignIn, auditor: User, query: str, says: str) -> None:
        answer = client_of(auditor).get(f"{PAGE}{query}")
        assert answer.status_code == 200
        assert says in text_of(answer)

    def test_costs_the_same_for_few_and_many(
        self, client_of: SignIn, auditor: User, decided: Callable[..., None]
    ) -> None:
        browser = client_of(auditor)
        counts = []
        for _ in range(3):
            decided(*[30] * 8)
            with CaptureQueriesContext(connection) as asked:
                assert browser.get(PAGE).status_code == 200
            counts.append(len(asked))
        assert counts[1] == counts[2]
