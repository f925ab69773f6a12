"""A person at a desk: a browser, used by the words on it, and watched for what must never happen."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Request, Response, expect

from tests.people import PASSWORD

# A state that a worker, a webhook or a sweep has to bring about, on a machine that is busy.
PATIENCE_MS = 40_000


class Album:
    """The pictures of one journey, numbered as they were taken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def next_path(self, name: str) -> Path:
        self.count += 1
        return self.folder / f"{self.count:02d}-{name}.png"


class Desk:
    """A browser context with one page."""

    def __init__(self, context: BrowserContext, who: str, album: Album) -> None:
        self.context, self.who, self.album = context, who, album
        self.troubles: list[str] = []
        self._allowed = ""
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.troubles.append(f"script: {error.error}"))
        context.on("response", self._look_at)
        context.on("request", self._follow)
        self.page = context.new_page()

    # --- What must not happen -------------------------------------------------------------------------

    def allow(self, words: str) -> None:
        """Say what the browser will complain of because the journey wants it, such as "404"."""
        self._allowed = words

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not (self._allowed and self._allowed in message.text):
            self.troubles.append(f"console: {message.text} ({message.location.get('url')})")

    def _look_at(self, response: Response) -> None:
        if response.status >= 500:
            self.troubles.append(f"{response.status} from {response.url}")

    def _follow(self, request: Request) -> None:
        # Nothing of the office's may ask anybody else for anything.
        if urlsplit(request.url).hostname not in ("127.0.0.1", None):
            self.troubles.append(f"a request to {request.url}")

    # --- What people do -------------------------------------------------------------------------------

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        """Sign in from the front page."""
        self.go("/")
        self.fill("Sign-in name", name)
        self.fill("Password", password)
        self.press("Sign in")

    def go(self, path: str) -> None:
        """Type an address."""
        self.page.goto(path)

    def open(self, *links: str) -> None:
        """Follow links by their words, one after another."""
        for words in links:
            self.page.get_by_role("link", name=words).first.click()

    def follow(self, words: str) -> None:
        """Follow a link that stands in the page itself, not in what surrounds it."""
        self.page.get_by_role("main").get_by_role("link", name=words).first.click()

    def fill(self, label: str, text: str) -> None:
        self.field(label).fill(text)

    def choose(self, label: str, words: str) -> None:
        """Choose the one option that holds these words."""
        option = self.field(label).locator("option", has_text=words)
        self.field(label).select_option(value=option.get_attribute("value"))

    def press(self, button: str) -> None:
        """Press the button that says exactly this, and wait for what it brings."""
        self.page.get_by_role("button", name=button, exact=True).first.click()
        self.page.wait_for_load_state()

    def field(self, label: str) -> Locator:
        """A field by its label. The label may go on, as with "optional"."""
        return self.page.get_by_label(re.compile(rf"^{re.escape(label)}( optional)?$")).first

    def picture(self, name: str) -> None:
        """Take a picture of the whole page."""
        self.page.screenshot(path=self.album.next_path(name), full_page=True)

    # --- What they see --------------------------------------------------------------------------------

    def sees(self, *words: str) -> None:
        """All of these stand on the page, somewhere visible."""
        for each in words:
            expect(self.page.get_by_text(each).filter(visible=True).first).to_be_visible()

    def sees_no(self, *words: str) -> None:
        for each in words:
            expect(self.page.get_by_text(each).filter(visible=True)).to_have_count(0)

    def sees_state(self, state: str) -> None:
        """The request on the page is in this state, or comes to it while the person watches."""
        badge = self.page.locator(f".object-title [data-state={state}]")
        expect(badge).to_be_visible(timeout=PATIENCE_MS)

    def has_button(self, words: str) -> bool:
        """Whether there is such a button, and it can be pressed."""
        found = self.page.get_by_role("button", name=words, exact=True)
        return any(button.is_enabled() for button in found.all())
