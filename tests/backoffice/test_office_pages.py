"""The office's own lists and pages: decisions, the trail, the road to Endl, its line."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.approvals.models import Approval, Decision
from backoffice.audit.models import Entry
from backoffice.audit.trail import record
from backoffice.delivery import bell, line_admin
from backoffice.delivery.models import Alert, Attempt, Line, Pause
from backoffice.mirror.models import Pull, Read
from cards.models import Assignment, Customer
from funding.models import Wallet
from tests.people import a_person
from tests.wishes import a_deposit, an_approved_deposit, approval_of

SignIn = Callable[[User], Browser]
APPROVALS, TRAIL, LINE = "/admin/approvals/approval/", "/admin/audit/entry/", "/admin/delivery/line/"


def texts_of(browser: Browser, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


@pytest.fixture
def elsewhere(db: None, manager: User) -> User:
    """A checker of another customer than the business of these tests."""
    other = Customer.objects.create(endl_id="cus_other", name="Other Ltd", type="business", added_by=manager)
    person = a_person("elsewhere", "finance checker", works_for_all=False)
    Assignment.objects.create(user=person, customer=other)
    return person


@pytest.fixture
def pause(db: None) -> Pause:
    return Pause.objects.create(
        scope="everything", code="IP_NOT_ALLOWLISTED", message="This address is not registered.",
        remedy="Register it with Endl.", since=timezone.now(),
    )  # fmt: skip


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The bells that were rung, instead of a broker."""
    heard: list[tuple[object, ...]] = []
    monkeypatch.setattr(bell, "ring", lambda *what: heard.append(what))
    return heard


class TestApprovals:
    def test_leads_to_the_page_of_the_request(
        self, client_of: SignIn, checker: User, maker: User, wallet: Wallet, now: datetime
    ) -> None:
        wish = a_deposit(wallet, by=maker, now=now)
        shown = texts_of(client_of(checker), APPROVALS)
        assert f'href="/admin/funding/depositrequest/{wish.pk}/change/"' in shown

    def test_tells_mine_from_others(
        self, client_of: SignIn, checker: User, maker: User, wallet: Wallet, now: datetime
    ) -> None:
        a_deposit(wallet, by=maker, now=now, amount="11.00")
        an_approved_deposit(wallet, by=maker, checker=checker, now=now, amount="22.00")
        browser = client_of(checker)
        mine, others = (
            texts_of(browser, f"{APPROVALS}?turn=mine"),
            texts_of(browser, f"{APPROVALS}?turn=others"),
        )
        assert "11.00 USDC" in mine
        assert "22.00 USDC" not in mine
        assert "11.00 USDC" not in others

    def test_a_page_shows_what_is_bound(
        self, client_of: SignIn, auditor: User, maker: User, wallet: Wallet, now: datetime
    ) -> None:
        approval = approval_of(a_deposit(wallet, by=maker, now=now))
        shown = texts_of(client_of(auditor), f"{APPROVALS}{approval.pk}/change/")
        assert approval.facts_hash in shown
        assert "Your roles do not let you decide" in shown

    def test_another_customers_are_not_there(
        self, client_of: SignIn, elsewhere: User, maker: User, wallet: Wallet, now: datetime
    ) -> None:
        approval = approval_of(a_deposit(wallet, by=maker, now=now))
        browser = client_of(elsewhere)
        assert approval.summary not in texts_of(browser, APPROVALS)
        assert browser.get(f"{APPROVALS}{approval.pk}/change/").status_code == 404

    def test_decisions_are_listed(
        self, client_of: SignIn, auditor: User, maker: User, checker: User, wallet: Wallet
    ) -> None:
        an_approved_deposit(wallet, by=maker, checker=checker, now=timezone.now())
        made = Decision.objects.get()
        browser = client_of(auditor)
        assert "checker" in texts_of(browser, "/admin/approvals/decision/")
        assert made.seen_hash in texts_of(browser, f"/admin/approvals/decision/{made.pk}/change/")

    @pytest.mark.parametrize("what", ["add/", "1/delete/", "1/change/"])
    def test_nothing_is_written_by_hand(self, client_of: SignIn, superuser: User, what: str) -> None:
        browser = client_of(superuser)
        for model in ("approvals/approval", "approvals/decision", "audit/entry", "delivery/attempt"):
            assert browser.post(f"/admin/{model}/{what}", {"post": "yes"}).status_code in (403, 404, 405)
        assert Approval.objects.count() == 0


class TestTheTrail:
    def test_looking_leaves_an_entry(self, client_of: SignIn, auditor: User) -> None:
        browser = client_of(auditor)
        texts_of(browser, f"{TRAIL}?result=refused")
        look = Entry.objects.get(verb="audit.look")
        assert look.actor == auditor
        assert look.new == {"filters": {"result": "refused"}}
        texts_of(browser, f"{TRAIL}{look.pk}/change/")
        assert Entry.objects.filter(verb="audit.look").count() == 2

    def test_a_card_number_in_the_search_goes_no_further(self, client_of: SignIn, auditor: User) -> None:
        texts_of(client_of(auditor), f"{TRAIL}?q=4111+1111+1111+1111")
        assert Entry.objects.get(verb="audit.look").new == {"filters": {"q": "(not kept)"}}

    def test_shows_old_and_new_beside_each_other(self, client_of: SignIn, auditor: User, maker: User) -> None:
        entry = record(
            "role.give", maker, by=auditor, reason="Covers", old={"roles": ["a"]}, new={"roles": ["b"]}
        )
        shown = texts_of(client_of(auditor), f"{TRAIL}{entry.pk}/change/")
        assert "Covers" in shown
        assert "Before" in shown
        assert "[&#x27;a&#x27;]" in shown

    @pytest.mark.parametrize(
        "query", ["result__exact=refused", "verb=deposit.request", "is_sample__exact=1", "q=maker"]
    )
    def test_is_filtered_and_searched(self, client_of: SignIn, auditor: User, query: str) -> None:
        texts_of(client_of(auditor), f"{TRAIL}?{query}")

    def test_is_for_those_who_watch(self, client_of: SignIn, maker: User, administrator: User) -> None:
        for person in (maker, administrator):
            assert client_of(person).get(TRAIL).status_code == 403

    def test_names_an_object_that_has_no_page(self, client_of: SignIn, auditor: User) -> None:
        entry = Entry.objects.create(verb="x", actor_name="system: x", object_type="no.such", object_id="7")
        assert texts_of(client_of(auditor), f"{TRAIL}{entry.pk}/change/")


class TestTheRoad:
    @pytest.fixture
    def attempt(self, maker: User, wallet: Wallet, now: datetime) -> Attempt:
        wish = a_deposit(wallet, by=maker, now=now)
        return Attempt.objects.create(
            kind="deposit", request_id=wish.pk, number=1, started_at=now, outcome="unclear",
            message="No answer came.", endl_request_id="req_77",
        )  # fmt: skip

    def test_attempts_lead_to_their_request(self, client_of: SignIn, checker: User, attempt: Attempt) -> None:
        browser = client_of(checker)
        assert f"Deposit {attempt.request_id}" in texts_of(browser, "/admin/delivery/attempt/")
        shown = texts_of(browser, f"/admin/delivery/attempt/{attempt.pk}/change/")
        assert f"/admin/funding/depositrequest/{attempt.request_id}/change/" in shown
        assert "req_77" in shown

    def test_another_customers_attempts_are_not_there(
        self, client_of: SignIn, elsewhere: User, attempt: Attempt
    ) -> None:
        browser = client_of(elsewhere)
        assert browser.get(f"/admin/delivery/attempt/{attempt.pk}/change/").status_code == 404

    def test_alerts_first_of_all_those_still_open(
        self, client_of: SignIn, auditor: User, now: datetime
    ) -> None:
        given = {"kind": "late", "object_type": "funding.depositrequest", "message": "It waits too long."}
        Alert.objects.create(**given, object_id="1", object_name="Deposit one", since=now)
        Alert.objects.create(
            **given, object_id="2", object_name="Deposit two", since=now, cleared_at=now + timedelta(hours=1)
        )
        browser = client_of(auditor)
        still_open = texts_of(browser, "/admin/delivery/alert/?is=open")
        assert "Deposit one" in still_open
        assert "Deposit two" not in still_open
        first = Alert.objects.get(object_id="1")
        assert "clears itself" in texts_of(browser, f"/admin/delivery/alert/{first.pk}/change/")

    def test_syncs_of_ones_own_customers(
        self, client_of: SignIn, checker: User, elsewhere: User, business: Customer
    ) -> None:
        pull, _ = Pull.objects.get_or_create(kind="deposits", customer_endl_id=business.endl_id)
        address = f"/admin/mirror/pull/{pull.pk}/change/"
        assert business.endl_id in texts_of(client_of(checker), address)
        assert client_of(elsewhere).get(address).status_code == 404


class TestTheLine:
    def test_says_where_it_leads_and_hides_the_key(
        self, client_of: SignIn, auditor: User, settings: Settings
    ) -> None:
        shown = texts_of(client_of(auditor), LINE)
        assert settings.ENDL_BASE_URL in shown
        assert settings.ENDL_API_VERSION in shown
        assert settings.ENDL_API_KEY not in shown

    def test_shows_the_public_key_to_register(
        self, client_of: SignIn, auditor: User, settings: Settings, key_pair: tuple[Path, str]
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = [key_pair[0], Path("/no/such.pem")]
        shown = texts_of(client_of(auditor), LINE)
        assert key_pair[1].splitlines()[1].replace("+", "&#x2B;") in shown.replace("+", "&#x2B;")
        assert "PRIVATE KEY" not in shown.upper().replace("ENDL_PRIVATE_KEY", "")
        assert "cannot be read" in shown

    def test_no_key_is_said_so(self, client_of: SignIn, auditor: User, settings: Settings) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = []
        assert "card details cannot be opened" in texts_of(client_of(auditor), LINE)

    def test_is_tried_at_once(
        self, client_of: SignIn, administrator: User, pause: Pause, rung: list[tuple[object, ...]]
    ) -> None:
        Line.objects.update_or_create(pk=1, defaults={"probe_customer": "cus_harbour"})
        answer = client_of(administrator).post(f"{LINE}1/try_now/")
        assert answer.headers["Location"] == LINE
        assert rung == [(line_admin.PROBE,)]
        assert Entry.objects.get(verb="line.try_now").actor == administrator

    def test_asks_whom_to_ask_where_nobody_answered_yet(
        self, client_of: SignIn, administrator: User, pause: Pause, rung: list[tuple[object, ...]]
    ) -> None:
        browser = client_of(administrator)
        assert "Business to ask" in texts_of(browser, f"{LINE}1/try_now/")
        assert b"Copy the id" in browser.post(f"{LINE}1/try_now/", {"customer": "../x"}).content
        browser.post(f"{LINE}1/try_now/", {"customer": "cus_harbour"})
        assert rung == [(line_admin.PROBE, "cus_harbour")]

    def test_only_an_administrator_has_it_tried(
        self, client_of: SignIn, maker: User, pause: Pause, rung: list[tuple[object, ...]]
    ) -> None:
        browser = client_of(maker)
        assert "Try now" not in texts_of(browser, LINE)
        assert browser.post(f"{LINE}1/try_now/").status_code == 403
        assert not rung

    def test_a_get_tries_nothing(
        self, client_of: SignIn, administrator: User, pause: Pause, rung: list[tuple[object, ...]]
    ) -> None:
        Line.objects.update_or_create(pk=1, defaults={"probe_customer": "cus_harbour"})
        client_of(administrator).get(f"{LINE}1/try_now/")
        assert not rung

    def test_switched_off_reads_are_tried_again(self, client_of: SignIn, administrator: User) -> None:
        now = timezone.now()
        Read.objects.create(name="get_deposit", off_since=now, tried_at=now, why="There is no such page.")
        browser = client_of(administrator)
        shown = texts_of(browser, LINE)
        assert "There is no such page." in shown
        browser.post(f"{LINE}1/try_reads/")
        assert Read.objects.get().tried_at is None
        assert Entry.objects.filter(verb="reads.try_again").count() == 1

    def test_pauses_are_listed_and_cannot_be_lifted_by_hand(
        self, client_of: SignIn, administrator: User, pause: Pause
    ) -> None:
        browser = client_of(administrator)
        assert pause.message in texts_of(browser, "/admin/delivery/pause/")
        shown = texts_of(browser, f"/admin/delivery/pause/{pause.pk}/change/")
        assert pause.remedy in shown
        assert "Lift" not in shown

    def test_is_not_for_managers(self, client_of: SignIn, manager: User) -> None:
        assert client_of(manager).get(LINE).status_code == 403
