"""The office that is scanned: emulator, web server and worker as real processes, on ground of their own."""

import base64
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from backoffice.practice.children import Child
from backoffice.practice.ground import is_loopback
from tests.faults.ground import free_port, until

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
API_KEY = "endl_leaks_key"


class Office:
    """Everything that runs. The emulator knows the numbers by nature, so its files lie apart, unscanned."""

    def __init__(self, folder: Path, database_url: str, broker_url: str) -> None:
        self.folder, self.apart = folder, folder.with_name(folder.name + "-endl")
        for each in (folder, self.apart, folder / "tmp", folder / "log", folder / "mails"):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.web_port, self.endl_port = free_port(), free_port()
        self.webhook_key = secrets.token_bytes(24)
        self.broker = folder / "broker"
        self.database = folder / "office.sqlite3"
        self.hole = folder / "hole"
        self.private_key, self.public_pem = _key_pair(self.apart / "current.pem")
        self.variables = self._variables(database_url, broker_url)
        self.endl = self._child("emulator", self._endl_command(), self.apart)
        self.web = self._child("web", self._web_command(), folder / "log", self._with_key())
        self.worker = self._child("worker", self._worker_command(), folder / "log")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    def start(self) -> None:
        """Start all but the worker."""
        self.endl.start()
        self._wait(self.endl, lambda: _answers(self.endl_port, "/_control/healthz"))
        self.ask("keys", pem=self.public_pem)
        self.web.start()
        self._wait(self.web, lambda: _answers(self.web_port, "/healthz"))

    def start_worker(self) -> None:
        self.worker.start()
        self._wait(self.worker, lambda: b" ready." in self.worker.log.read_bytes())

    def stop(self) -> None:
        """End everything, the office's processes as they would be asked to."""
        for child in (self.worker, self.web, self.endl):
            child.signal(signal.SIGTERM)
        end = time.monotonic() + 6
        while time.monotonic() < end and any(
            each.is_running() for each in (self.worker, self.web, self.endl)
        ):
            time.sleep(0.1)
        for child in (self.worker, self.web, self.endl):
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()

    def processes(self) -> list[int]:
        """The ids of the office's own processes, the forked ones included."""
        groups = {child.process.pid for child in (self.web, self.worker) if child.process is not None}
        return [pid for pid in _all_pids() if _group_of(pid) in groups]

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

    def manage(self, *words: str) -> str:
        """Run a command of the office. Returns what it said, on either channel."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            env=self._with_key(), cwd=ROOT, check=False, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout + done.stderr

    # --- Commands -------------------------------------------------------------------------------------

    def _variables(self, database_url: str, broker_url: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TZ")}
        base_url = f"http://127.0.0.1:{self.endl_port}"
        assert is_loopback(base_url)
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "tests.leaks.settings",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LEAKS_FOLDER": str(self.folder),
            "LEAKS_HOLE_FILE": str(self.hole),
            "TMPDIR": str(self.folder / "tmp"),
            "PRACTICE": "1",
            "VAR_DIR": str(self.folder),
            "SPOOL_DIR": str(self.folder / "spool"),
            "SECRET_KEY": secrets.token_urlsafe(60),
            "STORAGE_KEYS": base64.b64encode(secrets.token_bytes(32)).decode(),
            "DATABASE_URL": database_url or f"sqlite:///{self.database}",
            "CELERY_BROKER_URL": broker_url or f"embedded://{self.broker}",
            "ENDL_BASE_URL": base_url,
            "ENDL_API_KEY": API_KEY,
            "ENDL_WEBHOOK_SECRETS": "whsec_" + base64.b64encode(self.webhook_key).decode(),
            "ENDL_CALL_SECONDS": "3",
            "ENDL_RATE_PER_SECOND": "1000",
            "ORDER_CEILING_CENTS": "1000000",
            "ORDER_DAY_CEILING_CENTS": "2000000000",
            "REVEALS_PER_TEN_MINUTES": "1000",
            "REVEALS_PER_DAY": "1000",
            "SYNC_SECONDS": "3600",
            "PORT": str(self.web_port),
            "WEB_PROCESSES": "1",
            "WEB_THREADS": "4",
        }

    def _with_key(self) -> dict[str, str]:
        return {**self.variables, "ENDL_PRIVATE_KEY_FILES": str(self.private_key)}

    def _child(
        self, name: str, command: list[str], logs: Path, environ: dict[str, str] | None = None
    ) -> Child:
        return Child(name, command, environ or self.variables, logs / f"{name}.log")

    def _endl_command(self) -> list[str]:
        return [
            sys.executable, "-m", "backoffice.emulator", "--port", str(self.endl_port),
            "--world", str(self.apart / "world.sqlite3"), "--api-key", API_KEY, "--settle-seconds", "0.2",
            "--webhook-url", f"{self.url}/webhooks/endl/",
            "--webhook-secret", self.variables["ENDL_WEBHOOK_SECRETS"],
        ]  # fmt: skip

    def _web_command(self) -> list[str]:
        return [sys.executable, "-m", "gunicorn", "--config", "python:backoffice.gunicorn", "backoffice.wsgi"]

    def _worker_command(self) -> list[str]:
        return [
            sys.executable, "-m", "celery", "--app", "tests.leaks.worker:app", "worker", "--beat", "--events",
            "--pool", "threads", "--concurrency", "2", "--queues", "money,sync,webhook",
            "--loglevel", "DEBUG",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip

    def _wait(self, child: Child, is_there: Callable[[], bool]) -> None:
        if not until(lambda: is_there() or not child.is_running(), START_SECONDS) or not child.is_running():
            raise RuntimeError(f"the {child.name} did not start:\n{child.log.read_text()[-2000:]}")


def _key_pair(path: Path) -> tuple[Path, str]:
    private = rsa.generate_private_key(public_exponent=65537, key_size=3072)
    content = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return path, public.decode()


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return -1


def _answers(port: int, path: str) -> bool:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request("GET", path)
        return line.getresponse().status == 200
    except OSError:
        return False
    finally:
        line.close()
