"""The Celery application. A message is a bell that says "look at the table": it carries ids and no truth.

Whatever a broker loses, repeats or delays, the rows say what is to be done, and the schedule looks at them.
"""

import ctypes
import logging
import os
import signal
import sys
from datetime import timedelta
from logging.config import dictConfig
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery import Celery, signals
from django.conf import settings
from django_structlog.celery.steps import DjangoStructLogInitStep
from kombu import Exchange, Queue

from backoffice import broker
from backoffice.hardening import keep_memory_in

log = logging.getLogger("backoffice.celery")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
broker.register()

# A person waits for the page that rings the bell; the sweeper does not mind a bell that was not heard.
PUBLISH_SECONDS = 1.0
# A worker that waits for messages may wait longer than a page may.
WORKER_SOCKET_SECONDS = 30.0
OFFICE_TASK_MODULES = ("backoffice.delivery", "backoffice.mirror")
QUEUES = ("money", "sync", "webhook")
PR_SET_PDEATHSIG = 1


def broker_folder(url: str) -> Path:
    """Where the embedded broker keeps its files."""
    path = urlsplit(url).path
    return Path(path) if path.strip("/") else settings.VAR_DIR / "broker"


def transport_options(url: str) -> dict[str, Any]:
    """What each kind of broker is told. The one table: nothing else asks which broker it is."""
    # Whoever connects to publish tries once: the first pause alone would be two seconds.
    once = {"max_retries": 0, "interval_start": 0}
    redis = {
        **once,
        "visibility_timeout": max(300, int(settings.DELIVERY_LEASE_SECONDS * 4)),
        "socket_connect_timeout": PUBLISH_SECONDS,
        "socket_timeout": PUBLISH_SECONDS,
        "socket_keepalive": True,
        "health_check_interval": 25,
    }
    amqp = {**once, "confirm_publish": True}
    by_scheme: dict[str, dict[str, Any]] = {
        broker.ALIAS: broker.options(broker_folder(url)),
        "redis": redis,
        "rediss": redis,
        "amqp": amqp,
        "amqps": amqp,
        "memory": {},
    }
    return by_scheme[urlsplit(url).scheme]


def queue_of(name: str, *_: Any, **__: Any) -> dict[str, str]:
    """Choose the queue of a task by the verb it is named after: `send_`, `sync_`, `follow_`."""
    module, _dot, verb = name.rpartition(".")
    if "webhook" in module or "webhook" in verb or verb.startswith("handle_"):
        return {"queue": "webhook"}
    if verb.startswith(("send_", "sweep", "probe")):
        return {"queue": "money"}
    return {"queue": "sync"}


def every(seconds: float, task: str) -> dict[str, Any]:
    """A line of the schedule. Its message expires when the next one is due: a pile says nothing new."""
    return {"task": task, "schedule": timedelta(seconds=seconds), "options": {"expires": max(seconds, 5)}}


def schedule() -> dict[str, dict[str, Any]]:
    """What is looked at without anybody asking."""
    hour, day = 3600, 24 * 3600
    return {
        "sweep card orders and registrations": every(settings.DELIVERY_SWEEP_SECONDS, "cards.tasks.sweep"),
        "sweep deposits": every(settings.DELIVERY_SWEEP_SECONDS, "funding.tasks.sweep"),
        "sync cards": every(settings.SYNC_SECONDS, "cards.tasks.sync_all"),
        "sync funding": every(settings.SYNC_SECONDS, "funding.tasks.sync_all"),
        "follow what is pending": every(settings.FOLLOW_SECONDS, "funding.tasks.follow_due"),
        "handle waiting events": every(30, "funding.tasks.handle_waiting_events"),
        "watch deadlines": every(60, "backoffice.delivery.tasks.watch_deadlines"),
        "check invariants": every(hour, "backoffice.delivery.tasks.check_invariants"),
        "destroy details that are due": every(hour, "cards.tasks.destroy_due_details"),
        "watch looks at card details": every(60, "cards.tasks.watch_looks"),
        "report on retention": every(day, "cards.tasks.report_on_retention"),
        "ask whether Endl answers again": every(60, "backoffice.delivery.tasks.probe"),
        "try reads that were switched off": every(day, "backoffice.mirror.tasks.try_switched_off_reads"),
    }


def state_folder(url: str) -> Path:
    """Where beat keeps what it has done: beside the embedded broker's files, else under var/."""
    return broker_folder(url) if urlsplit(url).scheme == broker.ALIAS else settings.VAR_DIR


def make_app() -> Celery:
    """Build the application from Django's settings."""
    url = settings.CELERY_BROKER_URL
    state_folder(url).mkdir(mode=0o700, parents=True, exist_ok=True)
    made = Celery("backoffice")
    made.conf.update(
        broker_url=url,
        broker_transport_options=transport_options(url),
        broker_connection_timeout=PUBLISH_SECONDS,
        broker_connection_retry_on_startup=True,
        broker_pool_limit=8,
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        task_publish_retry=False,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_queues=[Queue(name, Exchange(name), routing_key=name) for name in QUEUES],
        task_default_queue="sync",
        task_routes=(queue_of,),
        worker_prefetch_multiplier=1,
        # Longer than a call to Endl, so that a worker told to stop first hears what became of its request.
        worker_soft_shutdown_timeout=settings.ENDL_CALL_SECONDS + 5,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        timezone="UTC",
        beat_schedule=schedule(),
        beat_schedule_filename=str(state_folder(url) / "beat"),
        beat_max_loop_interval=5,
    )
    # "Current" is per thread, and the web server has many; "default" holds for all of them.
    made.set_default()
    made.steps["worker"].add(DjangoStructLogInitStep)
    made.autodiscover_tasks(
        lambda: list(dict.fromkeys((*OFFICE_TASK_MODULES, *settings.CELERY_TASK_MODULES)))
    )
    return made


@signals.setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Celery would set up loggers of its own, past the redactor; not when somebody answers this signal."""
    dictConfig(settings.LOGGING)


@signals.worker_init.connect
def give_workers_time(**_: Any) -> None:
    """Loosen the limits that are meant for pages, in the process that is a worker."""
    chosen = app.conf.broker_transport_options
    if "socket_timeout" in chosen:
        app.conf.broker_transport_options = {**chosen, "socket_timeout": WORKER_SOCKET_SECONDS}


@signals.worker_init.connect
@signals.beat_init.connect
def hold_no_keys(**_: Any) -> None:
    """Guard the memory, and forget the private keys that this process should never have been told of."""
    keep_memory_in()
    if settings.ENDL_PRIVATE_KEY_FILES:
        log.error("ENDL_PRIVATE_KEY_FILES is not for workers: take it out of this process's environment")
        settings.ENDL_PRIVATE_KEY_FILES = []


@signals.beat_embedded_init.connect
def die_with_the_worker(**_: Any) -> None:
    """A worker that is killed cannot stop the beat process it started, and that one would ring for ever."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


app = make_app()
