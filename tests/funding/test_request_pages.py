"""The pages of deposits that people ask for: who sees what, what is refused where, what stays unchanged."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import sender
from backoffice.delivery.models import State
from backoffice.endl import Client
from cards.models import Assignment, Customer
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.funding.conftest import ADD_REQUEST, Request, a_token, post_request, text_of
from tests.people import a_person

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db
LIST = "/admin/funding/depositrequest/"
SignIn = Callable[[User], Browser]


def page_of(wish: DepositRequest) -> str:
    return f"{LIST}{wish.pk}/change/"


def without_reference(answer: Any) -> str:
    """A page without the number by which its own request is found in the log."""
    return re.sub(r"<code>[0-9a-f-]+</code>", "", answer.content.decode())


def decide(browser: Browser, wish: DepositRequest, verdict: str = "approve", **more: Any) -> Any:
    assert wish.approval is not None
    given = {"seen": wish.approval.facts_hash, "verdict": verdict, "reason": "", **more}
    return browser.post(f"{LIST}{wish.pk}/decide/", given)


class TestWhoMayAsk:
    def test_maker_asks_and_is_led_to_the_request(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        answer = post_request(client_of(maker), wallet, "12.50", note="For November")
        wish = DepositRequest.objects.get()
        assert answer["Location"] == page_of(wish)
        assert (str(wish.amount.normalize()), wish.currency, wish.note) == ("12.5", "USDC", "For November")
        assert b'"amount":"12.50"' in bytes(wish.body)

    @pytest.mark.parametrize(
        "who", ["checker", "auditor", "manager", "administrator", "superuser", "compliance"]
    )
    def test_others_do_not(
        self, request: pytest.FixtureRequest, client_of: SignIn, wallet: Wallet, who: str
    ) -> None:
        browser = client_of(request.getfixturevalue(who))
        assert browser.get(ADD_REQUEST).status_code == 403
        assert post_request(browser, wallet, "12.50").status_code == 403
        assert not DepositRequest.objects.exists()

    def test_nobody_who_is_not_signed_in(self, wallet: Wallet) -> None:
        assert "/login/" in post_request(Browser(), wallet, "12.50")["Location"]

    def test_a_post_without_its_token_is_refused(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        browser = client_of(maker)
        strict = Browser(enforce_csrf_checks=True)
        strict.cookies = browser.cookies
        assert post_request(strict, wallet, "12.50").status_code == 403

    def test_a_wallet_of_another_customer_is_no_choice(
        self, client_of: SignIn, wallet: Wallet, business: Customer
    ) -> None:
        stranger = a_person("stranger", roles.FINANCE_MAKER, works_for_all=False)
        answer = post_request(client_of(stranger), wallet, "12.50")
        assert answer.status_code == 200
        assert "That choice is not one of the available choices" in text_of(
            answer
        ) or "valid choice" in text_of(answer)
        assert wallet.label not in text_of(answer)

    def test_fields_that_nobody_offered_are_ignored(
        self, client_of: SignIn, maker: User, checker: User, wallet: Wallet
    ) -> None:
        forged = {
            "state": "approved",
            "maker": checker.pk,
            "approval": 1,
            "currency": "USD",
            "idempotency_key": "k" * 30,
        }
        post_request(client_of(maker), wallet, "12.50", **forged)
        wish = DepositRequest.objects.get()
        assert (wish.state, wish.maker, wish.currency) == (State.REQUESTED, maker, "USDC")
        assert wish.idempotency_key != "k" * 30

    def test_a_double_click_makes_one(self, client_of: SignIn, maker: User, wallet: Wallet) -> None:
        browser, token = client_of(maker), a_token()
        answers = [post_request(browser, wallet, "12.50", form_token=token) for _ in range(2)]
        assert {answer["Location"] for answer in answers} == {page_of(DepositRequest.objects.get())}


class TestAmounts:
    @pytest.mark.parametrize(
        ("typed", "sentence"),
        [
            ("1e3", "plain digits"),
            ("1E+2", "plain digits"),
            ("1_000", "plain digits"),
            ("\u0661\u0662", "only the digits 0 to 9"),
            ("\uff11\uff12", "only the digits 0 to 9"),
            ("12,50", "a point instead of a comma"),
            ("1,234.56", "no thousands separators"),
            ("+5", "no sign"),
            ("-1", "no sign"),
            ("\u22125", "no sign"),
            (".5", "plain digits"),
            ("5.", "plain digits"),
            ("NaN", "plain digits"),
            ("Infinity", "plain digits"),
            ("0x1f", "plain digits"),
            ("12\u00a050", "only the digits 0 to 9"),
            ("12 50", "plain digits"),
            ("1\u200b2", "only the digits 0 to 9"),
            ("9" * 40, "at most twelve digits"),
            ("9" * 13, "at most twelve digits"),
            ("0", "more than zero"),
            ("0.000000", "more than zero"),
            ("0.0000001", "at most 6 decimal places"),
            ("007", "plain digits"),
            ("$5", "plain digits"),
            ("<script>1</script>", "plain digits"),
            ("", "required"),
            ("   ", "required"),
        ],
    )
    def test_what_is_no_amount_gets_a_sentence_and_stays_typed(
        self, client_of: SignIn, maker: User, wallet: Wallet, typed: str, sentence: str
    ) -> None:
        answer = post_request(client_of(maker), wallet, typed, note="kept")
        assert answer.status_code == 200
        form = answer.context["form"]
        assert sentence in " ".join(form.errors["amount"])
        assert form["amount"].value() == typed
        assert form["note"].value() == "kept"
        assert not DepositRequest.objects.exists()

    def test_places_follow_the_currency(self, client_of: SignIn, maker: User, wallet: Wallet) -> None:
        Wallet.objects.update(currency="USD")
        answer = post_request(client_of(maker), wallet, "1.005")
        assert answer.context["form"].errors["amount"] == [
            "This currency takes at most 2 decimal places, such as 1250.50."
        ]

    def test_spaces_around_it_are_forgiven(self, client_of: SignIn, maker: User, wallet: Wallet) -> None:
        assert post_request(client_of(maker), wallet, " 12.50 ").status_code == 302


class TestOtherFields:
    @pytest.mark.parametrize(
        ("field", "typed"),
        [
            ("wallet", ""),
            ("wallet", "0"),
            ("wallet", "abc"),
            ("wallet", "9" * 40),
            ("wallet", "1' OR 1=1"),
            ("wallet", "\x00"),
            ("chain", "x" * 41),
            ("chain", "ba\u202ese"),
            ("chain", "a\x00b"),
            ("note", "x" * 141),
            ("note", "4111 1111 1111 1111"),
            ("note", "a\u2066b"),
            ("note", "a\x00b"),
        ],
    )
    def test_a_bad_one_gets_a_sentence_at_its_field(
        self, client_of: SignIn, maker: User, wallet: Wallet, field: str, typed: str
    ) -> None:
        answer = post_request(client_of(maker), wallet, "12.50", **{field: typed})
        assert answer.status_code == 200
        assert answer.context["form"].errors[field]
        assert not DepositRequest.objects.exists()

    @pytest.mark.parametrize("token", ["", "short", "x" * 65, "\x00" * 20])
    def test_a_page_without_its_own_token_is_refused(
        self, client_of: SignIn, maker: User, wallet: Wallet, token: str
    ) -> None:
        assert post_request(client_of(maker), wallet, "12.50", form_token=token).status_code == 200
        assert not DepositRequest.objects.exists()

    def test_an_employees_wallet_is_refused_at_the_field_and_on_record(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        Customer.objects.update(type=Customer.Type.EMPLOYEE)
        answer = post_request(client_of(maker), wallet, "12.50")
        assert answer.context["form"].errors["wallet"] == [
            "Harbour & Sons is an employee: Endl refuses deposits for employees."
        ]
        assert Entry.objects.filter(verb="deposit.request", result="refused").count() == 1


class TestTheForm:
    def test_wallets_stand_under_their_customers(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        page = client_of(maker).get(ADD_REQUEST).content.decode()
        assert '<optgroup label="Harbour &amp; Sons">' in page
        assert "Treasury (USDC on base)" in page

    def test_a_wallet_without_a_currency_is_named_but_no_choice(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        Wallet.objects.create(endl_id="wlt_bare", customer=wallet.customer, source=Wallet.Source.LEARNED)
        answer = client_of(maker).get(ADD_REQUEST)
        assert "1 wallet without a currency cannot be chosen: complete them first" in text_of(answer)
        assert "wlt_bare" not in text_of(answer)

    def test_no_wallet_at_all_leads_to_adding_one(self, client_of: SignIn, maker: User) -> None:
        answer = client_of(maker).get(ADD_REQUEST)
        assert "There is no wallet to pay from yet. Add wallet first." in text_of(answer)
        assert "/admin/funding/wallet/add/" in answer.content.decode()

    def test_too_many_for_a_list_are_searched(
        self, client_of: SignIn, maker: User, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("funding.forms.SHORT_LIST", 0)
        browser = client_of(maker)
        page = browser.get(f"{ADD_REQUEST}?wallet={wallet.pk}").content.decode()
        assert "/admin/funding/wallet/pick/" in page
        assert "select2" in page
        asked = {
            "app_label": "funding",
            "model_name": "depositrequest",
            "field_name": "wallet",
            "term": "treas",
        }
        found = browser.get("/admin/funding/wallet/pick/", asked).json()
        assert found["results"] == [{"id": str(wallet.pk), "text": "Harbour & Sons: Treasury (USDC on base)"}]
        assert post_request(browser, wallet, "12.50").status_code == 302

    def test_the_address_may_choose_the_wallet_but_no_amount(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        form = client_of(maker).get(f"{ADD_REQUEST}?wallet={wallet.pk}&amount=99999&note=x").context["form"]
        assert form["wallet"].value() == wallet.pk
        assert form["amount"].value() is None
        assert form["note"].value() is None

    @pytest.mark.parametrize("text", ["", "abc", "-1", "1e3", "9" * 40, "\u0661", "%00", "1;drop"])
    @pytest.mark.parametrize("name", ["wallet", "again"])
    def test_an_odd_address_is_an_empty_form(
        self, client_of: SignIn, maker: User, wallet: Wallet, name: str, text: str
    ) -> None:
        assert client_of(maker).get(f"{ADD_REQUEST}?{name}={text}").status_code in (200, 400)

    def test_an_equal_deposit_within_a_day_is_asked_about(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        browser = client_of(maker)
        assert "Yes, a second deposit" not in text_of(browser.get(ADD_REQUEST))
        post_request(browser, wallet, "12.50")
        answer = post_request(browser, wallet, "12.500")
        assert "maker requested 12.50 USDC from this wallet" in text_of(answer)
        assert "Yes, a second deposit" in text_of(answer)
        assert DepositRequest.objects.count() == 1
        assert post_request(browser, wallet, "12.50", second="on").status_code == 302
        assert post_request(browser, wallet, "12.51").status_code == 302
        assert DepositRequest.objects.count() == 3

    def test_one_that_was_turned_down_is_not_asked_about(
        self, client_of: SignIn, maker: User, wallet: Wallet, request_deposit: Request
    ) -> None:
        deposits.cancel_deposit(request=request_deposit(), by=maker, now=timezone.now())
        assert post_request(client_of(maker), wallet, "12.50").status_code == 302


class TestAgain:
    @pytest.fixture
    def cancelled(self, request_deposit: Request, maker: User) -> DepositRequest:
        wish = request_deposit("77.10", chain="base", note="October")
        return deposits.cancel_deposit(request=wish, by=maker, now=timezone.now())

    def test_a_cancelled_one_offers_a_copy_to_correct(
        self, client_of: SignIn, maker: User, cancelled: DepositRequest
    ) -> None:
        browser = client_of(maker)
        assert "Request again with changes" in text_of(browser.get(page_of(cancelled)))
        form = browser.get(f"{ADD_REQUEST}?again={cancelled.pk}").context["form"]
        shown = {name: form[name].value() for name in ("wallet", "amount", "chain", "note", "replaces")}
        assert shown == {
            "wallet": cancelled.wallet_id,
            "amount": "77.10",
            "chain": "base",
            "note": "October",
            "replaces": cancelled.pk,
        }

    def test_the_copy_names_what_it_corrects(
        self, client_of: SignIn, maker: User, cancelled: DepositRequest, wallet: Wallet
    ) -> None:
        browser = client_of(maker)
        post_request(browser, wallet, "77.01", replaces=cancelled.pk)
        made = DepositRequest.objects.latest("pk")
        assert made.replaces == cancelled
        assert "Corrects Deposit 77.10 USDC" in text_of(browser.get(page_of(made)))
        assert "Corrected by Deposit 77.01 USDC" in text_of(browser.get(page_of(cancelled)))

    @pytest.mark.parametrize("forged", ["abc", "999999", "-1", "9" * 30])
    def test_a_forged_reference_is_left_out(
        self, client_of: SignIn, maker: User, wallet: Wallet, forged: str
    ) -> None:
        post_request(client_of(maker), wallet, "77.01", replaces=forged)
        made = DepositRequest.objects.first()
        assert made is None or made.replaces is None

    def test_one_on_its_way_is_no_copy_to_correct(
        self, client_of: SignIn, maker: User, request_deposit: Request
    ) -> None:
        wish = request_deposit()
        browser = client_of(maker)
        assert "Request again with changes" not in text_of(browser.get(page_of(wish)))
        assert browser.get(f"{ADD_REQUEST}?again={wish.pk}").context["form"]["amount"].value() is None

    def test_somebody_elses_customer_stays_hidden(self, client_of: SignIn, cancelled: DepositRequest) -> None:
        stranger = a_person("stranger", roles.FINANCE_MAKER, works_for_all=False)
        form = client_of(stranger).get(f"{ADD_REQUEST}?again={cancelled.pk}").context["form"]
        assert form["amount"].value() is None
        assert form["note"].value() is None


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
        _put(DepositRequest.objects.get(amount=3), State.UNKNOWN, unclear_at=now, needs_person=True)
        _put(DepositRequest.objects.get(amount=4), State.REFUSED)
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


class TestRefused:
    @pytest.mark.parametrize(
        ("amount", "seed", "reason", "remedy"),
        [
            (
                "10000.01",
                {},
                "Not enough funds in the wallet",
                "Put money into the wallet, or ask for a smaller deposit.",
            ),
            (
                "5",
                {"wallets": [{"walletId": "wlt_harbour", "customerId": "cus_other"}]},
                "The wallet is not the customer's",
                "Check the wallet's id, and that it is this customer's.",
            ),
            (
                "5",
                {"customers": [{"customerId": "cus_harbour", "type": "employee"}]},
                "Deposits for an employee are refused",
                "Use a wallet of a business or an individual: employees cannot deposit.",
            ),
            (
                "5",
                {"customers": [{"customerId": "cus_harbour", "enrolment": "none"}]},
                "The customer is not enrolled",
                "Ask the Endl contact to enrol this customer, then ask for the deposit again.",
            ),
        ],
    )
    def test_says_why_and_what_to_do(
        self,
        *,
        client_of: SignIn,
        maker: User,
        send: Request,
        emulator: "Emulator",
        amount: str,
        seed: dict[str, Any],
        reason: str,
        remedy: str,
    ) -> None:
        emulator.seed(customers=[{"customerId": "cus_other"}])
        emulator.seed(**seed)
        wish = send(amount)
        assert wish.state == State.REFUSED
        shown = text_of(client_of(maker).get(page_of(wish)))
        assert reason in shown
        assert remedy in shown
        assert "Request again with changes" in shown

    def test_an_unknown_chain_leads_to_the_field(
        self, client_of: SignIn, maker: User, send: Request, emulator: "Emulator"
    ) -> None:
        wish = send("5", chain="moon")
        shown = text_of(client_of(maker).get(page_of(wish)))
        assert "Leave the chain empty, or name one that this wallet supports." in shown


class TestUnknown:
    @pytest.fixture
    def unclear(
        self, request_deposit: Request, approve: Any, endl: Client, emulator: "Emulator"
    ) -> DepositRequest:
        wish: DepositRequest = approve(request_deposit())
        emulator.fault(operation="start_deposit", kind="drop", when="after")
        sender.deliver(deposits.ROAD, wish.pk, endl=endl)
        wish.refresh_from_db()
        assert wish.state == State.UNKNOWN
        return wish

    def test_says_what_was_sent_when_and_what_happens_next(
        self, client_of: SignIn, maker: User, unclear: DepositRequest
    ) -> None:
        shown = text_of(client_of(maker).get(page_of(unclear)))
        assert "It may have happened" in shown
        assert unclear.idempotency_key in shown
        assert "The same bytes are sent again with the same key" in shown
        assert "Next try" in shown

    def test_checker_records_that_nothing_happened(
        self, client_of: SignIn, checker: User, unclear: DepositRequest
    ) -> None:
        browser = client_of(checker)
        url = f"{LIST}{unclear.pk}/outcome/"
        answer = browser.post(url, {"outcome": "completed", "said": "Ann at Endl, by phone"})
        assert "Write down the deposit's id, as Endl named it." in text_of(answer)
        assert browser.post(url, {"outcome": "nothing", "said": ""}).status_code == 200
        assert browser.post(url, {"outcome": "nothing", "said": "Ann at Endl, by phone"}).status_code == 302
        unclear.refresh_from_db()
        assert unclear.state == State.REFUSED

    def test_maker_does_not(self, client_of: SignIn, maker: User, unclear: DepositRequest) -> None:
        assert (
            client_of(maker)
            .post(f"{LIST}{unclear.pk}/outcome/", {"outcome": "nothing", "said": "x"})
            .status_code
            == 403
        )
        unclear.refresh_from_db()
        assert unclear.state == State.UNKNOWN


class TestWithoutReads:
    @pytest.fixture
    def submitted(self, send: Request, endl: Client, emulator: "Emulator") -> DepositRequest:
        emulator.settings(reads_off=["get_deposit", "list_deposits"])
        wish = send()
        deposits.follow(wish, endl=endl, now=timezone.now())
        wish.refresh_from_db()
        assert wish.state == State.SUBMITTED
        return wish

    def test_the_page_says_how_it_ends(
        self, client_of: SignIn, maker: User, submitted: DepositRequest, settings: Settings
    ) -> None:
        browser = client_of(maker)
        shown = text_of(browser.get(page_of(submitted)))
        assert "How this ends" in shown
        assert "Endl's signed event ends it by itself." in shown
        settings.ENDL_WEBHOOK_SECRETS = []
        assert "Webhooks are off" in text_of(browser.get(page_of(submitted)))

    def test_checker_records_how_it_ended(
        self, client_of: SignIn, checker: User, submitted: DepositRequest
    ) -> None:
        given = {"status": "completed", "said": "Statement of today"}
        assert client_of(checker).post(f"{LIST}{submitted.pk}/end/", given).status_code == 302
        submitted.refresh_from_db()
        assert submitted.state == State.COMPLETED

    def test_where_endl_can_be_asked_nobody_records_an_end(
        self, client_of: SignIn, checker: User, send: Request
    ) -> None:
        wish = send()
        given = {"status": "completed", "said": "Statement of today"}
        assert client_of(checker).post(f"{LIST}{wish.pk}/end/", given).status_code == 403


def _put(wish: DepositRequest, state: State, **columns: Any) -> None:
    DepositRequest.objects.filter(pk=wish.pk).update(state=state, state_at=timezone.now(), **columns)
