"""A real worker process, on the database, the broker and the Endl of the running test."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from django.conf import settings
from django.db import connection

START_SECONDS = 60
STOP_SECONDS = 15


def database_url() -> str:
    """The URL of the test's own database, for another process."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{quote(name)}"))


class Worker:
    """One worker for all queues, with or without the clock (beat) inside."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, beat: bool = True, **environ: str) -> None:
        """Start it and wait until it listens. Extra words go into its environment."""
        command = [
            sys.executable,
            "-m",
            "celery",
            "--app",
            "backoffice.celery:app",
            "worker",
            "--concurrency",
            "2",
        ]
        quiet = ["--pool", "threads", "--without-gossip", "--without-mingle", "--without-heartbeat"]
        seen = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *quiet, "--queues", "money,sync,webhook", *(["--beat"] if beat else [])],
                env=self.environment() | environ,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        self._wait_until_ready(seen)

    def environment(self) -> dict[str, str]:
        """This process's environment, with what the running test changed in the settings."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "backoffice.settings",
            "DATABASE_URL": database_url(),
            "ENDL_BASE_URL": settings.ENDL_BASE_URL,
            "ENDL_API_KEY": settings.ENDL_API_KEY,
        }

    def _wait_until_ready(self, seen: int) -> None:
        until = time.monotonic() + START_SECONDS
        while b" ready." not in self.log.read_bytes()[seen:]:
            if not self.is_running() or time.monotonic() > until:
                raise RuntimeError(f"the worker did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """End it at once, as a power cut would, with everything it started."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to stop, and make it after a while."""
        self._signal(signal.SIGTERM)
        self.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, number)
            self.process.wait(STOP_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            return
