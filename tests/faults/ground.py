"""A database cluster and a broker of our own, made for one run: killing them harms nobody."""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from backoffice.practice.children import die_with

START_SECONDS = 30
# As root, PostgreSQL refuses to run: the first of these that exists owns the cluster.
SERVANTS = ("postgres", "nobody")


class CannotRun(Exception):
    """Something on this machine is in the way; the text says what to do about it."""


def free_port() -> int:
    """A port on loopback that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(happened: Callable[[], bool], seconds: float, every: float = 0.05) -> bool:
    """Wait for something to happen. Returns whether it did in time."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(every)
    return True


def listens(port: int) -> bool:
    """Whether somebody takes connections on a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def servant() -> str | None:
    """The user that runs the database: an unprivileged one when we are root, else ourselves (None)."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in SERVANTS if name in names), None)


def postgres_folder() -> Path:
    """Where the newest PostgreSQL of this machine keeps its programs. Raises CannotRun."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")  # noqa: PTH207  (a pattern from the root)
    if found:
        return Path(max(found, key=lambda name: float(name.split("/")[4]))).parent
    config = shutil.which("pg_config")
    if config:
        said = subprocess.run(
            [config, "--bindir"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if (Path(said) / "initdb").exists():
            return Path(said)
    raise CannotRun("make faults needs PostgreSQL's own programs (initdb, pg_ctl): install postgresql.")


class Cluster:
    """A PostgreSQL cluster in a folder of its own, with fsync on as in production."""

    def __init__(self, folder: Path) -> None:
        self.programs = postgres_folder()
        self.folder, self.user, self.port = folder, servant(), free_port()
        self.data = folder / "data"

    @property
    def url(self) -> str:
        return f"postgres://office@127.0.0.1:{self.port}/office"

    def start(self) -> None:
        """Make the cluster and its database, and serve. Raises CannotRun."""
        self.folder.mkdir(mode=0o700)
        if self.user:
            shutil.chown(self.folder, self.user)
        self._run(
            "initdb", "--auth=trust", "--username=office", "--no-locale", "--encoding=UTF8", "-D", self.data
        )
        self._serve("start")
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "office", "office")

    def restart_at_once(self) -> None:
        """Crash it and let it recover: every connection breaks, every open transaction is gone."""
        self._serve("restart", "-m", "immediate")

    def stop(self) -> None:
        """End it, whatever state it is in."""
        if self.data.exists():
            with contextlib.suppress(CannotRun):
                self._run("pg_ctl", "stop", "-D", self.data, "-m", "immediate")

    def _serve(self, *how: str) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=100"
        log = self.folder / "log"
        self._run("pg_ctl", *how, "-w", "-t", str(START_SECONDS), "-D", self.data, "-l", log, "-o", options)

    def _run(self, program: str, *arguments: str | Path) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments], user=self.user, cwd="/", check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if done.returncode:
            raise CannotRun(f"{program} failed: {done.stderr.strip()[-300:]}")


class Broker:
    """A Redis of our own, which keeps what it holds in a file unless it is wiped."""

    def __init__(self, folder: Path) -> None:
        self.program = shutil.which("redis-server")
        if self.program is None:
            raise CannotRun("make faults needs a Redis server of its own: install redis-server.")
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Serve what the folder holds."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        kept = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "")
        self.process = subprocess.Popen(
            [str(self.program), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder, *kept],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
            preexec_fn=partial(die_with, os.getpid()),  # noqa: PLW1509  (it calls the kernel and nothing else)
        )  # fmt: skip
        if not until(lambda: listens(self.port), START_SECONDS):
            raise CannotRun("The broker of the fault run did not start.")

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def crash(self) -> None:
        """Kill it, and bring it back with what its file holds."""
        self.kill()
        self.start()

    def wipe(self) -> None:
        """Kill it, and bring it back with nothing."""
        self.kill()
        shutil.rmtree(self.folder)
        self.start()
