"""What every test may use, and what none may do."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pytest_django import Settings
from pytest_socket import socket_allow_hosts

from tests.worker import Worker

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

pytest_plugins = ("tests.people", "tests.tables")

CHROMIUM = Path("/usr/bin/chromium")
LOOPBACK = ["127.0.0.1", "::1", "localhost"]


# --- Nothing leaves the machine ---------------------------------------------------------------------


def pytest_runtest_setup() -> None:
    """Allow sockets to this machine, and no others."""
    socket_allow_hosts(LOOPBACK, allow_unix_socket=True)


# --- Tests that need something which may not be there -----------------------------------------------


def missing_for(item: pytest.Item) -> str | None:
    """What a marked test lacks here, in words. None when it can run."""
    on_postgres = os.environ.get("TEST_DATABASE_URL", "").startswith("postgres")
    if item.get_closest_marker("postgres") and not on_postgres:
        return "PostgreSQL (set TEST_DATABASE_URL)"
    if item.get_closest_marker("browser") and not CHROMIUM.exists():
        return "Chromium (apt-get install chromium)"
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot run on this machine, and say so. A build server may not leave out anything."""
    absent = {item: missing for item in items if (missing := missing_for(item))}
    if absent and os.environ.get("CI") != "true":
        items[:] = [item for item in items if item not in absent]
        config.hook.pytest_deselected(items=list(absent))
    config.stash[ABSENT] = absent


ABSENT = pytest.StashKey[dict[pytest.Item, str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """On a build server, a test without its service fails."""
    missing = item.config.stash[ABSENT].get(item)
    if missing:
        pytest.fail(f"this test needs {missing}", pytrace=False)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Name what was left out."""
    absent = sorted(set(config.stash.get(ABSENT, {}).values()))
    return [f"left out: tests that need {missing}" for missing in absent]


# --- Endl -------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def key_pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An RSA key pair, made once: the file of the private key, and the public key as PEM text."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = tmp_path_factory.mktemp("keys") / "current.pem"
    path.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    path.chmod(0o600)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return path, public.decode()


@pytest.fixture
def emulator(settings: Settings) -> "Iterator[Emulator]":
    """An Endl of our own on a free port, with the settings pointed at it."""
    from backoffice.emulator import Emulator  # not every test that uses this file has it loaded

    with Emulator(port=0) as running:
        settings.ENDL_BASE_URL, settings.ENDL_API_KEY = running.base_url, running.api_key
        yield running


@pytest.fixture
def worker(transactional_db: None, emulator: "Emulator", tmp_path: Path) -> Iterator[Worker]:
    """A worker that is not started yet: `worker.start()`. No message of an earlier test waits for it."""
    from backoffice.celery import app

    app.control.purge()
    running = Worker(tmp_path / "worker.log")
    yield running
    running.stop()


@pytest.fixture
def free_port() -> int:
    """A port on loopback that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
