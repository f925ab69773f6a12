"""Never more than the last four digits, wherever anybody looks: pages, tables, answers, reports, logs."""

import io
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client as Browser
from django.test import RequestFactory
from django.urls import NoReverseMatch, reverse
from django.views.debug import ExceptionReporter
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.emulator import Emulator
from backoffice.endl import CardDetails
from backoffice.logs import line_formatter
from cards import budgets, reveal
from cards.admin import reveal_desk
from cards.looks import View
from cards.models import Card, CardReveal, SealedDetails
from tests.cards.desk import url
from tests.cards.looking import ask, told
from tests.cards.looking import reveal as press_reveal

SignIn = Callable[[User], Browser]
ROLES = ("manager", "maker", "checker", "compliance", "auditor", "administrator", "superuser", "outsider")
ROOT = Path(__file__).resolve().parents[2]
# A report names the settings and the session; what is looked for here are the card's own digits.
CANARY = CardDetails(pan="4539578763621486", cvv="974", exp_month=12, exp_year=2031)


@pytest.fixture
def number(card: Card, emulator: Emulator) -> str:
    return str(emulator.world.rows("SELECT number FROM details")[0]["number"])


@pytest.fixture
def desk(manager: User, client_of: SignIn, card: Card) -> Browser:
    return client_of(manager)


@pytest.fixture
def looked_at(desk: Browser, card: Card, manager: User, auditor: User, client_of: SignIn) -> None:
    """Everything that can happen at the page has happened."""
    manager.user_permissions.add(Permission.objects.get(codename="copy_details"))
    token = told(press_reveal(desk, card))["token"]
    for door in ("reveal-cvv", "reveal-longer", "reveal-cvv"):
        ask(desk, card, door, token=token)
    ask(desk, card, "reveal-copied", token=token, field="number")
    ask(desk, card, "reveal-ended", token=token, ending="person")
    press_reveal(desk, card, factor="wrong")
    press_reveal(client_of(auditor), card)


def holds(text: str, number: str) -> bool:
    """Whether a text holds a number, or seven or more digits of it in a row, however it is grouped."""
    digits = re.sub(r"(?<=\d)[ \-\u00a0](?=\d)", "", text)
    return any(
        number[at : at + 7] in digits for at in range(len(number) - 6) if number[at : at + 7] not in _BIN
    )


# The emulator's numbers begin alike, with zeros: that much of them says nothing.
_BIN = {"4000000", "0000000"}


class TestEveryPage:
    @pytest.mark.parametrize("role", ROLES)
    def test_of_every_role_is_masked(
        self, role: str, number: str, looked_at: None, request: pytest.FixtureRequest, client_of: SignIn
    ) -> None:
        browser = client_of(request.getfixturevalue(role))
        opened = 0
        for address in pages():
            answer = browser.get(address, follow=True)
            assert answer.status_code < 500, address
            opened += answer.status_code == 200
            assert not holds(answer.content.decode(errors="replace"), number), address
        assert opened > 3

    def test_the_search_finds_no_number(
        self, number: str, looked_at: None, auditor: User, client_of: SignIn
    ) -> None:
        browser = client_of(auditor)
        for noun in ("card", "cardorder", "cardreveal", "sealeddetails"):
            assert browser.get(url(noun), {"q": number}).context["cl"].result_count == 0
            assert browser.get(url(noun), {"q": number[:12]}).context["cl"].result_count == 0


def pages() -> Iterator[str]:
    """The address of every list and form of the admin, and of the pages of a row of each kind."""
    yield from ("/", reverse("admin:index"))
    for model in admin.site._registry:
        noun = f"{model._meta.app_label}_{model._meta.model_name}"
        rows = [row.pk for row in model._default_manager.all()[:1]]
        for door in ("changelist", "add"):
            yield from filter(None, [_address(f"{noun}_{door}")])
        for door in ("change", "history", "state", "reveal"):
            yield from filter(None, (_address(f"{noun}_{door}", pk) for pk in rows))


def _address(name: str, *args: object) -> str:
    try:
        return reverse(f"admin:{name}", args=args)
    except NoReverseMatch:
        return ""


def test_no_table_holds_the_number(number: str, looked_at: None) -> None:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                assert not holds(_as_text(row), number), table


def _as_text(row: tuple[Any, ...]) -> str:
    texts = (
        bytes(each).decode("latin-1") if isinstance(each, memoryview | bytes) else str(each) for each in row
    )
    return " | ".join(texts)


def test_no_template_names_a_number_or_a_code() -> None:
    telling = re.compile(r"\b(pan|cvv|cvc|opened|card_number)\b(?!-)")
    for path in (ROOT / "templates").rglob("*.html"):
        for expression in re.findall(r"\{\{(.*?)\}\}|\{%(.*?)%\}", path.read_text(), re.DOTALL):
            assert not telling.search("".join(expression)), f"{path.name}: {expression}"


def test_the_page_is_the_same_whether_or_not_the_card_was_seen(
    desk: Browser, card: Card, number: str
) -> None:
    press_reveal(desk, card)
    assert not holds(desk.get(url("card", "reveal", card.pk)).content.decode(), number)


class TestTypes:
    @pytest.mark.parametrize("print_", [repr, str, "{}".format, "{0!r:>30}".format, "%s".__mod__, ascii])
    def test_print_blank(self, print_: Callable[[object], str], details: SealedDetails) -> None:
        assert CANARY.pan[:6] not in print_(CANARY)
        assert "CardDetails()" in print_(CANARY)
        assert details.envelope is not None
        assert bytes(details.envelope).hex()[:8] not in print_(details)

    def test_a_look_prints_without_its_token(self, details: SealedDetails) -> None:
        assert "secret-token" not in repr(View(CardReveal(details=details), "secret-token"))

    def test_are_neither_pickled_nor_written_as_json(self) -> None:
        with pytest.raises(TypeError):
            json.dumps(CANARY)


class TestAnExceptionWhileACardIsOpen:
    """C100: whatever breaks between opening and answering, nothing of the card is in any report of it."""

    @pytest.fixture(autouse=True)
    def canary(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reveal, "open_envelope", lambda *_args, **_more: CANARY)
        monkeypatch.setattr(reveal, "fits", lambda *_args: True)

    @pytest.fixture
    def raw(self, desk: Browser) -> Browser:
        """A browser that gets the page of a mistake, rather than the mistake."""
        desk.raise_request_exception = False
        return desk

    @pytest.fixture(autouse=True)
    def lines(self) -> Iterator[io.StringIO]:
        """Every line of every logger, as it would be written."""
        root, written = logging.getLogger(), io.StringIO()
        handler, before = logging.StreamHandler(written), root.level
        handler.setFormatter(line_formatter(debug=False, secrets=()))
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        yield written
        root.removeHandler(handler)
        root.setLevel(before)

    @pytest.mark.parametrize("debug", [False, True])
    def test_after_the_envelope_was_opened(
        self, raw: Browser, card: Card, monkeypatch: pytest.MonkeyPatch, settings: Settings,
        lines: io.StringIO, *, debug: bool,
    ) -> None:  # fmt: skip
        settings.DEBUG = debug
        monkeypatch.setattr(reveal_desk, "JsonResponse", _broken)
        answer = raw.post(
            url("card", "reveal", card.pk),
            {"kind": "payment", "reason": "Invoice 4711", "factor": "practice"},
            headers={"X-Office-Reveal": "1"},
        )
        assert answer.status_code == 500
        body = answer.content.decode()
        assert ("Traceback" in body) is debug
        for text in (body, lines.getvalue()):
            assert not holds(text, CANARY.pan)
            assert not re.search(rf"cvv\W+{CANARY.cvv}", text)
            assert "Invoice 4711" not in text
        assert "RuntimeError" in lines.getvalue()
        assert CardReveal.objects.filter(purpose="reveal", result="done").count() == 1

    def test_in_a_report_for_a_mail(self) -> None:
        request = RequestFactory().post("/x/", {"factor": "123456", "reason": "Invoice 4711"})
        try:
            _broken({"pan": CANARY.pan, "cvv": CANARY.cvv})
        except RuntimeError:
            kind, value, trace = sys.exc_info()
            report = ExceptionReporter(request, kind, value, trace, is_email=True)
        for text in (report.get_traceback_text(), report.get_traceback_html()):
            assert CANARY.pan not in text
            assert "123456" not in text
            assert "Invoice 4711" not in text

    def test_whose_own_words_hold_the_number(
        self, raw: Browser, card: Card, monkeypatch: pytest.MonkeyPatch, settings: Settings,
        lines: io.StringIO,
    ) -> None:  # fmt: skip
        def telling(*_args: object, **_more: object) -> None:
            raise ValueError(f"cannot read {CANARY.pan} with {CANARY.cvv}")

        settings.DEBUG = True
        monkeypatch.setattr(reveal, "open_envelope", telling)
        answer = press_reveal(raw, card)
        assert answer.status_code == 409
        assert told(answer)["message"] == str(reveal.CannotOpen())
        assert "do not open: ValueError" in lines.getvalue()
        assert not holds(lines.getvalue(), CANARY.pan)
        assert CardReveal.objects.get(purpose="reveal").result == "failed"

    def test_before_the_row_of_the_look_is_kept_nothing_is_opened(
        self, raw: Browser, card: Card, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[object] = []
        monkeypatch.setattr(reveal, "open_envelope", lambda *args, **_more: opened.append(args))
        monkeypatch.setattr(budgets, "spend", _broken)
        assert press_reveal(raw, card).status_code == 500
        assert opened == []


def _broken(*given: object, **_more: object) -> Any:
    held = given  # in this frame, as it would be in a frame of a library
    raise RuntimeError(f"broke with {len(held)} in hand")
