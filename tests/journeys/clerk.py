"""A clerk who works through the office's pages without a browser: reads forms, fills them in, posts them."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import requests

from tests.people import PASSWORD

SECONDS = 30
_LINE_ENDS = re.compile(r"\s+")


@dataclass
class Form:
    """A form as it stands on a page: where it posts to, what is in it, its buttons by their words."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)


class Page(HTMLParser):
    """What a clerk reads of a page: its forms, its states, its text."""

    def __init__(self, answer: requests.Response) -> None:
        super().__init__()
        self.url, self.status = answer.url, answer.status_code
        self.forms: list[Form] = []
        self.states: list[str] = []
        self.links: dict[str, str] = {}
        self._text: list[str] = []
        # What is being read: the name of a select or text area, an option's value, a button, a link.
        self._field = self._option = self._link = ""
        self._button: tuple[str, str] | None = None
        self.feed(answer.text)

    @property
    def text(self) -> str:
        return _LINE_ENDS.sub(" ", " ".join(self._text))

    @property
    def state(self) -> str:
        """The state of the request that the page is about."""
        return self.states[0] if self.states else ""

    def form_with(self, button: str) -> Form:
        """The form that this button belongs to. Raises LookupError when there is none."""
        for form in self.forms:
            if button in form.buttons:
                return form
        raise LookupError(f"no button {button!r} on {self.url} ({self.status}): {self.text[-1500:]}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "data-state" in given:
            self.states.append(given["data-state"])
        match tag:
            case "form":
                self.forms.append(Form(urljoin(self.url, given.get("action") or self.url)))
            case "a":
                self._link = urljoin(self.url, given.get("href", ""))
            case "input" if self.forms and given.get("type") not in ("checkbox", "radio", "submit"):
                self.forms[-1].fields[given.get("name", "")] = given.get("value", "")
            case "select" | "textarea" if self.forms:
                self._field = given.get("name", "")
                self.forms[-1].fields[self._field] = ""
                self.forms[-1].options[self._field] = {}
            case "option" if self.forms and self._field:
                self._option = given.get("value", "")
                if "selected" in given:
                    self.forms[-1].fields[self._field] = self._option
            case "button" if (
                self.forms and given.get("type", "submit") == "submit" and "disabled" not in given
            ):
                self._button = (given.get("name", ""), given.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self._field = ""
        elif tag == "a":
            self._link = ""
        elif tag == "button":
            self._button = None

    def handle_data(self, data: str) -> None:
        words = _LINE_ENDS.sub(" ", data).strip()
        if not words:
            return
        self._text.append(words)
        if self._button is not None:
            self.forms[-1].buttons[words] = self._button
        elif self._link:
            self.links.setdefault(words, self._link)
        elif self._field and self._option:
            self.forms[-1].options[self._field][words] = self._option


class Clerk:
    """Somebody who is signed in."""

    def __init__(self, office_url: str, name: str) -> None:
        self.url = office_url
        self.session = requests.Session()
        # No proxy and no password file of the machine's has a say here.
        self.session.trust_env = False
        self.press(self.look("/"), "Sign in", login=name, password=PASSWORD)

    def look(self, address: str) -> Page:
        """Open a page, by its path or whole address."""
        return Page(self.session.get(urljoin(self.url, address), timeout=SECONDS))

    def press(self, page: Page, button: str, **typed: Any) -> Page:
        """Fill in the form that holds a button, and press it."""
        form = page.form_with(button)
        name, value = form.buttons[button]
        # A sign-in of some minutes ago is not fresh enough for money: the form asks for the password again.
        proof = {"factor": PASSWORD} if "factor" in form.fields else {}
        data = {**form.fields, **proof, **typed, **({name: value} if name else {})}
        referer = {"Referer": page.url}
        return Page(self.session.post(form.action, data=data, headers=referer, timeout=SECONDS))

    def ask_for(self, noun: str, button: str, **typed: Any) -> Page:
        """Open the form that makes something, such as "funding/wallet", and post it."""
        return self.press(self.look(f"/admin/{noun}/add/"), button, **typed)


@dataclass(frozen=True)
class Staff:
    """Everybody who takes part in the main job, each signed in."""

    manager: Clerk
    compliance: Clerk
    maker: Clerk
    checker: Clerk
