"""A real browser, in which a person reveals a card, copies, goes back and forward, and closes it."""

import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as Late

from tests.conftest import CHROMIUM
from tests.people import PASSWORD


def reveal_in_a_browser(url: str, cards: list[int], profile: Path) -> int:
    """Reveal these cards in Chromium, with its profile and cache in a folder. Returns how many were shown."""
    shown: list[int] = []
    # Playwright runs an event loop in its thread; Django, which shares ours, refuses to work beside one.
    thread = threading.Thread(target=lambda: shown.append(_reveal(url, cards, profile)))
    thread.start()
    thread.join()
    return shown[0] if shown else 0


def _reveal(url: str, cards: list[int], profile: Path) -> int:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"],
            permissions=["clipboard-write"],
        )  # fmt: skip
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.goto(f"{url}/accounts/login/")
        page.fill('[name="login"]', "manager")
        page.fill('[name="password"]', PASSWORD)
        page.click('button[type="submit"]')
        page.wait_for_url("**/admin/**")
        count = sum(_look(page, f"{url}/admin/cards/card/{card}/") for card in cards)
        context.close()
    return count


def _look(page: Page, address: str) -> bool:
    page.goto(address)
    page.goto(f"{address}reveal/")
    page.select_option('[name="kind"]', "payment")
    page.fill('[name="reason"]', "The invoice of today")
    page.fill('[name="factor"]', PASSWORD)
    page.click('#reveal-form button[type="submit"]')
    try:
        page.wait_for_selector("#shown:not([hidden])")
        page.click("#show-cvv")
        page.wait_for_timeout(500)
        page.click("#hide")
    except Late:
        return False
    page.go_back()
    page.go_forward()
    return True
