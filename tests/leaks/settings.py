"""The office's own settings, talking as much as it can: every logger at DEBUG, and mails of its mistakes."""

import os
from pathlib import Path

from backoffice.settings import *  # noqa: F403
from backoffice.settings import LOGGING, MIDDLEWARE

FOLDER = Path(os.environ["LEAKS_FOLDER"])

for logger in (LOGGING["root"], *LOGGING["loggers"].values()):
    logger["level"] = "DEBUG"
LOGGING["handlers"]["mail"] = {
    "class": "django.utils.log.AdminEmailHandler", "level": "ERROR", "include_html": True,
}  # fmt: skip
LOGGING["loggers"]["django.request"]["handlers"] = ["mail"]
# It tells every variable that a template asks for in vain, with a traceback: minutes, and no values.
LOGGING["loggers"]["django.template"] = {"level": "INFO"}
ADMINS = [("Somebody", "somebody@example.com")]
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = str(FOLDER / "mails")
MIDDLEWARE = ["tests.leaks.holes.HoleMiddleware", *MIDDLEWARE]
# People sign in and step up by the hundred: the real hasher would cost minutes.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
