"""What hangs on the product's checkpoints in a fault run: at the armed point, the armed deed.

A worker or web process that is started through `tests.faults.worker` or `tests.faults.web` loads this.
"""

import os
import signal
import time
from pathlib import Path

from celery import current_task

from backoffice.delivery import checkpoint
from tests.faults import seam_files as files

FOLDER = Path(os.environ[files.VARIABLE])
# A harness that has died holds nobody for ever.
LONGEST_PAUSE_SECONDS = 45.0
EXIT_CODE = 137


def install() -> None:
    """Hang the seam on the checkpoints of this process."""
    checkpoint.hooks.append(strike)


def strike(point: str) -> None:
    """Do the armed deed when this is the armed point and an armed target; once for each target."""
    plan = files.read(FOLDER)
    if plan is None or plan.point != point:
        return
    target = _target()
    if plan.is_for(target) and _is_first(plan, target):
        _do(plan)


def _target() -> str:
    """Which request this process drives, such as "funding.tasks.send_deposit:17"; "web" in the web server."""
    if not current_task:
        return files.WEB
    return ":".join([current_task.name, *map(str, current_task.request.args or ())])


def _is_first(plan: files.Plan, target: str) -> bool:
    try:
        os.close(os.open(files.reached(FOLDER, plan, target), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _do(plan: files.Plan) -> None:
    if plan.deed == "exit":
        os._exit(EXIT_CODE)
    if plan.deed == "child":
        os.kill(os.getpid(), signal.SIGKILL)
    go, end = files.go_file(FOLDER, plan), time.monotonic() + LONGEST_PAUSE_SECONDS
    while not go.exists() and time.monotonic() < end:
        time.sleep(0.01)
