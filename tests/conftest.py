"""What every test may use, and what none may do."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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
BROKER_PORTS = {"redis": 6379, "rediss": 6379, "amqp": 5672, "amqps": 5671}


# --- Tests that need something which may not be there -----------------------------------------------


def absent_services() -> dict[str, str]:
    """Markers whose tests cannot run here, each with what they lack."""
    absent = {}
    if not os.environ.get("TEST_DATABASE_URL", "").startswith("postgres"):
        absent["postgres"] = "PostgreSQL (set TEST_DATABASE_URL)"
    if not CHROMIUM.exists():
        absent["browser"] = "Chromium (apt-get install chromium)"
    if not is_broker_there():
        absent["worker"] = "the broker of TEST_BROKER_URL"
    return absent


def is_broker_there() -> bool:
    """Whether somebody listens where TEST_BROKER_URL points. The embedded broker needs nobody."""
    url = urlsplit(os.environ.get("TEST_BROKER_URL", ""))
    if not url.hostname:
        return True
    try:
        socket.create_connection((url.hostname, url.port or BROKER_PORTS[url.scheme]), timeout=2).close()
    except OSError:
        return False
    return True


ABSENT = absent_services()
IS_BUILD_SERVER = os.environ.get("CI") == "true"


def missing_for(item: pytest.Item) -> str | None:
    """What a test lacks here, in words. None when it can run."""
    return next((lack for marker, lack in ABSENT.items() if item.get_closest_marker(marker)), None)


def pytest_report_header() -> list[str]:
    """Say what is left out."""
    fate = "fail" if IS_BUILD_SERVER else "are left out"
    return [f"tests marked {marker} {fate}: they need {lack}" for marker, lack in ABSENT.items()]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot run on this machine. A build server may not leave out anything."""
    if IS_BUILD_SERVER:
        return
    config.hook.pytest_deselected(items=[item for item in items if missing_for(item)])
    items[:] = [item for item in items if not missing_for(item)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Allow sockets to this machine and no others. On a build server, a test without its service fails."""
    socket_allow_hosts(LOOPBACK, allow_unix_socket=True)
    missing = missing_for(item)
    if missing:
        pytest.fail(f"this test needs {missing}", pytrace=False)


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
