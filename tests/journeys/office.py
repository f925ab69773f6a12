"""A whole office on real processes: an emulator, a web server and a worker with its clock."""

import base64
import http.client
import json
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backoffice.practice.children import Child
from tests.worker import Worker, database_url

API_KEY = "endl_journeys_key"
START_SECONDS = 90
# The sweep comes every 0.4 of it and a lease ends after 1.4: short, so that nothing in a journey waits long.
CALL_SECONDS = 3


class Office:
    """The processes, on the database and the broker of the running test. They are not started yet."""

    def __init__(
        self, folder: Path, *, web_port: int, endl_port: int, keys: tuple[Path, str], environ: dict[str, str]
    ) -> None:
        self.folder, self.web_port, self.endl_port = folder, web_port, endl_port
        self.private_key, self.public_pem = keys
        self.webhook_secret = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
        self.environ = environ
        self.worker = Worker(folder / "worker.log")
        self.endl = Child("emulator", self._endl_command(), environ, folder / "emulator.log")
        self.web = self._web()

    @property
    def url(self) -> str:
        """Where people find the office."""
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def endl_url(self) -> str:
        """Where the office finds Endl."""
        return f"http://127.0.0.1:{self.endl_port}"

    # --- Processes ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything and wait until all of it answers."""
        self.start_endl()
        self.ask("keys", pem=self.public_pem)
        self.web.start()
        self.start_worker()
        self.wait_for_web()

    def start_endl(self) -> None:
        self.endl.start()
        self._wait("emulator", self.endl, lambda: answers(self.endl_port, "/_control/healthz"))

    def start_worker(self) -> None:
        self.worker.start(beat=True, **self._variables())

    def wait_for_web(self) -> None:
        self._wait("web server", self.web, lambda: answers(self.web_port, "/healthz"))

    def stop(self) -> None:
        """End everything at once: what is under way has nobody to wait for it."""
        self.worker.kill()
        for child in (self.web, self.endl):
            end(child)

    def kill(self, name: str) -> None:
        """kill -9 for one of "worker", "web" and "emulator", and start it again."""
        if name == "worker":
            self.worker.kill()
            self.start_worker()
        elif name == "web":
            end(self.web)
            self.web.start()
            self.wait_for_web()
        else:
            end(self.endl)
            self.start_endl()

    # --- Endl -----------------------------------------------------------------------------------------

    def ask(self, control: str, **given: Any) -> Any:
        """Steer the emulator, or read from it when nothing is given. Raises ValueError."""
        line = http.client.HTTPConnection("127.0.0.1", self.endl_port, timeout=10)
        try:
            headers = {"Content-Type": "application/json"}
            line.request("POST" if given else "GET", f"/_control/{control}", json.dumps(given), headers)
            answer = line.getresponse()
            said = json.loads(answer.read())
        finally:
            line.close()
        if answer.status != 200:
            raise ValueError(f"the emulator does not take {control}: {said}")
        return said

    def settings(self, **switches: Any) -> None:
        """Turn the emulator's switches."""
        if switches:
            self.ask("settings", **switches)

    def fault(self, **fault: Any) -> None:
        """Let something go wrong."""
        self.ask("faults", **fault)

    def seed(self, **kinds: list[dict[str, Any]]) -> None:
        """Put things into the emulator's world."""
        self.ask("seed", **kinds)

    def effects(self, operation: str, customer: str) -> list[dict[str, Any]]:
        """What really happened at Endl for a customer."""
        return [
            each
            for each in self.ask("ledger")
            if each["operation"] == operation and each["customer"] == customer
        ]

    def usual_endl(self, **switches: Any) -> None:
        """An Endl as it is when nobody changed it, with some switches turned."""
        self.ask("reset", keep_keys=True)
        self.settings(**{**self._usual_switches(), **switches})

    def _usual_switches(self) -> dict[str, Any]:
        return {
            "api_key": API_KEY,
            "settle_seconds": 1.0,
            "webhook_url": f"{self.url}/webhooks/endl/",
            "webhook_secret": self.webhook_secret,
            "webhook_retry_seconds": [1, 1, 2, 3, 5],
        }

    # --- Commands -------------------------------------------------------------------------------------

    def _variables(self) -> dict[str, str]:
        return {
            "DJANGO_SETTINGS_MODULE": "backoffice.settings",
            "DATABASE_URL": database_url(),
            "ENDL_BASE_URL": self.endl_url,
            "ENDL_API_KEY": API_KEY,
            "ENDL_WEBHOOK_SECRETS": self.webhook_secret,
            "ENDL_CALL_SECONDS": str(CALL_SECONDS),
            "FOLLOW_SECONDS": "2",
            "SYNC_SECONDS": "3600",
            "PORT": str(self.web_port),
            "WEB_PROCESSES": "1",
            "WEB_THREADS": "6",
        }

    def _web(self) -> Child:
        command = [
            sys.executable, "-m", "gunicorn", "--config", "python:backoffice.gunicorn", "backoffice.wsgi",
        ]  # fmt: skip
        environ = {
            **self.environ, **self._variables(), "ENDL_PRIVATE_KEY_FILES": str(self.private_key),
        }  # fmt: skip
        return Child("web server", command, environ, self.folder / "web.log")

    def _endl_command(self) -> list[str]:
        world = str(self.folder / "world.sqlite3")
        return [
            sys.executable, "-m", "backoffice.emulator", "--port", str(self.endl_port), "--world", world,
            "--api-key", API_KEY,
        ]  # fmt: skip

    def _wait(self, name: str, child: Child, is_there: Callable[[], bool]) -> None:
        if not until(lambda: is_there() or not child.is_running(), START_SECONDS) or not child.is_running():
            raise RuntimeError(f"the {name} did not start:\n{child.log.read_text()[-2000:]}")


def end(child: Child) -> None:
    """kill -9."""
    child.signal(signal.SIGKILL)
    if child.process is not None:
        child.process.wait()


def answers(port: int, path: str) -> bool:
    """Whether a server on this machine answers."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request("GET", path)
        return line.getresponse().status == 200
    except OSError:
        return False
    finally:
        line.close()


def until(happened: Callable[[], bool], seconds: float) -> bool:
    """Wait for something, and say whether it came."""
    end_at = time.monotonic() + seconds
    while time.monotonic() < end_at:
        if happened():
            return True
        time.sleep(0.1)
    return False
