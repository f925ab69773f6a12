"""Bells reach real workers over whichever broker there is, and a lost broker costs a page next to nothing."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from backoffice.celery import app, transport_options
from tests.worker import Worker

pytestmark = pytest.mark.worker


def until(happened: Callable[[], bool], seconds: float = 15) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.05)
    return False


def hears(worker: Worker) -> bool:
    """Whether the worker takes a task that nobody wrote: it says so in its log."""
    app.send_task("office.tests.nobody_wrote_this", queue="money")
    return until(lambda: "office.tests.nobody_wrote_this" in worker.log.read_text())


def test_a_bell_is_heard_by_another_process(worker: Worker) -> None:
    worker.start(beat=False)
    assert hears(worker)


def test_a_bell_that_rang_while_no_worker_ran_is_heard_later(worker: Worker) -> None:
    app.send_task("office.tests.nobody_wrote_this", queue="sync")
    worker.start(beat=False)
    assert until(lambda: "office.tests.nobody_wrote_this" in worker.log.read_text())


def test_a_worker_that_was_killed_takes_its_clock_with_it_and_another_goes_on(worker: Worker) -> None:
    worker.start()
    worker.kill()
    worker.start()
    assert hears(worker)


def test_a_worker_stops_by_itself_when_asked(worker: Worker) -> None:
    worker.start()
    assert worker.process is not None
    worker.stop()
    # A worker that had to be killed would say -9.
    assert worker.process.returncode == 0


def ring_over(url: str) -> float:
    """Ring once where nobody listens, and say how many seconds that took."""
    lost = Celery(set_as_current=False)
    lost.conf.update(
        broker_url=url,
        broker_transport_options=transport_options(url),
        broker_connection_timeout=app.conf.broker_connection_timeout,
    )
    started = time.monotonic()
    with pytest.raises((OperationalError, OSError)):
        lost.send_task("funding.tasks.sweep", queue="money", retry=False)
    return time.monotonic() - started


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_gone_costs_a_page_next_to_nothing(
    scheme: str, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Celery prefers the environment to what it is given.
    monkeypatch.delenv("CELERY_BROKER_URL")
    assert ring_over(f"{scheme}://127.0.0.1:{free_port}/") < 1


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_says_nothing_costs_a_page_little_more_than_a_second(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CELERY_BROKER_URL")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert ring_over(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/") < 3


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def test_a_worker_is_told_of_no_private_key_and_dumps_no_core(worker: Worker) -> None:
    worker.start()
    assert worker.process is not None
    group = [pid for pid in pids() if os.getpgid(pid) == worker.process.pid]
    assert group
    for pid in group:
        assert b"ENDL_PRIVATE_KEY" not in environment_of(pid)
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE)


def test_a_worker_forgets_a_private_key_that_it_was_told_of(
    worker: Worker, key_pair: tuple[Path, str]
) -> None:
    worker.start(beat=False, ENDL_PRIVATE_KEY_FILES=str(key_pair[0]))
    assert "ENDL_PRIVATE_KEY_FILES is not for workers" in worker.log.read_text()


def test_importing_every_task_opens_no_key_file(key_pair: tuple[Path, str]) -> None:
    script = (
        "import sys; opened = []; "
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0]))); "
        "import django; django.setup(); from backoffice.celery import app; "
        "app.loader.import_default_modules(); "
        "assert 'cards.tasks.send_order' in app.tasks; "
        "sys.exit(sys.argv[1] in opened)"
    )
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        "ENDL_PRIVATE_KEY_FILES": str(key_pair[0]),
    }
    done = subprocess.run([sys.executable, "-c", script, str(key_pair[0])], env=environ, check=False)
    assert done.returncode == 0


def pids() -> list[int]:
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and lives(int(entry.name))
    ]


def lives(pid: int) -> bool:
    try:
        return os.getpgid(pid) > 0
    except ProcessLookupError:
        return False
