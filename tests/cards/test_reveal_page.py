"""The page that reveals a card: what it asks, what it answers, and what it keeps to itself."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.contrib.auth.models import Permission
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.emulator import Emulator
from cards.models import Card, CardReveal, SealedDetails
from tests.cards.desk import a_business, an_approved_cardholder, cards_of, texts_of, url
from tests.cards.looking import WHY, ask, reveal, told

SignIn = Callable[[User], Browser]
DOORS = ("reveal", "reveal-cvv", "reveal-longer", "reveal-copied", "reveal-ended")


@pytest.fixture
def desk(manager: User, client_of: SignIn, card: Card) -> Browser:
    return client_of(manager)


@pytest.fixture
def secret(card: Card, emulator: Emulator) -> dict[str, Any]:
    """What Endl sealed: number and cvv among it."""
    told_once: dict[str, Any] = json.loads(emulator.world.rows("SELECT doc FROM details")[0]["doc"])
    return told_once


def the_look() -> CardReveal:
    return CardReveal.objects.get(purpose="reveal")


class TestThePage:
    def test_stands_alone_behind_its_own_policy(self, desk: Browser, card: Card) -> None:
        answer = desk.get(url("card", "reveal", card.pk))
        directives = set(answer.headers["Content-Security-Policy"].split("; "))
        assert directives == {
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
            "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
            "require-trusted-types-for 'script'",
        }  # fmt: skip
        assert "unfold" not in answer.content.decode()

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_nothing_of_it_stays_anywhere(self, method: str, desk: Browser, card: Card) -> None:
        answer = desk.get(url("card", "reveal", card.pk)) if method == "get" else reveal(desk, card)
        assert answer.status_code == 200
        assert "no-store" in answer.headers["Cache-Control"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "display-capture=()" in answer.headers["Permissions-Policy"]
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "ETag" not in answer.headers

    def test_the_answer_is_not_compressed(self, desk: Browser, card: Card) -> None:
        desk.defaults["HTTP_ACCEPT_ENCODING"] = "gzip"
        assert reveal(desk, card).headers["Content-Encoding"] == "identity"

    def test_a_get_opens_nothing_and_no_door_but_the_first_has_a_page(
        self, desk: Browser, card: Card
    ) -> None:
        page = texts_of(desk, url("card", "reveal", card.pk))
        assert "3</strong> of 3 looks" in page
        assert "JavaScript is off" in page
        assert [desk.get(url("card", door, card.pk)).status_code for door in DOORS[1:]] == [405] * 4
        assert desk.put(url("card", "reveal", card.pk)).status_code == 405
        assert desk.delete(url("card", "reveal", card.pk)).status_code == 405
        assert not CardReveal.objects.exists()

    def test_a_plain_form_gets_no_number_on_the_screen(self, desk: Browser, card: Card) -> None:
        answer = desk.post(url("card", "reveal", card.pk), WHY)
        assert answer.status_code == 400
        assert not CardReveal.objects.exists()

    def test_no_token_no_answer(self, desk: Browser, card: Card) -> None:
        desk.handler.enforce_csrf_checks = True
        assert reveal(desk, card).status_code == 403
        assert not CardReveal.objects.exists()

    def test_who_is_signed_out_is_led_to_the_door(self, card: Card) -> None:
        assert reveal(Browser(), card).status_code == 302
        assert not CardReveal.objects.exists()

    def test_the_button_leads_there_and_says_why_it_does_not(self, desk: Browser, card: Card) -> None:
        address = url("card", "reveal", card.pk)
        assert f'href="{address}"' in texts_of(desk, url("card", "change", card.pk))
        SealedDetails.objects.update(envelope=None, destroyed_at=timezone.now(), destroyed_because="by hand")
        for page in (url("card", "change", card.pk), address):
            assert "The details were destroyed on" in texts_of(desk, page)
        assert f'href="{address}"' not in texts_of(desk, url("card", "change", card.pk))

    def test_of_a_card_that_was_not_ordered_here_there_is_nothing(self, desk: Browser, manager: User) -> None:
        other = cards_of(an_approved_cardholder(a_business(manager)), 1)[0]
        assert "never reached this office" in texts_of(desk, url("card", "reveal", other.pk))
        assert reveal(desk, other).status_code == 400


class TestTheForm:
    @pytest.mark.parametrize(
        ("changed", "field"),
        [
            ({"kind": ""}, "kind"),
            ({"kind": "curiosity"}, "kind"),
            ({"reason": ""}, "reason"),
            ({"reason": "  .  "}, "reason"),
            ({"reason": "a b c d"}, "reason"),
            ({"reason": "\u200b\u2060\u200b\u2060\u200b\u2060"}, "reason"),
            ({"reason": "pay \u202eevil"}, "reason"),
            ({"reason": "x" * 201}, "reason"),
            ({"reason": "for 4111 1111 1111 1111"}, "reason"),
            ({"factor": ""}, "factor"),
            ({"factor": "wrong"}, "factor"),
        ],
    )
    def test_what_is_wrong_is_said_at_its_field(
        self, desk: Browser, card: Card, changed: dict[str, str], field: str
    ) -> None:
        answer = reveal(desk, card, **changed)
        assert answer.status_code == 400
        assert list(told(answer)["errors"]) == [field]
        assert not CardReveal.objects.exclude(result="refused").exists()

    def test_the_factor_is_asked_for_however_fresh_the_session_is(self, desk: Browser, card: Card) -> None:
        reveal(desk, card)
        assert list(told(reveal(desk, card, factor=""))["errors"]) == ["factor"]

    def test_a_wrong_factor_is_a_refused_try(self, desk: Browser, card: Card, manager: User) -> None:
        reveal(desk, card, factor="wrong")
        look = CardReveal.objects.get()
        assert (look.result, look.by, look.reason) == ("refused", manager, WHY["reason"])
        assert look.refused_because == "That is not your password."
        assert Entry.objects.filter(verb="card.open", result="refused").exists()

    def test_the_factor_is_kept_nowhere(self, desk: Browser, card: Card) -> None:
        reveal(desk, card, factor="a wrong but telling one")
        assert "telling" not in str([*CardReveal.objects.values(), *Entry.objects.values()])


class TestInProduction:
    @pytest.fixture
    def app(self, manager: User) -> Authenticator:
        return TOTP.activate(manager, "JBSWY3DPEHPK3PXP").instance

    @pytest.fixture(autouse=True)
    def production(self, settings: Settings) -> None:
        settings.PRACTICE = False

    @pytest.fixture
    def code(self, app: Authenticator) -> str:
        counter = next(iter(yield_hotp_counters_from_time()))
        return str(format_hotp_value(hotp_value("JBSWY3DPEHPK3PXP", counter)))

    @pytest.fixture
    def seat(self, manager: User, card: Card, app: Authenticator) -> Browser:
        browser = Browser()
        browser.force_login(manager)
        return browser

    def test_a_code_works_once(self, seat: Browser, card: Card, code: str) -> None:
        assert reveal(seat, card, factor=code).status_code == 200
        again = reveal(seat, card, factor=code)
        assert again.status_code == 400
        assert "used before" in told(again)["errors"]["factor"][0]

    def test_a_code_is_not_spent_while_the_reason_is_wrong(
        self, seat: Browser, card: Card, code: str
    ) -> None:
        assert reveal(seat, card, reason="", factor=code).status_code == 400
        assert reveal(seat, card, factor=code).status_code == 200

    def test_the_password_does_not_count(self, seat: Browser, card: Card) -> None:
        assert list(told(reveal(seat, card))["errors"]) == ["factor"]

    def test_a_recovery_code_does(self, seat: Browser, card: Card, manager: User) -> None:
        codes = RecoveryCodes.activate(manager).get_unused_codes()
        assert reveal(seat, card, factor=codes[0]).status_code == 200


class TestALook:
    @pytest.fixture
    def people(self, manager: User, another: Any) -> dict[str, User]:
        return {"manager": manager, "other": another("manager2", "manager")}

    def test_shows_number_and_expiry_and_not_the_code(
        self, desk: Browser, card: Card, secret: dict[str, Any], manager: User
    ) -> None:
        said = told(reveal(desk, card))
        assert said["pan"] == secret["number"]
        assert (said["exp_month"], said["exp_year"]) == (card.exp_month, card.exp_year)
        assert "cvv" not in said
        assert (said["has_cvv"], said["seconds"], said["left"]) == (True, 30, 2)
        look = the_look()
        assert (look.by, look.kind, look.reason, look.result) == (manager, "payment", WHY["reason"], "done")
        assert look.address == "127.0.0.1"
        assert len(look.session) == 16
        assert said["token"] not in str(list(CardReveal.objects.values()))

    def test_shows_the_code_once_and_on_record(
        self, desk: Browser, card: Card, secret: dict[str, Any]
    ) -> None:
        token = told(reveal(desk, card))["token"]
        assert told(ask(desk, card, "reveal-cvv", token=token)) == {"cvv": secret["cvv"]}
        again = ask(desk, card, "reveal-cvv", token=token)
        assert (again.status_code, "cvv" in told(again)) == (409, False)
        assert the_look().cvv_shown_at is not None
        assert [e.result for e in Entry.objects.filter(verb="card.reveal_cvv").order_by("pk")] == [
            "done", "refused",
        ]  # fmt: skip

    @pytest.mark.parametrize("door", ["reveal-cvv", "reveal-longer", "reveal-copied"])
    @pytest.mark.parametrize("what", ["hidden", "time", "token", "other session", "other person", "none"])
    def test_gives_nothing_more_to_anybody_else_or_afterwards(
        self, desk: Browser, card: Card, people: dict[str, User], client_of: SignIn, settings: Settings, *,
        door: str, what: str,
    ) -> None:  # fmt: skip
        for person in people.values():
            person.user_permissions.add(Permission.objects.get(codename="copy_details"))
        settings.REVEAL_SECONDS = 0 if what == "time" else 30
        token = told(reveal(desk, card))["token"]
        browser = desk
        match what:
            case "hidden":
                ask(desk, card, "reveal-ended", token=token, ending="person")
            case "token":
                token = token[:-1]
            case "none":
                token = ""
            case "other session":
                browser = client_of(people["manager"])
            case "other person":
                browser = client_of(people["other"])
        answer = ask(browser, card, door, token=token, field="number")
        assert (answer.status_code, told(answer)["message"].split(".")[0]) == (409, "This look is over")
        look = the_look()
        assert (look.cvv_shown_at, look.extended_at, look.copied) == (None, None, "")

    def test_is_made_longer_once(self, desk: Browser, card: Card) -> None:
        token = told(reveal(desk, card))["token"]
        before = the_look().visible_until
        assert told(ask(desk, card, "reveal-longer", token=token)) == {"seconds": 30}
        assert before is not None
        assert the_look().visible_until == before + timedelta(seconds=30)
        assert ask(desk, card, "reveal-longer", token=token).status_code == 409
        assert Entry.objects.filter(verb="card.reveal_longer", result="done").count() == 1

    def test_keeps_when_and_how_it_ended_and_only_the_first_word(self, desk: Browser, card: Card) -> None:
        token = told(reveal(desk, card))["token"]
        for ending in ("person", "left"):
            assert ask(desk, card, "reveal-ended", token=token, ending=ending).status_code == 200
        look = the_look()
        assert (look.ending, look.seconds_shown) == ("person", 0)
        assert look.hidden_at is not None

    def test_whose_end_nobody_told_counts_as_the_time_it_had(self, desk: Browser, card: Card) -> None:
        reveal(desk, card)
        assert the_look().seconds_shown == 30
        assert "30 s at most" in texts_of(desk, url("card", "change", card.pk))


class TestCopying:
    @pytest.fixture
    def copier(self, desk: Browser, manager: User) -> Browser:
        manager.user_permissions.add(Permission.objects.get(codename="copy_details"))
        return desk

    def test_is_in_no_default_role(self) -> None:
        from backoffice.access.roles import ROLES

        assert not any("cards.copy_details" in allowed for allowed in ROLES.values())

    def test_may_be_given_to_a_role_by_a_setting(self, db: None, settings: Settings) -> None:
        from backoffice.access.roles import keep_roles

        settings.CARD_COPY_ROLES = ["manager"]
        keep_roles()
        assert Permission.objects.get(codename="copy_details").group_set.get().name == "manager"

    def test_without_the_permission_there_is_no_button_and_no_leave(self, desk: Browser, card: Card) -> None:
        assert "data-may-copy" not in texts_of(desk, url("card", "reveal", card.pk))
        token = told(reveal(desk, card))["token"]
        assert ask(desk, card, "reveal-copied", token=token, field="number").status_code == 403
        assert the_look().copied == ""

    def test_each_copy_is_on_record(self, copier: Browser, card: Card) -> None:
        assert "data-may-copy" in texts_of(copier, url("card", "reveal", card.pk))
        token = told(reveal(copier, card))["token"]
        for field in ("number", "expiry", "number"):
            assert ask(copier, card, "reveal-copied", token=token, field=field).status_code == 200
        assert the_look().copied_fields == ["number", "expiry", "number"]
        assert Entry.objects.filter(verb="card.copy", result="done").count() == 3
        assert "copied number, expiry" in texts_of(copier, url("card", "change", card.pk))

    @pytest.mark.parametrize("field", ["cvv", "pan", ""])
    def test_what_is_not_shown_cannot_be_copied(self, copier: Browser, card: Card, field: str) -> None:
        token = told(reveal(copier, card))["token"]
        assert ask(copier, card, "reveal-copied", token=token, field=field).status_code == 409


class TestWhoMayNot:
    @pytest.mark.parametrize("who", ["compliance", "auditor", "checker"])
    def test_sees_no_button_and_the_try_is_in_the_ledger(
        self, who: str, card: Card, request: pytest.FixtureRequest, client_of: SignIn
    ) -> None:
        browser = client_of(request.getfixturevalue(who))
        assert "/reveal/" not in texts_of(browser, url("card", "change", card.pk))
        assert "Your roles do not let you" in texts_of(browser, url("card", "reveal", card.pk))
        assert reveal(browser, card).status_code == 403
        look = CardReveal.objects.get()
        assert (look.result, look.by.username) == ("refused", who)

    @pytest.mark.parametrize("who", ["outsider", "maker", "administrator", "superuser"])
    def test_does_not_find_the_card(
        self, who: str, card: Card, request: pytest.FixtureRequest, client_of: SignIn
    ) -> None:
        browser = client_of(request.getfixturevalue(who))
        for door in DOORS:
            assert ask(browser, card, door, **WHY).status_code in (403, 404)
        assert not CardReveal.objects.exists()

    def test_who_was_switched_off_meanwhile(self, desk: Browser, card: Card, manager: User) -> None:
        token = told(reveal(desk, card))["token"]
        manager.groups.clear()
        assert ask(desk, card, "reveal-cvv", token=token).status_code in (403, 404)
        assert reveal(desk, card).status_code in (403, 404)


class TestWhatStandsInTheWay:
    def test_a_missing_key_uses_no_look(
        self, desk: Browser, card: Card, settings: Settings, tmp_path: Any
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = [tmp_path / "gone.pem"]
        answer = reveal(desk, card)
        assert answer.status_code == 409
        assert "The private key could not be read" in told(answer)["message"]
        assert not CardReveal.objects.exists()

    def test_without_a_configured_key_the_page_says_so(
        self, desk: Browser, card: Card, settings: Settings
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = []
        assert "private key could not be read" in texts_of(desk, url("card", "reveal", card.pk))

    def test_destroyed_details_answer_gone(self, desk: Browser, card: Card) -> None:
        SealedDetails.objects.update(envelope=None, destroyed_at=timezone.now(), destroyed_because="by hand")
        answer = reveal(desk, card)
        assert answer.status_code == 410
        assert "destroyed" in told(answer)["message"]
        assert CardReveal.objects.get().result == "refused"

    def test_an_envelope_that_does_not_open_says_the_one_sentence(
        self, desk: Browser, card: Card, settings: Settings
    ) -> None:
        settings.STORAGE_KEYS = [b"x" * 32]
        answer = reveal(desk, card)
        assert answer.status_code == 409
        assert told(answer)["message"].startswith("The card details could not be opened.")
        assert the_look().result == "failed"
