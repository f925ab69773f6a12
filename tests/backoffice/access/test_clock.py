"""How long a session and a proved factor last."""

from collections.abc import Callable, Iterator

import pytest
from allauth.core.context import request_context
from django.http import HttpRequest
from django.test import Client as Browser
from django.test import RequestFactory
from pytest_django import Settings

from backoffice.access import factors, sessions, stepup
from backoffice.access.models import User

SignIn = Callable[[User], Browser]


def moved(browser: Browser, name: str, seconds: float) -> None:
    """Let a time that the session remembers lie further back."""
    session = browser.session
    session[name] = session[name] - seconds
    session.save()


def is_in(browser: Browser) -> bool:
    return browser.get("/admin/").status_code == 200


class TestSessions:
    @pytest.fixture
    def browser(self, client_of: SignIn, maker: User) -> Browser:
        signed_in = client_of(maker)
        assert is_in(signed_in)
        return signed_in

    def test_end_after_fifteen_idle_minutes(self, browser: Browser, settings: Settings) -> None:
        assert settings.SESSION_IDLE_SECONDS == 15 * 60
        moved(browser, sessions.LAST_SEEN, settings.SESSION_IDLE_SECONDS + 1)
        assert not is_in(browser)

    def test_go_on_while_somebody_works(self, browser: Browser, settings: Settings) -> None:
        moved(browser, sessions.LAST_SEEN, settings.SESSION_IDLE_SECONDS - 60)
        assert is_in(browser)
        moved(browser, sessions.LAST_SEEN, 120)
        assert is_in(browser)

    def test_polling_keeps_none_alive(self, browser: Browser, settings: Settings) -> None:
        moved(browser, sessions.LAST_SEEN, settings.SESSION_IDLE_SECONDS - 60)
        assert browser.get("/admin/", headers={sessions.POLLING_HEADER: "1"}).status_code == 200
        moved(browser, sessions.LAST_SEEN, 120)
        assert not is_in(browser)

    def test_end_after_twelve_hours_whatever_happens(self, browser: Browser, settings: Settings) -> None:
        assert settings.SESSION_COOKIE_AGE == 12 * 3600
        moved(browser, sessions.STARTED, settings.SESSION_COOKIE_AGE + 1)
        assert not is_in(browser)

    def test_no_page_stays_in_a_cache(self, browser: Browser) -> None:
        for answer in (browser.get("/admin/"), Browser().get("/accounts/login/")):
            assert answer.headers["Cache-Control"] == "no-store, private"
            assert "camera=()" in answer.headers["Permissions-Policy"]


class TestStepUp:
    @pytest.fixture
    def asked(self, client_of: SignIn, maker: User) -> Iterator[HttpRequest]:
        """A request of maker's, who has just signed in."""
        request = RequestFactory().get("/")
        request.session, request.user = client_of(maker).session, maker
        with request_context(request):
            yield request

    def test_is_fresh_after_signing_in(self, asked: HttpRequest) -> None:
        assert factors.is_stepped_up(asked)
        age = factors.factor_age_seconds(asked)
        assert age is not None
        assert age < 60

    def test_runs_out(self, asked: HttpRequest, settings: Settings) -> None:
        settings.STEP_UP_SECONDS = 0
        assert not factors.is_stepped_up(asked)

    def test_a_password_is_no_second_factor_in_production(
        self, asked: HttpRequest, settings: Settings
    ) -> None:
        settings.PRACTICE = False
        assert factors.accepted_factor() == "mfa"
        assert not factors.is_stepped_up(asked)

    def test_asks_for_nothing_while_it_is_fresh(self, asked: HttpRequest) -> None:
        assert "factor" not in stepup.StepUpForm({}, request=asked).fields
        assert "factor" in stepup.StepUpForm({}, request=asked, always=True).fields

    @pytest.mark.parametrize("typed", ["wrong", " practice", "practice ", "", "\x00"])
    def test_a_wrong_password_proves_nothing(self, asked: HttpRequest, typed: str) -> None:
        form = stepup.StepUpForm({"factor": typed}, request=asked, always=True)
        assert not form.is_valid()
        assert form.errors["factor"]

    def test_the_right_one_is_not_kept(self, asked: HttpRequest, settings: Settings) -> None:
        form = stepup.StepUpForm({"factor": "practice"}, request=asked, always=True)
        assert form.is_valid()
        assert form.cleaned_data["factor"] == ""
