"""Child processes that never outlive their parent, and are started again when they die."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent.parent
PR_SET_PDEATHSIG = 1
STOP_SECONDS = 6.0
LONGEST_PAUSE_SECONDS = 10.0
# One that ran this long died of something else than its start.
SETTLED_SECONDS = 30.0
LOG_BYTES = 10_000_000

# Loaded before any fork: nothing may be imported between fork and exec.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with(parent: int) -> None:
    """Ask the kernel to stop this process when its parent is gone. Runs between fork and exec."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)


@dataclass
class Child:
    """One process of the office, in a process group of its own."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    deaths: int = 0
    start_again_at: float = field(default=0.0)

    def start(self) -> None:
        """Start it, with its words appended to its log."""
        parent = os.getpid()
        with log_file(self.log) as log:
            self.process = subprocess.Popen(  # noqa: S603  (our own commands, no shell)
                self.command,
                env=dict(self.environment),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=lambda: die_with(parent),  # noqa: PLW1509  (the runner has one thread)
            )
        self.started_at = time.monotonic()

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group: a killed worker leaves its clock process behind."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except (ProcessLookupError, PermissionError):
                return

    def look_after(self) -> str | None:
        """Start it again when it died, each time a little later. Returns what there is to say."""
        if self.is_running():
            return None
        now = time.monotonic()
        if self.process is not None:
            return self._bury(now)
        if now >= self.start_again_at:
            self.start()
        return None

    def _bury(self, now: float) -> str:
        assert self.process is not None
        self.signal(signal.SIGKILL)
        code, self.process = self.process.returncode, None
        self.deaths = 1 if now - self.started_at > SETTLED_SECONDS else self.deaths + 1
        pause = min(0.5 * 2 ** (self.deaths - 1), LONGEST_PAUSE_SECONDS)
        self.start_again_at = now + pause
        return f"The {self.name} ended ({how(code)}); starting it again. Its log: {self.log}"


def how(code: int) -> str:
    """What an exit code says, in words."""
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def log_file(path: Path) -> IO[bytes]:
    """Open a log for appending, for this user only. A big one is put aside first."""
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def stop_all(children: Sequence[Child]) -> None:
    """Ask all to stop, wait a few seconds, and make those stop that did not."""
    for child in children:
        child.signal(signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until and any(child.is_running() for child in children):
        time.sleep(0.05)
    for child in children:
        child.signal(signal.SIGKILL)
        if child.process is not None:
            child.process.wait()
