"""Signing in, setting up, signing out: plain pages under a strict policy."""

import hashlib
import hmac
import struct
import time
from base64 import b32decode
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client as Browser
from pytest_django import Settings

from backoffice.access import people
from backoffice.access.models import User
from backoffice.audit.models import Entry
from tests.people import as_now

SignIn = Callable[[User], Browser]
TEMPORARY, OWN = "summer rain on tin", "winter snow on slate"


def totp(secret: str) -> str:
    """The six digits of an authenticator app, by RFC 6238."""
    key = b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place : place + 4])[0] & 0x7FFFFFFF) % 10**6:06d}"


@pytest.fixture
def nina(administrator: User, now: datetime) -> User:
    """Somebody who was added a moment ago."""
    return people.add_person(
        username="nina", first_name="Nina", last_name="Berg", email="", password=TEMPORARY,
        by=administrator, now=now,
    )  # fmt: skip


def sign_in(login: str, password: str) -> Browser:
    browser = Browser()
    browser.post("/accounts/login/", {"login": login, "password": password})
    return browser


class TestTheDoor:
    def test_every_way_in_leads_to_one_page(self, db: None) -> None:
        assert Browser().get("/admin/login/").headers["Location"].startswith("/accounts/login/")
        assert Browser().get("/admin/").status_code == 302

    def test_nothing_on_it_is_inline_or_from_elsewhere(self, db: None) -> None:
        answer = Browser().get("/accounts/login/")
        policy = answer.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "script-src 'self'" in policy
        shown = answer.content.decode()
        assert "<style" not in shown
        assert "style=" not in shown
        assert "onclick" not in shown
        assert "//" not in shown.replace("http://www.w3.org", "")

    def test_the_theme_keeps_its_own_policy(self, client_of: SignIn, maker: User) -> None:
        policy = client_of(maker).get("/admin/").headers["Content-Security-Policy"]
        assert "script-src 'self' 'unsafe-eval'" in policy

    def test_practice_names_the_sample_people(self, db: None) -> None:
        shown = Browser().get("/accounts/login/").content.decode()
        assert "administrator2" in shown
        assert "practice" in shown

    def test_production_names_nobody(self, db: None, settings: Settings) -> None:
        settings.PRACTICE = False
        shown = Browser().get("/accounts/login/").content.decode()
        assert "administrator2" not in shown
        assert "Practice mode" not in shown

    def test_there_is_no_sign_up_and_no_reset_by_mail(self, db: None) -> None:
        shown = Browser().get("/accounts/login/").content.decode()
        assert "signup" not in shown
        assert "reset" not in shown.lower()
        assert "Nobody signs up here" in Browser().get("/accounts/signup/").content.decode()
        Browser().post("/accounts/signup/", {"username": "x", "password1": OWN, "password2": OWN})
        assert not User.objects.filter(username="x").exists()
        for gone in ("/accounts/password/reset/", "/accounts/email/", "/accounts/password/set/"):
            assert Browser().get(gone).status_code == 404

    def test_a_wrong_password_gets_a_sentence(self, maker: User) -> None:
        shown = Browser().post("/accounts/login/", {"login": "maker", "password": "no"}).content.decode()
        assert "do not go together" in shown

    @pytest.mark.parametrize("typed", ["a\0b", "x" * 5000, "'", "\\", "%00", "\u202e"])
    def test_odd_names_are_only_wrong(self, db: None, typed: str) -> None:
        answer = Browser().post("/accounts/login/", {"login": typed, "password": typed})
        assert answer.status_code == 200

    @pytest.mark.parametrize("address", ["/admin/logout/", "/accounts/logout/"])
    def test_signing_out_takes_a_post(self, client_of: SignIn, maker: User, address: str) -> None:
        browser = client_of(maker)
        browser.get(address)
        assert browser.get("/admin/").status_code == 200
        assert browser.post(address).headers["Location"] == "/accounts/login/"
        assert browser.get("/admin/").status_code == 302


class TestTheFirstTime:
    def test_a_temporary_password_is_changed_before_anything_else(self, nina: User) -> None:
        browser = sign_in("nina", TEMPORARY)
        assert browser.get("/admin/").headers["Location"] == "/accounts/password/change/"
        given = {"oldpassword": TEMPORARY, "password1": OWN, "password2": OWN}
        assert browser.post("/accounts/password/change/", given).headers["Location"] == "/admin/"
        assert browser.get("/admin/").status_code == 200
        assert not as_now(nina).has_temporary_password
        assert Entry.objects.filter(verb="person.change_password", actor=nina).count() == 1

    @pytest.mark.parametrize("wanted", [TEMPORARY, "short", "password1234"])
    def test_the_new_one_is_new_and_good(self, nina: User, wanted: str) -> None:
        browser = sign_in("nina", TEMPORARY)
        given = {"oldpassword": TEMPORARY, "password1": wanted, "password2": wanted}
        assert browser.post("/accounts/password/change/", given).status_code == 200
        assert as_now(nina).has_temporary_password

    def test_production_goes_on_to_the_second_factor(self, nina: User, settings: Settings) -> None:
        settings.SECOND_FACTOR_REQUIRED = True
        browser = sign_in("nina", TEMPORARY)
        browser.get("/admin/")
        browser.post(
            "/accounts/password/change/", {"oldpassword": TEMPORARY, "password1": OWN, "password2": OWN}
        )
        activate = browser.get("/admin/").headers["Location"]
        assert activate == "/accounts/2fa/totp/activate/"
        page = browser.get(activate, follow=True)
        if "form" in page.context and "password" in page.context["form"].fields:
            browser.post(page.redirect_chain[-1][0], {"password": OWN})
            page = browser.get(activate)
        shown = page.content.decode()
        assert 'src="data:image/svg+xml;base64,' in shown
        assert "is-now" in shown
        secret = page.context["form"].secret
        answer = browser.post(activate, {"code": totp(secret)})
        assert answer.headers["Location"] == "/accounts/2fa/recovery-codes/"
        assert "I have kept them" in browser.get(answer.headers["Location"]).content.decode()
        assert browser.get("/accounts/2fa/recovery-codes/download/").status_code == 200
        assert browser.get("/admin/").status_code == 200

    def test_the_pages_of_the_second_factor_stand(self, client_of: SignIn, maker: User) -> None:
        browser = client_of(maker)
        for address in ("/accounts/2fa/", "/accounts/password/change/", "/accounts/reauthenticate/"):
            answer = browser.get(address)
            assert answer.status_code == 200, address
            assert "unsafe" not in answer.headers["Content-Security-Policy"]

    def test_the_admins_own_password_page_leads_to_ours(self, client_of: SignIn, maker: User) -> None:
        answer = client_of(maker).get("/admin/password_change/")
        assert answer.headers["Location"] == "/accounts/password/change/"
