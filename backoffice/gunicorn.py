"""How gunicorn serves the office: `gunicorn --config python:backoffice.gunicorn backoffice.wsgi`.

There is no access log: its lines hold query strings. The office's own request log says who asked for what.
"""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")

from django.conf import settings
from django.utils.module_loading import import_string

from backoffice.hardening import keep_memory_in

bind = [f"127.0.0.1:{settings.PORT}"]
workers = int(os.environ.get("WEB_PROCESSES", "2"))
worker_class = "gthread"
threads = int(os.environ.get("WEB_THREADS", "4"))
# A page never waits for Endl; what takes this long hangs.
timeout = 30
graceful_timeout = 10
accesslog = None
# The office's own chain, so that gunicorn's words are redacted like all others.
logconfig_dict = settings.LOGGING


def on_starting(server: Any) -> None:
    """Guard the memory of the process that the others are forked from, and theirs with it."""
    keep_memory_in()


def post_worker_init(worker: Any) -> None:
    """When a process is ready to answer: guard its memory, and start what the applications want started."""
    keep_memory_in()
    for name in settings.WEB_STARTS:
        import_string(name)()
