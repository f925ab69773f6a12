"""A person at the pages, without a browser: signs in, reads forms, posts them, follows every link."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests

from tests.leaks.holes import HEADER
from tests.people import PASSWORD

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"')
_LINK = re.compile(r'href="([^"#]+)"')
_NUMBERS = re.compile(r"\d+")
SECONDS = 30


class Clerk:
    """One person, signed in. Keeps every page that they saw in a folder, headers included."""

    def __init__(self, name: str, url: str, pages: Path) -> None:
        self.name, self.url, self.pages = name, url, pages
        self.session = requests.Session()
        self.session.trust_env = False
        self.seen = 0
        pages.mkdir(parents=True, exist_ok=True)
        answer = self.post("/accounts/login/", {"login": name, "password": PASSWORD})
        if answer.status_code != 200 or "/accounts/login" in answer.url:
            raise RuntimeError(f"{name} cannot sign in: {answer.status_code} {answer.url}")

    def get(self, address: str) -> requests.Response:
        return self._keep(self.session.get(urljoin(self.url, address), timeout=SECONDS))

    def post(
        self, address: str, given: dict[str, Any], *, page: str = "", hole: str = "", script: bool = False
    ) -> requests.Response:
        """Fill in the form of a page and post it. What its script gets is not kept: it is meant for eyes."""
        form = self.get(page or address)
        token = _TOKEN.search(form.text)
        fields = {**dict(_HIDDEN.findall(form.text)), **given}
        headers = {"Referer": form.url, **({HEADER: hole} if hole else {})}
        if script:
            headers["X-Office-Reveal"] = "1"
        fields["csrfmiddlewaretoken"] = token[1] if token else ""
        answer = self.session.post(urljoin(self.url, address), data=fields, headers=headers, timeout=SECONDS)
        # Of a look that went well, everything but the body.
        return self._keep(answer, body=not (script and answer.ok))

    def crawl(self, most: int) -> int:
        """Open what this person can reach by links: of each kind of page a few. Returns how many."""
        waiting, known, kinds = ["/admin/"], {"/admin/"}, Counter[str]()
        opened = 0
        while waiting and opened < most:
            answer = self.get(waiting.pop(0))
            opened += 1
            for link in self._links(answer):
                kind = _NUMBERS.sub("N", urlsplit(link).path) + ("?" if urlsplit(link).query else "")
                if link not in known and kinds[kind] < 4:
                    known.add(link)
                    kinds[kind] += 1
                    waiting.append(link)
        return opened

    def _links(self, answer: requests.Response) -> Iterator[str]:
        if "html" not in answer.headers.get("Content-Type", ""):
            return
        for found in _LINK.findall(answer.text):
            link = urljoin(answer.url, found.replace("&amp;", "&"))
            parts = urlsplit(link)
            if link.startswith(self.url) and parts.path.startswith("/admin/") and "logout" not in parts.path:
                yield parts.path + (f"?{parts.query}" if parts.query else "")

    def _keep(self, answer: requests.Response, *, body: bool = True) -> requests.Response:
        self.seen += 1
        head = f"{answer.request.method} {answer.url}\n{answer.status_code} {dict(answer.headers)}\n\n"
        kind = "" if "html" in answer.headers.get("Content-Type", "") else "download-"
        content = head.encode() + (answer.content if body else b"")
        (self.pages / f"{kind}{self.name}-{self.seen}").write_bytes(content)
        return answer
