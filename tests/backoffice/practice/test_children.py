"""Processes of a practice office come back when they die, and go when their parent goes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backoffice.practice import children
from backoffice.practice.children import Child

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)",
]


def until(happened: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.02)
    return False


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    made = Child("worker", SLEEP, os.environ, tmp_path / "worker.log")
    yield made
    children.stop_all([made])


def test_one_that_dies_is_started_again_and_that_is_said(child: Child) -> None:
    child.start()
    assert child.process is not None
    first = child.process.pid
    os.kill(first, signal.SIGKILL)
    child.process.wait()
    assert "worker ended (killed by SIGKILL)" in (child.look_after() or "")
    assert until(lambda: child.look_after() is None and child.is_running())
    assert child.process.pid != first


def test_one_that_dies_at_once_again_and_again_is_given_more_and_more_time(tmp_path: Path) -> None:
    failing = Child("worker", [sys.executable, "-c", "exit(3)"], os.environ, tmp_path / "worker.log")
    pauses = []
    for _ in range(6):
        failing.start()
        assert failing.process is not None
        failing.process.wait()
        assert "exit code 3" in (failing.look_after() or "")
        pauses.append(failing.start_again_at - time.monotonic())
    assert pauses == sorted(pauses)
    assert pauses[-1] <= children.LONGEST_PAUSE_SECONDS


def test_one_that_will_not_stop_is_made_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "STOP_SECONDS", 0.3)
    stubborn = Child("worker", STUBBORN, os.environ, tmp_path / "worker.log")
    stubborn.start()
    assert until(lambda: (tmp_path / "worker.log").read_text() == "1\n")
    children.stop_all([stubborn])
    assert not stubborn.is_running()


def test_logs_are_for_this_user_only(child: Child) -> None:
    child.start()
    assert child.log.stat().st_mode & 0o777 == 0o600


def test_a_log_that_grew_too_big_is_put_aside(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LOG_BYTES", 3)
    child.log.write_text("much")
    child.start()
    assert child.log.with_suffix(".log.1").read_text() == "much"
    assert child.log.read_text() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does this")
def test_none_outlives_a_runner_that_was_killed(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, time\n"
        "from backoffice.practice.children import Child\n"
        f"child = Child('worker', {SLEEP!r}, os.environ, pathlib.Path({str(tmp_path / 'w.log')!r}))\n"
        "child.start(); print(child.process.pid, flush=True); time.sleep(60)\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert runner.stdout is not None
    orphan = int(runner.stdout.readline())
    runner.kill()
    runner.wait()
    runner.stdout.close()
    assert until(lambda: not is_alive(orphan))
