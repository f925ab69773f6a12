"""The list and the page of deposits that people ask for."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery.models import State
from cards.models import Assignment
from funding.models import DepositRequest
from tests.funding.conftest import Request, text_of
from tests.funding.desk import LIST, decide, page_of, put, without_reference
from tests.people import a_person

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]


class TestTheList:
    @pytest.mark.parametrize("who", ["maker", "checker", "auditor"])
    def test_is_for_those_who_see_money(
        self, request: pytest.FixtureRequest, client_of: SignIn, request_deposit: Request, who: str
    ) -> None:
        request_deposit()
        answer = client_of(request.getfixturevalue(who)).get(LIST)
        assert "12.50 USDC" in text_of(answer)
        assert 'data-state="requested"' in answer.content.decode()

    @pytest.mark.parametrize("who", ["manager", "outsider", "superuser", "administrator"])
    def test_and_for_nobody_else(self, request: pytest.FixtureRequest, client_of: SignIn, who: str) -> None:
        assert client_of(request.getfixturevalue(who)).get(LIST).status_code == 403

    def test_shows_nothing_of_other_customers(self, client_of: SignIn, request_deposit: Request) -> None:
        wish = request_deposit()
        browser = client_of(a_person("stranger", roles.FINANCE_CHECKER, works_for_all=False))
        assert "12.50 USDC" not in text_of(browser.get(LIST))
        missing = browser.get(f"{LIST}999999/change/")
        for part in ("change", "decide", "cancel", "state", "history", "outcome"):
            hidden = browser.get(f"{LIST}{wish.pk}/{part}/")
            assert (hidden.status_code, without_reference(hidden)) == (404, without_reference(missing))
            assert browser.post(f"{LIST}{wish.pk}/{part}/", {"verdict": "approve"}).status_code in (404, 405)
        wish.refresh_from_db()
        assert wish.state == State.REQUESTED

    def test_an_assigned_customer_is_shown(self, client_of: SignIn, request_deposit: Request) -> None:
        wish = request_deposit()
        person = a_person("assigned", roles.FINANCE_CHECKER, works_for_all=False)
        Assignment.objects.create(user=person, customer=wish.wallet.customer)
        assert client_of(person).get(page_of(wish)).status_code == 200

    @pytest.mark.parametrize(
        ("queue", "who", "count"),
        [
            ("decide", "checker", 2),
            ("decide", "maker", 0),
            ("own", "maker", 2),
            ("own", "checker", 0),
            ("person", "checker", 1),
            ("refused", "maker", 1),
            ("nonsense", "maker", 4),
        ],
    )
    def test_queues_show_what_waits(
        self,
        *,
        request: pytest.FixtureRequest,
        client_of: SignIn,
        request_deposit: Request,
        maker: User,
        queue: str,
        who: str,
        count: int,
    ) -> None:
        for amount in ("1", "2", "3", "4"):
            request_deposit(amount)
        now = timezone.now()
        put(DepositRequest.objects.get(amount=3), State.UNKNOWN, unclear_at=now, needs_person=True)
        put(DepositRequest.objects.get(amount=4), State.REFUSED)
        expected = 3 if queue == "own" and who == "maker" else count
        answer = client_of(request.getfixturevalue(who)).get(f"{LIST}?queue={queue}")
        assert answer.context["cl"].result_count == expected

    @pytest.mark.parametrize(
        "query",
        [
            "q=%00",
            "q=" + "x" * 5000,
            "state__exact=nonsense",
            "o=99",
            "o=a.b",
            "p=99999",
            "p=-1",
            "e=1",
            "all=1",
            "created_at_from=x&created_at_to=9999-99-99",
            "created_at_to=9999-12-31",
            "created_at_from=2026-11-30",
            "state__in=" + ",".join("x" * 50),
            "_to_field=note",
            "queue=%F0%9F%92%B8",
        ],
    )
    def test_an_odd_filter_breaks_nothing(
        self, client_of: SignIn, maker: User, request_deposit: Request, query: str
    ) -> None:
        request_deposit()
        assert client_of(maker).get(f"{LIST}?{query}").status_code in (200, 302, 400)

    @pytest.mark.parametrize(
        "lookup", ["maker__password__startswith", "approval__facts__icontains", "idempotency_key"]
    )
    def test_hidden_columns_cannot_be_guessed(self, client_of: SignIn, maker: User, lookup: str) -> None:
        assert client_of(maker).get(f"{LIST}?{lookup}=a").status_code in (302, 400)

    def test_one_day_is_that_day_whole(
        self, client_of: SignIn, maker: User, request_deposit: Request
    ) -> None:
        request_deposit()
        today = f"{timezone.localdate():%Y-%m-%d}"
        answer = client_of(maker).get(f"{LIST}?created_at_from={today}&created_at_to={today}")
        assert answer.context["cl"].result_count == 1

    def test_takes_as_many_questions_for_ten_as_for_one(
        self, client_of: SignIn, maker: User, request_deposit: Request, django_assert_max_num_queries: Any
    ) -> None:
        browser = client_of(maker)
        request_deposit("1")
        browser.get(LIST)
        with django_assert_max_num_queries(40) as one:
            browser.get(LIST)
        few = len(one)
        for amount in range(2, 12):
            request_deposit(str(amount))
        with django_assert_max_num_queries(few):
            assert browser.get(LIST).context["cl"].result_count == 11


class TestThePage:
    def test_shows_a_checker_exactly_what_is_sent(
        self, client_of: SignIn, checker: User, request_deposit: Request
    ) -> None:
        wish = request_deposit("1250.5", note="Ads")
        shown = text_of(client_of(checker).get(page_of(wish)))
        for part in (
            "1,250.50 USDC",
            "Harbour & Sons",
            "wlt_harbour",
            "Ads",
            wish.idempotency_key,
            f"POST {wish.path}",
        ):
            assert part in shown
        assert "Approve" in shown

    def test_looking_changes_nothing(
        self, client_of: SignIn, checker: User, request_deposit: Request
    ) -> None:
        wish = request_deposit()
        browser = client_of(checker)
        before = list(DepositRequest.objects.values())
        for part in ("change", "decide", "cancel", "ask", "outcome", "end", "history", "state"):
            browser.get(
                f"{LIST}{wish.pk}/{part}/?verdict=approve&seen={wish.approval and wish.approval.facts_hash}"
            )
        assert list(DepositRequest.objects.values()) == before

    @pytest.mark.parametrize("who", ["maker", "checker", "superuser", "administrator"])
    def test_nobody_deletes(
        self, request: pytest.FixtureRequest, client_of: SignIn, request_deposit: Request, who: str
    ) -> None:
        wish = request_deposit()
        browser = client_of(request.getfixturevalue(who))
        assert browser.post(f"{LIST}{wish.pk}/delete/", {"post": "yes"}).status_code in (403, 404)
        given = {"action": "delete_selected", "_selected_action": wish.pk, "post": "yes"}
        browser.post(LIST, given)
        assert DepositRequest.objects.filter(pk=wish.pk).exists()

    def test_a_post_to_the_page_itself_writes_nothing(
        self, client_of: SignIn, maker: User, request_deposit: Request
    ) -> None:
        assert client_of(maker).post(page_of(request_deposit()), {"amount": "99"}).status_code == 405

    def test_checker_approves(self, client_of: SignIn, checker: User, request_deposit: Request) -> None:
        wish = request_deposit()
        assert decide(client_of(checker), wish).status_code == 302
        wish.refresh_from_db()
        assert wish.state == State.APPROVED

    def test_maker_cannot_approve(self, client_of: SignIn, maker: User, request_deposit: Request) -> None:
        wish = request_deposit()
        browser = client_of(maker)
        assert "You made this request: another person must decide on it." in text_of(
            browser.get(page_of(wish))
        )
        decide(browser, wish)
        wish.refresh_from_db()
        assert wish.state == State.REQUESTED
        assert Entry.objects.filter(verb="deposit.approve", result="refused").exists()

    def test_a_stale_page_is_told_who_was_first(
        self, client_of: SignIn, checker: User, checker2: User, request_deposit: Request
    ) -> None:
        wish = request_deposit()
        late = client_of(checker2)
        decide(client_of(checker), wish)
        answer = late.get(decide(late, wish)["Location"])
        assert "checker was first: approved at" in text_of(answer)

    def test_another_hash_is_refused(
        self, client_of: SignIn, checker: User, request_deposit: Request
    ) -> None:
        wish = request_deposit()
        browser = client_of(checker)
        answer = browser.get(decide(browser, wish, seen="0" * 64)["Location"])
        assert "This changed since you looked." in text_of(answer)
        wish.refresh_from_db()
        assert wish.state == State.REQUESTED

    def test_a_rejection_needs_a_reason(
        self, client_of: SignIn, checker: User, request_deposit: Request
    ) -> None:
        wish = request_deposit()
        browser = client_of(checker)
        assert "Say why you reject it" in text_of(decide(browser, wish, "reject"))
        assert decide(browser, wish, "reject", reason="Wrong month").status_code == 302
        wish.refresh_from_db()
        assert wish.state == State.REJECTED

    def test_maker_cancels(self, client_of: SignIn, maker: User, request_deposit: Request) -> None:
        wish = request_deposit()
        assert client_of(maker).post(f"{LIST}{wish.pk}/cancel/", {"reason": ""}).status_code == 302
        wish.refresh_from_db()
        assert wish.state == State.CANCELLED
