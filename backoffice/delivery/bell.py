"""The doorbell: tells a worker that a row waits. A lost ring costs seconds, never money.

The row is the queue; the sweep on the beat schedule finds what no bell reached.
"""

import logging

from celery import current_app
from django.db import transaction

log = logging.getLogger("backoffice.delivery")


def ring(task: str, *ids: int | str) -> None:
    """Ask a worker, after the commit, to run a task by name. Never raises."""
    transaction.on_commit(lambda: _publish(task, ids), robust=True)


def _publish(task: str, ids: tuple[int | str, ...]) -> None:
    try:
        current_app.send_task(task, args=ids, retry=False)
    except Exception as problem:  # noqa: BLE001  (brokers' clients raise what they like; the sweep mends it)
        log.warning("bell not heard: %s (%s); the sweep will find it", task, type(problem).__name__)
