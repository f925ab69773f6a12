"""What every page has in common: banners, the sidebar, the home, errors, and calm with impossible input."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import OperationalError, connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from backoffice import home
from backoffice.access.models import User
from backoffice.delivery.models import Line, Pause
from backoffice.site import OfficeSite
from tests.people import a_person

SignIn = Callable[[User], Browser]
HOME = "/admin/"
LIST = "/admin/funding/depositrequest/"


def texts_of(browser: Browser, address: str = HOME) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


@pytest.fixture
def pause(db: None) -> Pause:
    return Pause.objects.create(
        scope="everything", code="ERRCORE_1004", message="The API key was refused.",
        remedy="Put the right key into the settings.", since=timezone.now(),
    )  # fmt: skip


class TestEveryPage:
    def test_the_site_is_ours(self) -> None:
        assert isinstance(admin.site, OfficeSite)

    @pytest.mark.parametrize(
        "address", [HOME, LIST, "/admin/funding/depositrequest/add/", "/admin/cards/customer/"]
    )
    def test_says_that_it_is_practice(self, client_of: SignIn, maker: User, address: str) -> None:
        assert "nothing here is real" in texts_of(client_of(maker), address)

    def test_production_says_no_such_thing(self, client_of: SignIn, maker: User, settings: Settings) -> None:
        browser = client_of(maker)
        settings.PRACTICE = False
        assert "nothing here is real" not in texts_of(browser)

    @pytest.mark.parametrize("address", [HOME, LIST, "/admin/cards/customer/"])
    def test_says_what_stops_the_line(
        self, client_of: SignIn, maker: User, pause: Pause, address: str
    ) -> None:
        shown = texts_of(client_of(maker), address)
        assert pause.message in shown
        assert pause.remedy in shown
        assert "Try now" not in shown

    def test_offers_an_administrator_to_try(
        self, client_of: SignIn, administrator: User, pause: Pause
    ) -> None:
        assert "Try now" in texts_of(client_of(administrator))

    def test_has_a_way_past_the_sidebar(self, client_of: SignIn, maker: User) -> None:
        shown = texts_of(client_of(maker))
        assert 'class="skip-link" href="#content"' in shown
        assert "<main" in shown

    def test_has_nothing_inline(self, client_of: SignIn, maker: User) -> None:
        for address in (HOME, LIST, "/admin/funding/depositrequest/add/", "/admin/delivery/line/"):
            shown = texts_of(client_of(maker), address)
            assert "<script>" not in shown
            assert " onclick=" not in shown


class TestTheSidebar:
    def pages(self, browser: Browser) -> set[str]:
        groups = browser.get(HOME).context["sidebar_navigation"]
        return {item["title"] for group in groups for item in group["items"]}

    def test_shows_what_a_person_may_open(
        self, client_of: SignIn, maker: User, compliance: User, administrator: User
    ) -> None:
        assert {"Deposit requests", "Wallets"} <= self.pages(client_of(maker))
        assert "Audit trail" not in self.pages(client_of(maker))
        assert {"Cardholders", "Audit trail", "Reveals"} <= self.pages(client_of(compliance))
        assert self.pages(client_of(administrator)).isdisjoint({"Deposits", "Cards", "Approvals"})

    def test_an_auditor_sees_it_all(self, client_of: SignIn, auditor: User, settings: Settings) -> None:
        everything = {page[1] for _title, pages in settings.NAVIGATION for page in pages}
        assert everything <= self.pages(client_of(auditor))

    def test_who_has_no_role_finds_the_home(self, client_of: SignIn, superuser: User) -> None:
        assert "Home" in self.pages(client_of(superuser))

    def test_counts_cheaply(self, client_of: SignIn, auditor: User) -> None:
        browser = client_of(auditor)
        with CaptureQueriesContext(
            connection,
        ) as seen:
            browser.get("/admin/mirror/read/")
        counts = [each["sql"] for each in seen if "COUNT(" in each["sql"] and "LIMIT" in each["sql"]]
        assert len(counts) <= 6


class TestTheHome:
    def test_offers_what_a_person_may_begin(
        self, client_of: SignIn, maker: User, manager: User, auditor: User
    ) -> None:
        assert "Request deposit" in texts_of(client_of(maker))
        shown = texts_of(client_of(manager))
        assert "Issue card" in shown
        assert "Register cardholder" in shown
        assert not home.quick_actions(auditor)

    def test_practice_says_what_to_try_first(
        self, client_of: SignIn, maker: User, settings: Settings
    ) -> None:
        browser = client_of(maker)
        assert "What to try first" in texts_of(browser)
        settings.PRACTICE = False
        assert "What to try first" not in texts_of(browser)

    def test_says_how_the_line_is(self, client_of: SignIn, maker: User) -> None:
        browser = client_of(maker)
        assert "has not been asked anything yet" in texts_of(browser)
        Line.objects.update_or_create(pk=1, defaults={"answered_at": timezone.now()})
        assert "Endl answers." in texts_of(browser)
        Line.objects.update(slow_until=timezone.now() + timedelta(minutes=1))
        assert "Slowed down" in texts_of(browser)

    def test_says_that_the_line_is_paused(self, client_of: SignIn, maker: User, pause: Pause) -> None:
        assert 'data-state="paused"' in texts_of(client_of(maker))

    def test_counts_what_the_house_waits_for(
        self, client_of: SignIn, administrator: User, auditor: User, superuser: User, maker: User
    ) -> None:
        browser = client_of(administrator)
        shown = texts_of(browser)
        assert "Without a role" in shown
        for fact in home.house_panels(administrator)[0].facts:
            assert browser.get(fact.value.split('"')[3]).status_code == 200, fact.label
        assert "Refused in the last 7 days" in texts_of(client_of(auditor))
        assert not home.house_panels(maker)

    def test_tells_who_has_no_role_what_to_do(self, client_of: SignIn) -> None:
        assert "Ask an administrator" in texts_of(client_of(a_person("newcomer")))


class TestErrors:
    def test_what_is_not_there(self, client_of: SignIn, maker: User) -> None:
        answer = client_of(maker).get("/admin/nothing/here/")
        assert answer.status_code == 404
        assert b"There is nothing here" in answer.content
        assert b"Reference:" in answer.content
        assert 'href="/admin/"' in answer.content.decode()
        assert "unsafe" not in answer.headers["Content-Security-Policy"]

    def test_what_the_roles_do_not_let_names_the_one_that_would(
        self, client_of: SignIn, auditor: User
    ) -> None:
        answer = client_of(auditor).get("/admin/funding/depositrequest/add/")
        assert answer.status_code == 403
        assert b"finance maker" in answer.content

    def test_a_form_without_its_token(self, maker: User) -> None:
        browser = Browser(enforce_csrf_checks=True)
        answer = browser.post("/accounts/login/", {"login": "maker", "password": "practice"})
        assert answer.status_code == 403
        assert b"open too long" in answer.content

    def test_a_mistake_of_ours_shows_nothing_of_it(
        self, client_of: SignIn, maker: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        browser = client_of(maker)
        browser.raise_request_exception = False
        monkeypatch.setattr(home, "line_state", lambda _health: 1 / 0)
        answer = browser.get(HOME)
        assert answer.status_code == 500
        assert b"Reference:" in answer.content
        assert b"ZeroDivision" not in answer.content

    def test_a_busy_database_is_no_mistake(
        self, client_of: SignIn, maker: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def busy(_health: object) -> None:
            raise OperationalError("database is locked")

        browser = client_of(maker)
        monkeypatch.setattr(home, "line_state", busy)
        answer = browser.get(HOME)
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "5"
        assert b"busy" in answer.content


class TestOddAddresses:
    @pytest.mark.parametrize("address", ["/%00/", "/admin/%00/", "/static/%00", "/accounts/%00/login/"])
    def test_a_nul_in_the_path(self, client_of: SignIn, maker: User, address: str) -> None:
        assert client_of(maker).get(address).status_code in (400, 404)

    @pytest.mark.parametrize("query", ["q=%00", "status__exact=%00", "a%00b=1", "q=%ff%fe", "q=%c0%80"])
    def test_no_text_in_the_query(self, client_of: SignIn, maker: User, query: str) -> None:
        answer = client_of(maker).get(f"{LIST}?{query}")
        assert answer.status_code == 400
        assert b"cannot be read" in answer.content

    @pytest.mark.parametrize(
        "query",
        [
            "p=-1", "p=99999", "p=x", "p=99999999999999999999999",
            "e=1", "o=99", "o=x", "q=" + "a" * 3000, "q='",
            "q=%5C", "q=%25", "q=%2500", "all=1", "state__exact=nope", "created_at__gte=x", "q=%F0%9F%92%B3",
            "_popup=1", "_to_field=id", "_to_field=maker__password", "nope=1", "id__in=" + "1," * 500,
        ],
    )  # fmt: skip
    def test_an_odd_query_breaks_no_list(self, client_of: SignIn, maker: User, query: str) -> None:
        for address in (LIST, "/admin/delivery/attempt/", "/admin/mirror/pull/"):
            answer = client_of(maker).get(f"{address}?{query}")
            assert answer.status_code in (200, 302, 400), (address, query)

    def test_a_long_search_is_cut(self, client_of: SignIn, auditor: User) -> None:
        browser = client_of(auditor)
        for address in ("/admin/audit/entry/", "/admin/approvals/approval/", "/admin/delivery/alert/"):
            assert browser.get(address, {"q": "x" * 10_000}).status_code == 200

    @pytest.mark.parametrize("pk", ["0", "-1", "99999999999999999999", "abc", "1;drop", "é", "_5F"])
    def test_an_id_that_never_was(self, client_of: SignIn, maker: User, pk: str) -> None:
        for model in ("delivery/attempt", "mirror/pull", "mirror/read", "delivery/pause", "delivery/alert"):
            answer = client_of(maker).get(f"/admin/{model}/{pk}/change/")
            assert answer.status_code == 404, model

    @pytest.mark.parametrize("query", ["s=a&page=x", "s=a&page=0", "s=a&page=999", "s=", "s=%25"])
    def test_the_search_for_pages(self, client_of: SignIn, maker: User, query: str) -> None:
        assert client_of(maker).get(f"/admin/search/?{query}").status_code in (200, 404)
