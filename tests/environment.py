"""The environment that tests run in. Imported before Django's settings are, and free of Django itself.

Nothing of the person's own environment reaches a test but TEST_DATABASE_URL and TEST_BROKER_URL: a real
API key in a shell must never meet a test.
"""

import atexit
import base64
import os
import shutil
import tempfile
from pathlib import Path

OURS = ("ENDL_", "SECRET_KEY", "STORAGE_KEYS", "DATABASE_", "CELERY_", "ALLOWED_HOSTS", "CSRF_TRUSTED")
FOLDER_NAME = "OFFICE_TEST_FOLDER"


def a_folder() -> Path:
    """The folder of this run: made once, shared by worker processes, removed by the one that made it."""
    if FOLDER_NAME not in os.environ:
        folder = tempfile.mkdtemp(prefix="office-tests-")
        os.environ[FOLDER_NAME] = folder
        maker = os.getpid()
        atexit.register(lambda: os.getpid() == maker and shutil.rmtree(folder, ignore_errors=True))
    own = Path(os.environ[FOLDER_NAME]) / os.environ.get("PYTEST_XDIST_WORKER", "main")
    # Whitenoise warns of a folder for static files that is not there.
    (own / "static").mkdir(mode=0o700, parents=True, exist_ok=True)
    return own


def broker_url(folder: Path) -> str:
    """This process's broker: a Redis database or a folder of its own, so that no bell rings next door."""
    url = os.environ.get("TEST_BROKER_URL") or f"embedded://{folder / 'broker'}"
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    base, _, database = url.rpartition("/")
    if url.startswith("redis") and number and database.isdigit():
        return f"{base}/{(int(database) + 1 + int(number)) % 16}"
    return url


def variables(folder: Path) -> dict[str, str]:
    """What the settings are to read, with everything they write under `folder`."""
    return {
        "PRACTICE": "1",
        "DEBUG": "0",
        "SECRET_KEY": "tests-only-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJ",
        "STORAGE_KEYS": base64.b64encode(bytes(range(32))).decode(),
        "VAR_DIR": str(folder),
        "SPOOL_DIR": str(folder / "spool"),
        "DATABASE_URL": os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{folder / 'office.sqlite3'}",
        "CELERY_BROKER_URL": broker_url(folder),
        # A port on loopback where nothing listens; the `emulator` fixture puts the real one in its place.
        "ENDL_BASE_URL": "http://127.0.0.1:9",
        "ENDL_API_KEY": "endl_test_key",
        "ENDL_RATE_PER_SECOND": "1000",
        "ENDL_WEBHOOK_SECRETS": "whsec_" + base64.b64encode(b"a webhook secret of the tests").decode(),
        # pytest-playwright drives its browser from a thread that runs an event loop.
        "DJANGO_ALLOW_ASYNC_UNSAFE": "1",
    }


def prepare() -> None:
    """Replace the office's part of the environment with the tests' own."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(variables(a_folder()))


prepare()
