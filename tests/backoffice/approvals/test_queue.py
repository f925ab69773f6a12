"""The queue: whose turn it is, what it shows, and deciding from it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import limits, turns
from backoffice.approvals.models import Approval
from backoffice.audit.models import Entry
from cards.models import Assignment, Customer
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.pages import QUEUE, decide, queue, text_of
from tests.people import a_person, as_now
from tests.wishes import a_deposit, approval_of

SignIn = Callable[[User], Browser]


@pytest.fixture
def three(wallet: Wallet, maker: User, now: datetime) -> list[Approval]:
    """Three deposits that wait, the oldest first."""
    return [
        approval_of(
            a_deposit(wallet, by=maker, now=now - timedelta(hours=9 - number), amount=f"{number}1.00")
        )
        for number in range(1, 4)
    ]


@pytest.fixture
def elsewhere(db: None, manager: User) -> User:
    """A checker of another customer only."""
    other = Customer.objects.create(endl_id="cus_other", name="Other Ltd", type="business", added_by=manager)
    person = a_person("elsewhere", roles.FINANCE_CHECKER, works_for_all=False)
    Assignment.objects.create(user=person, customer=other)
    return person


class TestTabs:
    def test_what_i_can_decide_comes_first_and_the_oldest_leads(
        self, client_of: SignIn, checker: User, three: list[Approval]
    ) -> None:
        shown = queue(client_of(checker))
        places = [shown.index(f"at={each.pk}") for each in three]
        assert places == sorted(places)
        assert "Mine to decide <span" in shown
        assert '<span class="queue-count">3</span>' in shown
        assert "63.00" in shown

    def test_my_own_and_what_i_decided_wait_on_others(
        self, *, client_of: SignIn, checker: User, checker2: User, wallet: Wallet, maker: User, now: datetime
    ) -> None:
        large = a_deposit(wallet, by=maker, now=now, amount="10000.00")
        deposits.approve_deposit(request=large, by=checker, seen=approval_of(large).facts_hash, now=now)
        assert "Nothing waits for you" in queue(client_of(checker))
        assert "10,000.00" in queue(client_of(checker), "?turn=others")
        assert "10,000.00" in queue(client_of(checker2))

    def test_all_shows_what_was_decided_too(
        self, client_of: SignIn, checker: User, three: list[Approval]
    ) -> None:
        browser = client_of(checker)
        decide(browser, three[0])
        assert 'data-state="approved"' in queue(browser, "?turn=all")
        assert "11.00" in queue(browser, "?turn=all&state=approved")

    def test_what_is_beyond_my_limit_is_not_mine(
        self, client_of: SignIn, checker: User, administrator: User, three: list[Approval], now: datetime
    ) -> None:
        limits.set_limit(
            person=checker, currency="USDC", per_decision=Decimal(25), per_day=Decimal(40), reason="new",
            by=administrator, now=now,
        )  # fmt: skip
        mine = Approval.objects.filter(turns.mine(as_now(checker), now=now))
        assert [each.pk for each in mine.order_by("pk")] == [three[0].pk, three[1].pk]
        browser = client_of(checker)
        decide(browser, three[1])
        assert "11.00" in queue(browser)
        assert f"at={three[2].pk}" in queue(browser, "?turn=others")

    def test_the_badge_counts_only_what_i_can_decide(
        self, client_of: SignIn, checker: User, auditor: User, three: list[Approval]
    ) -> None:
        assert "3" in text_of(client_of(checker).get("/admin/")).split("Approvals", 1)[1][:6]
        assert "Approvals Decisions made" in text_of(client_of(auditor).get("/admin/")).replace(
            "  ", " "
        ) or ("sidebar-badge" not in client_of(auditor).get("/admin/").content.decode())

    def test_another_customers_are_neither_shown_nor_counted_nor_there(
        self, client_of: SignIn, elsewhere: User, three: list[Approval]
    ) -> None:
        browser = client_of(elsewhere)
        shown = queue(browser, "?turn=all")
        assert "11.00" not in shown
        assert '<span class="queue-count">0</span>' in shown
        for path in (f"?at={three[0].pk}", f"{three[0].pk}/change/", f"{three[0].pk}/dossier/"):
            assert browser.get(f"{QUEUE}{path}").status_code == 404
        assert decide(browser, three[0]).status_code == 404

    @pytest.mark.parametrize(
        "query",
        ["?p=0", "?p=-1", "?p=99999", "?p=x", "?at=x", "?turn=nonsense", "?kind=x&state=y", "?q=%25_%5C%22'",
         "?q=" + "x" * 5000, "?turn=all&state=zz", "?at=99999999999999999999"],
    )  # fmt: skip
    def test_odd_addresses_are_forgiven(
        self, client_of: SignIn, checker: User, approval: Approval, query: str
    ) -> None:
        assert client_of(checker).get(f"{QUEUE}{query}").status_code == 200

    def test_a_search_says_what_it_hides(self, client_of: SignIn, checker: User, approval: Approval) -> None:
        browser = client_of(checker)
        assert "Nothing fits “zebra”" in text_of(browser.get(f"{QUEUE}?q=zebra"))
        assert "25.00" in queue(browser, "?q=harbour")

    def test_a_maker_has_no_queue(self, client_of: SignIn, maker: User, approval: Approval) -> None:
        assert client_of(maker).get(QUEUE).status_code == 403


class TestSideBySide:
    def test_the_first_stands_open_and_the_chosen_row_says_so(
        self, client_of: SignIn, checker: User, three: list[Approval]
    ) -> None:
        browser = client_of(checker)
        assert 'aria-current="true"' in queue(browser)
        shown = queue(browser, f"?at={three[2].pk}")
        assert 'data-row aria-current="true"' in shown
        assert three[2].facts_hash in shown
        assert "has-chosen" in shown

    def test_nothing_of_it_needs_a_script(self, client_of: SignIn, checker: User, approval: Approval) -> None:
        shown = queue(client_of(checker)).split("<main", 1)[1].split("</main>", 1)[0]
        assert "<script" not in shown
        assert " onclick" not in shown
        assert " style=" not in shown

    def test_costs_the_same_for_20_and_for_200(
        self, client_of: SignIn, checker: User, wallet: Wallet, maker: User, now: datetime
    ) -> None:
        def grow(count: int) -> None:
            for number in range(count):
                a_deposit(wallet, by=maker, now=now - timedelta(minutes=number + 1), amount="5.00")

        browser = client_of(checker)
        grow(20)
        queue(browser)
        with CaptureQueriesContext(connection) as few:
            queue(browser)
        grow(180)
        with CaptureQueriesContext(connection) as many:
            queue(browser)
        assert len(many) == len(few)
        assert len(many) < 80


class TestDeciding:
    def test_opens_the_next_one_and_says_what_was_done(
        self, client_of: SignIn, checker: User, three: list[Approval]
    ) -> None:
        browser = client_of(checker)
        answer = decide(browser, three[0])
        assert answer.url.endswith(f"?turn=mine&at={three[1].pk}")
        assert "is approved; it is sent within seconds. Here is the next one." in text_of(
            browser.get(answer.url)
        )
        assert DepositRequest.objects.get(approval=three[0]).state == "approved"

    def test_the_last_one_leaves_an_empty_queue(
        self, client_of: SignIn, checker: User, approval: Approval
    ) -> None:
        browser = client_of(checker)
        answer = browser.get(decide(browser, approval, "reject", reason="Not this week").url)
        assert "is rejected. Nothing else waits for you." in text_of(answer)

    def test_a_rejection_needs_a_reason_and_keeps_the_page(
        self, client_of: SignIn, checker: User, approval: Approval
    ) -> None:
        answer = decide(client_of(checker), approval, "reject")
        assert answer.status_code == 200
        assert "Say why you reject it" in text_of(answer)
        approval.refresh_from_db()
        assert approval.state == "pending"

    def test_a_stale_page_is_told_who_was_first(
        self, client_of: SignIn, checker: User, checker2: User, approval: Approval
    ) -> None:
        decide(client_of(checker), approval)
        browser = client_of(checker2)
        assert "checker was first: approved at" in text_of(browser.get(decide(browser, approval).url))

    @pytest.mark.parametrize(("field", "value"), [("seen", "0" * 64), ("seen", ""), ("verdict", "maybe")])
    def test_forged_fields_decide_nothing(
        self, client_of: SignIn, checker: User, approval: Approval, field: str, value: str
    ) -> None:
        given = {"verdict": "approve", field: value}
        assert decide(client_of(checker), approval, **given).status_code in (200, 302)
        approval.refresh_from_db()
        assert approval.state == "pending"

    def test_a_look_decides_nothing(self, client_of: SignIn, checker: User, approval: Approval) -> None:
        assert client_of(checker).get(f"{QUEUE}{approval.pk}/decide/").status_code == 302
        approval.refresh_from_db()
        assert approval.state == "pending"

    def test_who_cannot_decide_reads_why_and_who_can(
        self, client_of: SignIn, auditor: User, checker: User, approval: Approval
    ) -> None:
        shown = text_of(client_of(auditor).get(f"{QUEUE}?turn=others&at={approval.pk}"))
        assert "Your roles do not let you decide on this. checker can decide." in shown
        assert "It waits for 1 of the role finance checker, since" in shown

    def test_who_cannot_decide_and_posts_is_refused_on_record(
        self, client_of: SignIn, auditor: User, approval: Approval
    ) -> None:
        decide(client_of(auditor), approval)
        approval.refresh_from_db()
        assert approval.state == "pending"
        assert Entry.objects.filter(verb="deposit.approve", result="refused", actor=auditor).exists()

    def test_without_a_fresh_factor_it_is_asked_for(
        self, client_of: SignIn, checker: User, approval: Approval, settings: object
    ) -> None:
        browser = client_of(checker)
        session = browser.session
        session["account_authentication_methods"] = []
        session.save()
        assert "Your password" in queue(browser)
        decide(browser, approval)
        approval.refresh_from_db()
        assert approval.state == "pending"
        decide(browser, approval, factor="practice")
        approval.refresh_from_db()
        assert approval.state == "approved"
