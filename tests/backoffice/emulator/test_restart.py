"""The emulator as a process: it is killed, comes back, and knows everything."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import eventually

ROOT = Path(__file__).resolve().parents[3]
DEPOSIT = {"walletId": "wlt_aurora_usdc", "amount": {"amount": "10.00", "currency": "USDC"}}
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(free_port: int, tmp_path: Path) -> Iterator[Start]:
    """Starts the command on one port and one world, and waits until it answers."""
    running: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> subprocess.Popen[str]:
        world = str(tmp_path / "world.sqlite3")
        command = [sys.executable, "-m", "backoffice.emulator", "--port", str(free_port), "--world", world]
        process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout
        assert f"127.0.0.1:{free_port}" in process.stdout.readline()
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait(5)
        if process.stdout:
            process.stdout.close()


def deposit(port: int, key: str) -> requests.Response:
    headers = {"Api-Key": "endl_practice_key", "Api-Version": "2026-09.1", "Idempotency-Key": key}
    url = f"http://127.0.0.1:{port}/api/v0/cards/cus_aurora/deposits"
    return requests.post(url, json=DEPOSIT, headers=headers, timeout=5)


def status(port: int, identity: str) -> str:
    answer = requests.get(f"http://127.0.0.1:{port}/_control/things/deposits/{identity}", timeout=5)
    return str(answer.json()["status"])


def test_a_killed_emulator_goes_on_where_it_was(start: Start, free_port: int) -> None:
    process = start("--sample", "--settle-seconds", "1.5")
    first = deposit(free_port, "k")
    identity = first.json()["depositId"]
    os.kill(process.pid, signal.SIGKILL)
    process.wait(5)
    start()
    assert status(free_port, identity) == "pending"
    assert deposit(free_port, "k").content == first.content
    ledger = requests.get(f"http://127.0.0.1:{free_port}/_control/ledger", timeout=5).json()
    assert [entry["object_id"] for entry in ledger] == [identity]
    eventually(lambda: status(free_port, identity) == "completed")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_quickly_even_when_a_call_hangs(
    start: Start, free_port: int, number: signal.Signals
) -> None:
    process = start("--sample")
    control = f"http://127.0.0.1:{free_port}/_control"
    requests.post(f"{control}/faults", json={"kind": "hang", "seconds": 60}, timeout=5).raise_for_status()
    with socket.create_connection(("127.0.0.1", free_port), timeout=5) as line:
        line.sendall(b"GET /api/v0/cards/cus_aurora/deposits HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually(lambda: requests.get(f"{control}/requests", timeout=5).json()["last"])
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait(5) == 0
        assert time.monotonic() - began < 2


def test_a_taken_port_is_said_in_one_sentence(tmp_path: Path) -> None:
    with Emulator(tmp_path / "one.sqlite3") as emulator:
        world = str(tmp_path / "two.sqlite3")
        command = [
            sys.executable,
            "-m",
            "backoffice.emulator",
            "--port",
            str(emulator.port),
            "--world",
            world,
        ]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10, check=False)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert f"port {emulator.port}" in ended.stderr
    assert ended.stdout == ""


def test_switches_outlive_a_restart(tmp_path: Path) -> None:
    with Emulator(tmp_path / "world.sqlite3", api_key="one") as first:
        first.settings(list_form="paged")
    with Emulator(tmp_path / "world.sqlite3") as second:
        assert (second.api_key, second.world.switches.list_form) == ("one", "paged")


def test_a_world_without_a_path_goes_with_its_emulator() -> None:
    with Emulator() as emulator:
        place = emulator.world.path
        assert place.exists()
    assert not place.exists()
