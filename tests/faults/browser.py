"""People at their browsers, and Endl at our door: plain HTTP to the real web server."""

import base64
import hmac
import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from tests.faults.desk import PASSWORD

SIGN_IN = "/accounts/login/"
HOOK = "/webhooks/endl/"
_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class Said:
    """An answer: status, where it leads, body, and how long it took. Status 0: the connection broke."""

    status: int
    place: str = ""
    body: bytes = field(default=b"", repr=False)
    seconds: float = 0.0


class Line:
    """One kept-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._open: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Said:
        """Ask once; a kept-alive connection that the server has closed meanwhile is opened anew."""
        started = time.monotonic()
        for is_last in (False, True):
            try:
                return self._ask(method, path, body, headers, started)
            except (OSError, http.client.HTTPException):
                was_kept, self._open = self._open is not None, None
                if is_last or not was_kept or method != "POST" or time.monotonic() - started > 0.05:
                    break
        return Said(0, seconds=time.monotonic() - started)

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], started: float
    ) -> Said:
        if self._open is None:
            self._open = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
        self._open.request(method, path, body, headers)
        answer = self._open.getresponse()
        text = answer.read()
        self.cookies = answer.headers.get_all("Set-Cookie") or []
        seconds = time.monotonic() - started
        if answer.will_close:
            self._open.close()
            self._open = None
        return Said(answer.status, answer.headers.get("Location", ""), text, seconds)


class Browser:
    """A person who is signed in. Each thread takes a line of its own; the cookies are shared."""

    def __init__(self, port: int, username: str) -> None:
        self.port, self.username = port, username
        self.jar: dict[str, str] = {}
        self._line = Line(port)
        self._sign_in()

    def get(self, path: str) -> Said:
        said = self._line.ask("GET", path, None, self._headers())
        self._keep_cookies(self._line)
        return said

    def post(self, path: str, fields: dict[str, str], line: Line | None = None) -> Said:
        """Post a form, with the token against forgery."""
        given = {"csrfmiddlewaretoken": self.token, **fields}
        own = line or self._line
        headers = {**self._headers(), "Content-Type": "application/x-www-form-urlencoded"}
        said = own.ask("POST", path, urlencode(given).encode(), headers)
        if line is None:
            self._keep_cookies(own)
        return said

    @property
    def token(self) -> str:
        return self.jar.get("office_csrf", "")

    def _sign_in(self) -> None:
        self.get(SIGN_IN)
        said = self.post(SIGN_IN, {"login": self.username, "password": PASSWORD})
        if said.status != 302:
            raise RuntimeError(f"{self.username} could not sign in: {said.status}")
        self.get("/admin/")

    def _headers(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.jar.items())}

    def _keep_cookies(self, line: Line) -> None:
        for text in getattr(line, "cookies", []):
            for name, morsel in SimpleCookie(text).items():
                self.jar[name] = morsel.value


def sign(key: bytes, event_id: str, raw: bytes, at: float | None = None) -> dict[str, str]:
    """The headers of a delivery as Endl signs it."""
    sent_at = str(int(time.time() if at is None else at))
    mac = hmac.digest(key, f"{event_id}.{sent_at}.".encode() + raw, "sha256")
    return {
        "Content-Type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": sent_at,
        "webhook-signature": "v1," + base64.b64encode(mac).decode(),
    }


def event(event_id: str, kind: str, **data: object) -> bytes:
    """The body of a delivery."""
    return json.dumps(
        {"id": event_id, "type": kind, "createdAt": "2026-11-30T10:00:00Z", "data": data}
    ).encode()


def at_once(deeds: Sequence[Callable[[], Said]]) -> list[Said]:
    """Do all of these at the same moment, each in a thread of its own."""
    said: list[Said] = [Said(0)] * len(deeds)
    barrier = threading.Barrier(len(deeds))

    def run(place: int) -> None:
        barrier.wait(30)
        said[place] = deeds[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(deeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    return said
