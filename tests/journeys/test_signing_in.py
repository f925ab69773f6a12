"""Coming in, going out, and the doors that are not there."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from funding.models import DepositRequest, Wallet
from tests import wishes
from tests.journeys.desk import Desk

pytestmark = pytest.mark.browser
SitDown = Callable[..., Desk]


def test_a_wrong_password_gets_a_sentence_and_the_right_one_lets_in(sit_down: SitDown) -> None:
    desk = sit_down()
    desk.sign_in("maker", "not the password")
    expect(desk.page.get_by_role("alert")).to_contain_text(
        "That sign-in name and that password do not go together."
    )
    expect(desk.field("Sign-in name")).to_have_value("maker")
    desk.picture("wrong-password")
    desk.fill("Password", "practice")
    desk.press("Sign in")
    desk.sees("You work here as finance maker.")


def test_signing_out_ends_it(sit_down: SitDown) -> None:
    desk = sit_down("maker")
    desk.press("Your account")
    desk.page.get_by_text("Log out").or_(desk.page.get_by_text("Sign out")).first.click()
    desk.page.wait_for_load_state()
    desk.picture("signed-out")
    desk.go("/admin/funding/depositrequest/")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_page_that_is_not_there_says_so(sit_down: SitDown) -> None:
    desk = sit_down("maker")
    desk.allow("404")
    for path in ("/admin/funding/depositrequest/999999/change/", "/nowhere/"):
        desk.go(path)
        desk.open("Home")
        desk.sees("You work here as finance maker.")
        desk.go(path)
    desk.picture("not-found")


def test_a_deposit_is_approved_without_a_mouse(
    sit_down: SitDown, wallet: Wallet, person: Callable[..., object]
) -> None:
    wish = wishes.a_deposit(wallet, by=person("maker"), now=wallet.added_at)  # type: ignore[arg-type]
    desk = sit_down()
    desk.go("/")
    # The cursor stands in the name's field from the start.
    desk.page.keyboard.type("checker")
    desk.page.keyboard.press("Tab")
    desk.page.keyboard.type("practice")
    desk.page.keyboard.press("Enter")
    desk.sees("You work here as finance checker.")
    tab_to(desk, "link", "Deposit requests")
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_url("**/depositrequest/")
    tab_to(desk, "textbox", "Search this list")
    desk.page.keyboard.type(wallet.label)
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_url("**q=**")
    tab_to(desk, "link", "25.00")
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_url("**/change/**")
    tab_to(desk, "button", "Approve")
    desk.picture("approve-has-the-focus")
    desk.page.keyboard.press("Enter")
    desk.sees("is approved; it is sent within seconds.")
    desk.sees_state("completed")
    assert DepositRequest.objects.get(pk=wish.pk).state == "completed"


def tab_to(desk: Desk, role: str, name: str) -> None:
    """Press Tab until the thing has the focus, as seen by a screen reader."""
    wanted = desk.page.get_by_role(role, name=name)  # type: ignore[arg-type]
    for _ in range(120):
        desk.page.keyboard.press("Tab")
        if any(each.evaluate("node => node === document.activeElement") for each in wanted.all()):
            return
    raise AssertionError(f"Tab never comes to the {role} {name!r}")
