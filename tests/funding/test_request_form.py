"""Asking for a deposit: who may, what is refused at which field, what stays as it was typed."""

from collections.abc import Callable

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery.models import State
from cards.models import Customer
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.funding.conftest import ADD_REQUEST, Request, a_token, post_request, text_of
from tests.funding.desk import page_of
from tests.people import a_person

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]


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
            ("", "cannot stay empty"),
            ("   ", "cannot stay empty"),
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
