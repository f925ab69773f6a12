"""The pages of deposits and withdrawals: what they show, to whom; never written by hand."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice import endl as api
from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import line
from backoffice.delivery.models import Pause
from backoffice.endl import Client
from cards.models import Assignment, Customer
from funding import withdrawals
from funding.models import Deposit, Wallet, WebhookEvent, Withdrawal
from tests.funding.conftest import a_token, an_event, deliver, text_of
from tests.funding.movements import a_deposit, a_withdrawal
from tests.people import a_person

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]
ROOT = "/admin/funding"


class TestDepositPage:
    def test_shows_all_that_is_known(self, client_of: SignIn, checker: User, business: Customer) -> None:
        made = a_deposit(
            business,
            transactionHash="0xabc",
            fees=[
                {"type": "transaction_fee", "amount": {"amount": "0.50", "currency": "USDC"}},
                "odd",
                {"type": 7},
            ],
        )
        shown = text_of(client_of(checker).get(f"{ROOT}/deposit/{made.pk}/change/"))
        for part in (
            "100.00 USDC",
            "Harbour & Sons",
            "0xabc",
            "transaction_fee",
            "0.50 USDC",
            "external",
            "cdp_1",
            "Last confirmed",
            "Not asked for here",
        ):
            assert part in shown

    @pytest.mark.parametrize(
        ("reason", "shown"),
        [
            ("The network said no", "The network said no"),
            ({"code": "x", "message": "Refused there"}, "Refused there"),
            ({"why": ["a", 1]}, '{"why": ["a", 1]}'),
            (17, "17"),
            ("<script>x</script>", "<script>x</script>"),
        ],
    )
    def test_a_reason_is_readable_whatever_its_type(
        self, client_of: SignIn, checker: User, business: Customer, reason: Any, shown: str
    ) -> None:
        made = a_deposit(business, status="failed", failureReason=reason)
        page = client_of(checker).get(f"{ROOT}/deposit/{made.pk}/change/")
        assert "<script>x" not in page.content.decode()
        assert shown in text_of(page) or "&lt;script&gt;x" in page.content.decode()

    @pytest.mark.parametrize(
        "odd",
        [
            {"status": "Completed"},
            {"status": None},
            {"amount": None},
            {"amount": "12"},
            {"fees": "none"},
            {"createdAt": "yesterday"},
            {"method": {"a": 1}},
            {"amount": {"amount": "9" * 60, "currency": "X"}},
        ],
    )
    def test_odd_values_break_neither_page_nor_list(
        self, client_of: SignIn, checker: User, business: Customer, odd: dict[str, Any]
    ) -> None:
        made = a_deposit(business, **odd)
        browser = client_of(checker)
        assert browser.get(f"{ROOT}/deposit/{made.pk}/change/").status_code == 200
        assert browser.get(f"{ROOT}/deposit/").status_code == 200

    def test_an_unknown_status_is_shown_as_it_came(
        self, client_of: SignIn, checker: User, business: Customer
    ) -> None:
        made = a_deposit(business, status="on_hold")
        assert "on_hold · not recognised" in text_of(
            client_of(checker).get(f"{ROOT}/deposit/{made.pk}/change/")
        )

    def test_a_contradiction_is_an_alarm(self, client_of: SignIn, checker: User, business: Customer) -> None:
        made = a_deposit(business)
        a_deposit(business, status="pending")
        shown = text_of(client_of(checker).get(f"{ROOT}/deposit/{made.pk}/change/"))
        assert "A person has to look at this" in shown
        assert "Endl said pending after completed." in shown

    def test_one_that_rests_on_a_word_says_so(
        self, client_of: SignIn, checker: User, business: Customer
    ) -> None:
        made = a_deposit(business)
        Deposit.objects.update(is_not_reread=True)
        assert "Not re-read" in text_of(client_of(checker).get(f"{ROOT}/deposit/{made.pk}/change/"))

    def test_one_that_differs_from_its_request_is_an_alarm(
        self, client_of: SignIn, checker: User, send: Any, emulator: "Emulator"
    ) -> None:
        emulator.fault(
            operation="start_deposit", kind="mutate", field="amount.amount", mutation="value", value="99.00"
        )
        wish = send("12.50")
        assert wish.deposit is not None
        browser = client_of(checker)
        for page in (f"{ROOT}/deposit/{wish.deposit.pk}/change/", f"{ROOT}/depositrequest/{wish.pk}/change/"):
            assert "Endl made 99.00 USDC from wlt_harbour; asked was 12.50 USDC from wlt_harbour." in text_of(
                browser.get(page)
            )


class TestWhoSees:
    @pytest.fixture
    def rows(self, business: Customer, wallet: Wallet) -> dict[str, Any]:
        deliver(an_event(depositId="cdp_1", customerId=business.endl_id))
        return {
            "deposit": a_deposit(business),
            "withdrawal": a_withdrawal(business),
            "wallet": wallet,
            "webhookevent": WebhookEvent.objects.get(),
        }

    @pytest.mark.parametrize("kind", ["deposit", "withdrawal", "wallet", "webhookevent"])
    def test_by_role_and_never_written(
        self, request: pytest.FixtureRequest, client_of: SignIn, rows: dict[str, Any], kind: str
    ) -> None:
        row, page = rows[kind], f"{ROOT}/{kind}/"
        for who in ("maker", "checker", "auditor", "manager", "outsider", "superuser"):
            may = who in ("checker", "auditor") or (who == "maker" and kind != "webhookevent")
            browser = client_of(request.getfixturevalue(who))
            assert browser.get(page).status_code == (200 if may else 403), who
            assert browser.get(f"{page}{row.pk}/change/").status_code in ((200,) if may else (403, 404)), who
            assert browser.post(f"{page}{row.pk}/change/", {"status": "completed"}).status_code in (403, 405)
            assert browser.post(f"{page}{row.pk}/delete/", {"post": "yes"}).status_code in (403, 404)
            if kind in ("deposit", "webhookevent"):
                assert browser.get(f"{page}add/").status_code == 403
        assert type(row).objects.filter(pk=row.pk).exists()
        assert "/login/" in Browser().get(page)["Location"]

    @pytest.mark.parametrize("kind", ["deposit", "withdrawal", "wallet", "webhookevent"])
    def test_nobody_sees_other_customers(self, client_of: SignIn, rows: dict[str, Any], kind: str) -> None:
        stranger = a_person("stranger", roles.AUDITOR, roles.FINANCE_CHECKER, works_for_all=False)
        stranger.groups.remove(stranger.groups.get(name=roles.AUDITOR))
        browser = client_of(stranger)
        assert browser.get(f"{ROOT}/{kind}/").context["cl"].result_count == 0
        for part in ("change", "history", "state"):
            assert browser.get(f"{ROOT}/{kind}/{rows[kind].pk}/{part}/").status_code == 404
        Assignment.objects.create(user=stranger, customer=rows["wallet"].customer)
        assert browser.get(f"{ROOT}/{kind}/").context["cl"].result_count == 1

    @pytest.mark.parametrize("kind", ["deposit", "withdrawal", "wallet", "webhookevent"])
    @pytest.mark.parametrize(
        "query",
        [
            "q=%F0%9F%92%B8",
            "created_at_from=2026-11-01&created_at_to=2026-11-01",
            "created_at_to=9999-12-31",
            "created_at_from=x",
            "missing=yes",
            "missing=x",
            "status=pending",
            "state__exact=failed",
            "currency__isempty=1",
            "p=abc",
        ],
    )
    def test_filters_break_nothing(
        self, client_of: SignIn, auditor: User, rows: dict[str, Any], kind: str, query: str
    ) -> None:
        assert client_of(auditor).get(f"{ROOT}/{kind}/?{query}").status_code in (200, 302, 400)

    @pytest.mark.parametrize("kind", ["deposit", "withdrawal", "wallet", "webhookevent"])
    def test_lists_take_as_many_questions_for_twenty_as_for_one(
        self,
        client_of: SignIn,
        auditor: User,
        rows: dict[str, Any],
        kind: str,
        django_assert_max_num_queries: Any,
    ) -> None:
        browser, page, customer = client_of(auditor), f"{ROOT}/{kind}/", rows["wallet"].customer
        browser.get(page)
        with django_assert_max_num_queries(40) as one:
            browser.get(page)
        few = len(one)
        for number in range(2, 22):
            a_deposit(customer, depositId=f"cdp_{number}", walletId=f"wlt_{number}")
            a_withdrawal(customer, withdrawalId=f"cwd_{number}", destination={"walletId": f"wlt_{number}"})
            deliver(an_event(f"evt_{number}", depositId=f"cdp_{number}"), event_id=f"evt_{number}")
        with django_assert_max_num_queries(few):
            assert browser.get(page).context["cl"].result_count == 21

    def test_search_finds_by_id_hash_and_customer(
        self, client_of: SignIn, auditor: User, business: Customer
    ) -> None:
        a_deposit(business, transactionHash="0xabcdef")
        browser = client_of(auditor)
        for term in ("cdp_1", "0xABCDEF", "harbour"):
            assert browser.get(f"{ROOT}/deposit/", {"q": term}).context["cl"].result_count == 1, term
        assert browser.get(f"{ROOT}/deposit/", {"q": "nowhere"}).context["cl"].result_count == 0

    def test_days_are_whole(self, client_of: SignIn, auditor: User, business: Customer) -> None:
        a_deposit(business, createdAt="2026-11-01T23:59:59Z")
        browser = client_of(auditor)
        found = browser.get(f"{ROOT}/deposit/?created_at_from=2026-11-01&created_at_to=2026-11-01")
        assert found.context["cl"].result_count == 1
        assert browser.get(f"{ROOT}/deposit/?created_at_from=2026-11-02").context["cl"].result_count == 0


class TestFollowAWithdrawal:
    @pytest.fixture
    def at_endl(self, emulator: "Emulator", business: Customer) -> None:
        emulator.seed(
            withdrawals=[
                {
                    "withdrawalId": "cwd_new",
                    "customerId": business.endl_id,
                    "status": "pending",
                    "destination": {"address": "0xbeef"},
                }
            ]
        )

    def post(self, browser: Browser, customer: Customer, endl_id: str) -> Any:
        given = {"form_token": a_token(), "customer": customer.pk, "endl_id": endl_id}
        return browser.post(f"{ROOT}/withdrawal/add/", given)

    @pytest.mark.usefixtures("at_endl")
    def test_is_stored_from_endls_answer(self, client_of: SignIn, maker: User, business: Customer) -> None:
        browser = client_of(maker)
        answer = self.post(browser, business, "cwd_new")
        kept = Withdrawal.objects.get()
        assert answer["Location"] == f"{ROOT}/withdrawal/{kept.pk}/change/"
        assert (kept.endl_id, kept.status, kept.destination_address, kept.amount_text) == (
            "cwd_new",
            "pending",
            "0xbeef",
            "100.00",
        )
        assert kept.looked_at is not None
        shown = text_of(browser.get(answer["Location"]))
        for part in ("100.00 USD", "0xbeef", "Look again now", "Last looked at"):
            assert part in shown
        assert Entry.objects.filter(verb="withdrawal.read", actor=maker).count() == 1

    @pytest.mark.parametrize(
        ("endl_id", "sentence"),
        [
            ("cwd_nowhere", "Endl has no such withdrawal for this customer"),
            ("", "cannot stay empty"),
            ("cwd_1/../x", "Copy the id from Endl"),
            ("cwd 1", "Copy the id from Endl"),
            ("\u0445" * 10, "Copy the id"),
            ("x" * 129, "Copy the id"),
            ("cwd_\x00", "Copy the id"),
        ],
    )
    def test_a_wrong_id_gets_a_sentence_at_its_field(
        self, client_of: SignIn, maker: User, business: Customer, endl_id: str, sentence: str
    ) -> None:
        answer = self.post(client_of(maker), business, endl_id)
        form = answer.context["form"]
        assert sentence in " ".join(form.errors["endl_id"])
        assert form["endl_id"].value() == endl_id
        assert not Withdrawal.objects.exists()

    def test_an_unknown_customer_is_said_at_its_field(
        self, client_of: SignIn, maker: User, business: Customer
    ) -> None:
        Customer.objects.update(endl_id="cus_gone")
        business.refresh_from_db()
        form = self.post(client_of(maker), business, "cwd_new").context["form"]
        assert "Endl does not know this customer" in form.errors["customer"][0]
        business.refresh_from_db()
        assert business.is_known is False

    def test_a_lacking_permission_is_said_at_the_customer(
        self, client_of: SignIn, maker: User, business: Customer, emulator: "Emulator"
    ) -> None:
        emulator.fault(operation="get_withdrawal", kind="error", code="ERRCORE_1005")
        form = self.post(client_of(maker), business, "cwd_new").context["form"]
        assert "Endl refuses to answer for this customer" in form.errors["customer"][0]

    def test_endl_down_is_said_and_nothing_stored(
        self, client_of: SignIn, maker: User, business: Customer, settings: Settings
    ) -> None:
        settings.ENDL_BASE_URL = "http://127.0.0.1:9"
        form = self.post(client_of(maker), business, "cwd_new").context["form"]
        assert "so nothing was stored" in form.errors["endl_id"][0]
        assert form["endl_id"].value() == "cwd_new"

    def test_a_paused_line_asks_nothing(
        self, client_of: SignIn, maker: User, business: Customer, emulator: "Emulator", now: datetime
    ) -> None:
        line.pause(api.OursToFix("No"), scope=Pause.Scope.EVERYTHING, now=now)
        form = self.post(client_of(maker), business, "cwd_new").context["form"]
        assert "The line to Endl is paused" in form.errors["endl_id"][0]
        assert emulator.requests_seen()["counts"] == {} or "get_withdrawal" not in str(
            emulator.requests_seen()
        )

    @pytest.mark.parametrize("field", ["withdrawalId", "customerId"])
    def test_another_withdrawal_than_asked_for_is_not_stored(
        self,
        *,
        client_of: SignIn,
        maker: User,
        business: Customer,
        emulator: "Emulator",
        at_endl: None,
        field: str,
    ) -> None:
        emulator.fault(
            operation="get_withdrawal", kind="mutate", field=field, mutation="value", value="another"
        )
        form = self.post(client_of(maker), business, "cwd_new").context["form"]
        assert form.errors
        assert not Withdrawal.objects.exists()

    @pytest.mark.parametrize("who", ["auditor", "manager", "superuser"])
    def test_others_do_not(
        self, request: pytest.FixtureRequest, client_of: SignIn, business: Customer, who: str
    ) -> None:
        assert self.post(client_of(request.getfixturevalue(who)), business, "cwd_new").status_code == 403

    def test_looking_again_is_a_post_and_on_record(
        self, client_of: SignIn, maker: User, business: Customer
    ) -> None:
        row = a_withdrawal(business)
        browser = client_of(maker)
        browser.get(f"{ROOT}/withdrawal/{row.pk}/look/")
        assert not Entry.objects.filter(verb="withdrawal.look_again").exists()
        assert browser.post(f"{ROOT}/withdrawal/{row.pk}/look/").status_code == 302
        assert Entry.objects.filter(verb="withdrawal.look_again").count() == 1

    @pytest.mark.usefixtures("at_endl")
    def test_a_pending_one_is_followed_to_its_end(
        self, maker: User, business: Customer, endl: Client, emulator: "Emulator", now: datetime
    ) -> None:
        row = withdrawals.fetch_withdrawal(customer=business, endl_id="cwd_new", endl=endl, by=maker, now=now)
        from backoffice.emulator.withdrawals import settle_withdrawal

        settle_withdrawal(emulator.world, "cwd_new", status="failed", reason={"message": "Refused there"})
        withdrawals.follow(row, endl=endl, now=timezone.now())
        row.refresh_from_db()
        assert (row.status, row.failure_reason) == ("failed", "Refused there")
        assert not withdrawals.due(now=timezone.now()).exists()

    def test_one_that_endl_forgot_is_marked_missing(
        self, business: Customer, endl: Client, emulator: "Emulator", now: datetime
    ) -> None:
        row = a_withdrawal(business)
        withdrawals.follow(row, endl=endl, now=timezone.now())
        row.refresh_from_db()
        assert row.missing_since is not None
        assert not withdrawals.due(now=timezone.now()).exists()
