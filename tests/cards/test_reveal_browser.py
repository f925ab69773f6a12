"""A card revealed in a real browser: seen for a short time, and then nowhere.

The values stand in a closed shadow tree, which page scripts cannot read. These tests look past it, with the
browser's own tools: every node of every tree, and what a screen reader is told.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import Browser, BrowserContext, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from backoffice.access.models import User
from backoffice.emulator import Emulator
from cards.models import Card, CardReveal
from tests.cards.desk import url
from tests.conftest import CHROMIUM
from tests.people import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCREENSHOTS = Path(__file__).resolve().parents[2] / "var" / "screenshots" / "reveal"


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The system's Chromium, which asks nobody anything by itself."""
    quiet = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
    return {"executable_path": str(CHROMIUM), "args": ["--no-sandbox", "--disable-gpu", *quiet]}


class Look:
    """A manager at the reveal page of one card."""

    def __init__(self, context: BrowserContext, card: Card, secret: dict[str, Any], server: str) -> None:
        self.context, self.card, self.secret, self.server = context, card, secret, server
        self.page = context.new_page()
        self.troubles: list[str] = []
        context.on("console", lambda said: self.troubles.append(said.text) if said.type == "error" else None)
        context.on("weberror", lambda error: self.troubles.append(str(error.error)))
        self.tools = context.new_cdp_session(self.page)

    def sign_in(self) -> None:
        self.page.goto(f"{self.server}/accounts/login/")
        self.page.get_by_label("Sign-in name").fill("manager")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()

    def go(self) -> None:
        self.page.goto(f"{self.server}{url('card', 'reveal', self.card.pk)}")

    def fill(self, factor: str = PASSWORD) -> None:
        self.page.get_by_label("What is it for?").select_option("payment")
        self.page.get_by_label("Say more").fill("Invoice 4711 of the printer")
        self.page.get_by_label("Your password").fill(factor)

    def reveal(self) -> None:
        """Fill in the form, press "Reveal", and see the number."""
        self.go()
        self.fill()
        self.press("Reveal")
        assert self.sees(self.number)

    def press(self, button: str) -> None:
        self.page.get_by_role("button", name=button, exact=True).click()

    @property
    def number(self) -> str:
        """As it is drawn, in groups of four."""
        return re.sub(r"(.{4})(?=.)", r"\1 ", str(self.secret["number"]))

    def sees(self, text: str) -> bool:
        """Whether a text comes to stand in any tree of the document within two seconds."""
        for _try in range(20):
            if text in self.everything():
                return True
            self.page.wait_for_timeout(100)
        return False

    def everything(self) -> str:
        """Every node of the document, closed trees and frames included."""
        return json.dumps(
            self.tools.send("DOM.getDocument", {"depth": -1, "pierce": True}), ensure_ascii=False
        )

    def read_aloud(self) -> str:
        """What a screen reader is told."""
        return json.dumps(self.tools.send("Accessibility.getFullAXTree"), ensure_ascii=False)

    def is_gone(self) -> bool:
        """Whether no part of the number longer than its last four stands anywhere."""
        digits = re.sub(r"\D", "", self.everything() + self.read_aloud())
        return str(self.secret["number"]) not in digits and self.number not in self.everything()


@pytest.fixture
def look(
    live_server: LiveServer, browser: Browser, card: Card, emulator: Emulator, manager: User
) -> Iterator[Look]:
    """The manager, signed in."""
    secret = json.loads(emulator.world.rows("SELECT doc FROM details")[0]["doc"])
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    context.set_default_timeout(10_000)
    made = Look(context, card, secret, live_server.url)
    made.sign_in()
    yield made
    context.close()
    assert not made.troubles, made.troubles


@pytest.fixture
def short(settings: Settings) -> None:
    settings.REVEAL_SECONDS = 4


def picture(look: Look, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    look.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def the_look() -> CardReveal:
    return CardReveal.objects.get(purpose="reveal")


def until_told(ending: str, look: Look) -> None:
    """Wait until the office knows how the look ended."""
    for _try in range(30):
        if the_look().ending == ending:
            return
        look.page.wait_for_timeout(100)
    assert the_look().ending == ending


def test_the_number_is_there_and_then_nowhere(look: Look, short: None) -> None:
    look.go()
    picture(look, "form")
    look.reveal()
    picture(look, "shown")
    assert look.number in look.read_aloud()
    assert look.secret["number"] not in look.page.content()
    look.page.wait_for_timeout(4_000)
    expect(look.page.get_by_text("Time is up")).to_be_visible()
    assert look.is_gone()
    until_told("time", look)


def test_the_code_comes_with_a_second_press_and_goes_with_the_rest(look: Look) -> None:
    look.reveal()
    assert the_look().cvv_shown_at is None
    look.press("Show security code")
    expect(look.page.get_by_text("The security code is shown")).to_be_visible()
    assert f'"{look.secret["cvv"]}"' in look.everything()
    assert the_look().cvv_shown_at is not None
    picture(look, "with-code")
    look.press("Hide now")
    assert f'"{look.secret["cvv"]}"' not in look.everything()
    assert look.is_gone()
    until_told("person", look)


def test_escape_hides_at_once(look: Look) -> None:
    look.reveal()
    look.page.keyboard.press("Escape")
    assert look.is_gone()
    until_told("person", look)


def test_is_hidden_while_another_tab_is_in_front_and_costs_no_second_look(look: Look) -> None:
    look.reveal()
    go_away(look, hidden=True)
    assert look.is_gone()
    assert "Hidden while you are away" in look.everything()
    go_away(look, hidden=False)
    assert look.number in look.everything()
    assert CardReveal.objects.count() == 1


def test_time_goes_on_while_the_tab_is_away(look: Look, short: None) -> None:
    look.reveal()
    go_away(look, hidden=True)
    look.page.wait_for_timeout(4_500)
    go_away(look, hidden=False)
    assert look.is_gone()
    expect(look.page.get_by_text("Time is up")).to_be_visible()


def go_away(look: Look, *, hidden: bool) -> None:
    """Let the page believe that another tab is in front, or that it is in front again."""
    look.page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_there_is_more_time_once(look: Look, short: None) -> None:
    look.reveal()
    look.press("4 seconds more")
    expect(look.page.get_by_role("button", name="4 seconds more")).to_be_hidden()
    look.page.wait_for_timeout(4_000)
    assert look.number in look.everything()
    look.page.wait_for_timeout(4_000)
    assert look.is_gone()
    assert the_look().extended_at is not None


@pytest.mark.parametrize("way", ["reload", "back and forward", "link and back"])
def test_nothing_comes_back(look: Look, way: str) -> None:
    look.page.goto(f"{look.server}{url('card', 'change', look.card.pk)}")
    look.reveal()
    if way == "reload":
        look.page.reload()
    elif way == "back and forward":
        look.page.go_back()
        look.page.go_forward()
    else:
        look.page.goto(f"{look.server}/admin/")
        look.page.go_back()
    expect(look.page.get_by_role("button", name="Reveal", exact=True)).to_be_visible()
    assert look.is_gone()
    assert look.page.get_by_label("Your password").input_value() == ""
    until_told("left", look)


def test_after_signing_out_there_is_no_way_back(look: Look) -> None:
    look.reveal()
    look.page.goto(f"{look.server}/accounts/logout/")
    look.page.get_by_role("button", name="Sign out").click()
    look.page.go_back()
    look.page.go_back()
    assert look.is_gone()
    assert "shown-title" not in look.page.content()


def test_the_keyboard_is_enough(look: Look) -> None:
    look.go()
    for keys in ("Tab", "P", "Tab", "Invoice 4711", "Tab", PASSWORD):
        look.page.keyboard.press(keys) if len(keys) < 4 else look.page.keyboard.type(keys)
    look.page.keyboard.press("Enter")
    assert look.sees(look.number)
    look.page.keyboard.press("Tab")
    look.page.keyboard.press("Enter")
    expect(look.page.get_by_text("The security code is shown")).to_be_visible()
    look.page.keyboard.press("Enter")
    assert look.is_gone()
    until_told("person", look)


def test_what_is_wrong_is_said_beside_the_field_and_the_rest_stays(look: Look) -> None:
    look.go()
    look.fill(factor="not my password")
    look.press("Reveal")
    factor = look.page.get_by_label("Your password")
    expect(look.page.locator("#factor-error")).to_have_text("That is not your password.")
    expect(factor).to_be_focused()
    expect(factor).to_have_attribute("aria-invalid", "true")
    expect(look.page.get_by_label("Say more")).to_have_value("Invoice 4711 of the printer")
    picture(look, "wrong-factor")
    look.troubles.clear()  # the browser itself notes every 400


def test_without_leave_nothing_can_be_selected_or_copied(look: Look) -> None:
    look.reveal()
    assert "Copy card number" not in look.read_aloud()
    look.page.keyboard.press("Control+a")
    assert look.page.evaluate("window.getSelection().toString()").find(look.number) == -1


def test_copying_is_recorded_first(look: Look, manager: User) -> None:
    manager.user_permissions.add(Permission.objects.get(codename="copy_details"))
    look.context.grant_permissions(["clipboard-write"])
    look.reveal()
    press_in_the_card(look, "Copy card number")
    expect(look.page.get_by_text("Copied.")).to_be_visible()
    assert the_look().copied_fields == ["number"]


def press_in_the_card(look: Look, name: str) -> None:
    """Press a button of the closed tree by the keyboard, as everybody can."""
    nodes = look.tools.send("Accessibility.getFullAXTree")["nodes"]
    button = next(node for node in nodes if node.get("name", {}).get("value") == name)
    look.tools.send("DOM.focus", {"backendNodeId": button["backendDOMNodeId"]})
    look.page.keyboard.press("Enter")


def test_print_shows_no_card(look: Look) -> None:
    look.reveal()
    look.page.emulate_media(media="print")
    expect(look.page.locator("#face")).to_be_hidden()


def test_says_what_to_do_without_javascript(
    live_server: LiveServer, browser: Browser, card: Card, manager: User, client_of: Callable[[User], Any]
) -> None:
    session = client_of(manager).cookies["office_session"].value
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{"name": "office_session", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}{url('card', 'reveal', card.pk)}")
    expect(page.get_by_text("JavaScript is off")).to_be_visible()
    expect(page.get_by_role("button", name="Reveal")).to_have_count(0)
    context.close()
