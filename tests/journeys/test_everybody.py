"""Pages that everybody can use: names for who cannot see them, and no sideways scrolling on a phone."""

from collections.abc import Callable
from typing import Any

import pytest

from cards.models import Cardholder
from funding.models import Wallet
from tests import wishes
from tests.journeys.desk import Desk

pytestmark = pytest.mark.browser
SitDown = Callable[..., Desk]
# Home, a list, an object and forms, for those who work with them.
PAGES = {
    "maker": [
        "/admin/",
        "/admin/funding/depositrequest/",
        "/admin/funding/depositrequest/add/",
        "/admin/funding/withdrawal/",
        "/admin/funding/withdrawal/add/",
        "/admin/funding/wallet/",
        "/admin/funding/wallet/add/",
        "/admin/delivery/line/",
    ],
    "checker": ["/admin/", "/admin/approvals/approval/"],
    "manager": [
        "/admin/",
        "/admin/cards/customer/",
        "/admin/cards/customer/add/",
        "/admin/cards/cardholder/",
        "/admin/cards/cardholderrequest/add/",
        "/admin/cards/cardorder/",
        "/admin/cards/cardorder/add/",
        "/admin/cards/card/",
    ],
    "compliance": ["/admin/", "/admin/audit/entry/"],
}
# What a screen reader would stumble over, as sentences.
STUMBLES = """() => {
  const said = [];
  const seen = (node) => node.checkVisibility({ visibilityProperty: true });
  const labelled = (node) => node.getAttribute("aria-label") || node.getAttribute("title")
    || (node.getAttribute("aria-labelledby") || "").split(" ")
      .some((id) => document.getElementById(id)?.textContent.trim());
  const where = (node) => node.outerHTML.slice(0, 120);
  if (!document.documentElement.lang) said.push("the page has no language");
  if (!document.title.trim()) said.push("the page has no title");
  const titles = [...document.querySelectorAll("h1")].filter(seen);
  if (titles.length !== 1) said.push(`the page has ${titles.length} h1`);
  const mains = [...document.querySelectorAll("main, [role=main]")].filter(seen);
  if (mains.length !== 1) said.push(`the page has ${mains.length} main parts`);
  for (const node of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (seen(node) && !labelled(node) && ![...node.labels].some((label) => label.textContent.trim()))
      said.push(`no label: ${where(node)}`);
  for (const node of document.querySelectorAll("img"))
    if (!node.hasAttribute("alt")) said.push(`no alt: ${where(node)}`);
  for (const node of document.querySelectorAll("button, a[href], [role=button]"))
    if (seen(node) && !labelled(node) && !node.textContent.trim() && !node.querySelector("img[alt]"))
      said.push(`no name: ${where(node)}`);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((each, at) => ids.indexOf(each) !== at))) said.push(`id twice: ${id}`);
  return said;
}"""
TOO_WIDE = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return "";
  const wide = [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > room + 1)
    .map((node) => node.outerHTML.slice(0, 100));
  return `${document.documentElement.scrollWidth} px: ` + wide.slice(0, 3).join(" | ");
}"""


@pytest.fixture
def pages(wallet: Wallet, cardholder: Cardholder, person: Callable[[str], Any]) -> dict[str, list[str]]:
    """The pages, with objects on them."""
    now = wallet.added_at
    wish = wishes.a_deposit(wallet, by=person("maker"), now=now)
    order = wishes.an_order(cardholder, by=person("manager"), now=now, cents=2_000_00)
    deposit, one_order = (
        f"/admin/funding/depositrequest/{wish.pk}/change/",
        f"/admin/cards/cardorder/{order.pk}/change/",
    )
    holder = f"/admin/cards/cardholder/{cardholder.pk}/change/"
    return {
        "maker": [*PAGES["maker"], deposit, f"/admin/funding/wallet/{wallet.pk}/change/"],
        "checker": [*PAGES["checker"], deposit, one_order],
        "manager": [*PAGES["manager"], holder, f"/admin/cards/customer/{wallet.customer_id}/change/"],
        "compliance": [*PAGES["compliance"], holder],
    }


@pytest.mark.parametrize("who", PAGES)
def test_nothing_on_a_page_is_without_a_name(
    sit_down: SitDown, pages: dict[str, list[str]], who: str
) -> None:
    desk = sit_down()
    desk.go("/")
    found = {"the sign-in page": desk.page.evaluate(STUMBLES)}
    desk.sign_in(who)
    desk.sees("You work here as")
    for path in pages[who]:
        desk.go(path)
        found[path] = desk.page.evaluate(STUMBLES)
    assert not {path: said for path, said in found.items() if said}


@pytest.mark.parametrize("who", PAGES)
def test_no_page_scrolls_sideways_on_a_phone(
    sit_down: SitDown, pages: dict[str, list[str]], who: str
) -> None:
    desk = sit_down(who, width=390, height=844)
    desk.sees("You work here as")
    found = {}
    for path in pages[who]:
        desk.go(path)
        found[path] = desk.page.evaluate(TOO_WIDE)
        desk.picture(path.strip("/").replace("/", "-"))
    assert not {path: said for path, said in found.items() if said}
