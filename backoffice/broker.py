"""A message broker that needs no server: files in a folder, for one machine.

Kombu's file system transport lets a reader take a message that is still being written, and a worker can die
of it. Here every file is written aside and then renamed into its place: it is either whole or not there.
What a killed worker loses is harmless: the approved row is the queue, and the sweeper finds it again.

`embedded://` keeps its folder under var/, `embedded:///some/folder` there. Nothing is written outside it.
"""

import fcntl
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem, virtual
from kombu.utils.json import dumps, loads

log = logging.getLogger(__name__)

ALIAS = "embedded"
POLLING_SECONDS = 0.2

Table = list[filesystem.exchange_queue_t]


def register() -> None:
    """Make `embedded://` a URL that kombu and Celery understand."""
    TRANSPORT_ALIASES[ALIAS] = f"{__name__}:Transport"


def options(folder: Path) -> dict[str, Any]:
    """The transport options that keep everything inside one folder."""
    return {
        "data_folder_in": str(folder / "messages"),
        "data_folder_out": str(folder / "messages"),
        "control_folder": str(folder / "control"),
        "polling_interval": POLLING_SECONDS,
    }


class Channel(filesystem.Channel):
    """Kombu's channel, with every write made atomic."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for folder in (Path(self.data_folder_in), self.control_folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        # Wall clock, not monotonic: the order must survive a restart of the machine.
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        write_whole(Path(self.data_folder_out) / name, dumps(message))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(os.listdir(folder)):  # noqa: PTH208  (names are all that is needed, many times a second)
            if name.partition(".")[2] == f"{queue}.msg":
                text = take(folder / name)
                if text is not None:
                    return loads(text)
        raise Empty

    def _queue_bind(self, exchange: str, routing_key: str | None, pattern: str | None, queue: str) -> None:
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        self._change_table(exchange, lambda table: table if bound in table else [bound, *table])

    def _delete(self, queue: str, exchange: str, routing_key: str, pattern: str, *_: Any, **__: Any) -> None:
        self._purge(queue)
        gone = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        self._change_table(exchange, lambda table: [bound for bound in table if bound != gone])

    def _change_table(self, exchange: str, change: Callable[[Table], Table]) -> None:
        with locked(self.control_folder / "tables.lock"):
            before = self.get_table(exchange)
            after = change(before)
            if after != before:
                write_whole(self.control_folder / f"{exchange}.exchange", dumps(after))


class Transport(filesystem.Transport):
    """The transport behind `embedded://`."""

    Channel = Channel
    driver_name = ALIAS
    polling_interval = POLLING_SECONDS

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        # Kombu remembers bindings per process, whatever the folder: another folder would never get its own.
        self.state = virtual.BrokerState()


def write_whole(path: Path, text: str) -> None:
    """Write a file that other processes see whole or not at all."""
    # The name has no queue in it, so no reader takes it for a message.
    aside = path.with_name(f".{uuid.uuid4().hex}")
    aside.write_text(text)
    aside.rename(path)


def take(path: Path) -> str | None:
    """Take a message out of its folder. None when another process was faster or the file is not readable."""
    mine = path.with_name(f".{uuid.uuid4().hex}")
    try:
        path.rename(mine)
        text = mine.read_text()
        mine.unlink()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        log.exception("a message could not be read and was dropped")
        return None
    return text


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file against other processes and threads."""
    with path.open("w") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield
