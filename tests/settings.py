"""The office's settings, read from the tests' environment. Changed only where tests need it."""

# First of all: settings read the environment when they are imported.
import tests.environment  # noqa: F401, I001

import os
from pathlib import Path

from backoffice.settings import *  # noqa: F403
from backoffice.settings import CELERY_BROKER_URL, DATABASES, IS_EMBEDDED, STORAGES, VAR_DIR

# A file, so that worker processes and the web server of a test see the same rows.
if IS_EMBEDDED:
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}

# The manifest exists only after collectstatic.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
STATIC_ROOT = VAR_DIR / "static"

# Sample people by the hundred: the real hasher would cost minutes.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

TEST_FOLDER = Path(os.environ["OFFICE_TEST_FOLDER"])
TEST_BROKER_IS_EMBEDDED = CELERY_BROKER_URL.startswith("embedded:")
