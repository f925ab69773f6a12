"""Where the office, and what stands around it, writes: each kind of store as files that can be searched.

A store collects its files into a folder, and can be asked to take in a number on purpose: a scan that would
not find that one finds nothing.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from backoffice.audit.models import Entry
from backoffice.audit.trail import record
from backoffice.celery import app
from funding.models import WebhookEvent
from tests.leaks.canaries import Canary
from tests.leaks.office import ROOT, Office

Collect = Callable[[Path], Iterable[Path]]
Plant = Callable[[Canary], object]


@dataclass(frozen=True)
class Store:
    """One kind of store.

    Attributes:
        collect: brings what it holds into a folder of the scan, and names every path to be searched.
        plant: writes a number into it on purpose.
        any_number: search for numbers of the emulator's kind, since other runs wrote here.
    """

    name: str
    collect: Collect
    plant: Plant
    any_number: bool = False


def every_store(office: Office, pages: Path, profile: Path | None) -> list[Store]:
    """All kinds of store; the browser's only where there was one."""
    return [
        *_database(office),
        *_tables(),
        *_files(office, pages, profile),
        *_system(office),
        *_beside(office),
    ]


# --- The database -------------------------------------------------------------------------------------


def _database(office: Office) -> Iterable[Store]:
    if connection.vendor == "sqlite":
        raw = lambda into: _copies(into, sorted(office.folder.glob("office.sqlite3*")))  # noqa: E731
        yield Store("database file and its journal, raw", raw, _into_cache)
    yield Store("database dump", _dump, _into_cache)


def _dump(into: Path) -> list[Path]:
    dumped = into / "dump.sql"
    if connection.vendor == "postgresql":
        url = (
            urlsplit(os.environ["DATABASE_URL"])
            ._replace(path=f"/{connection.settings_dict['NAME']}")
            .geturl()
        )
        dumped.write_bytes(subprocess.run(["pg_dump", url], check=True, capture_output=True).stdout)
        return [dumped]
    with closing(sqlite3.connect(str(connection.settings_dict["NAME"]))) as copy, dumped.open("w") as file:
        for line in copy.iterdump():
            file.write(line.encode("utf-8", "replace").decode() + "\n")
    return [dumped]


def _tables() -> Iterable[Store]:
    """Some tables by themselves: what is in the whole dump may come from any of them."""
    yield Store("cache table", _table("office_cache"), _into_cache)
    yield Store("sessions", _table("django_session"), _into_session)
    yield Store("audit trail", _table("audit_entry"), _into_trail)
    yield Store(
        "sealed details and raw answers", _table("cards_sealeddetails", "delivery_rawanswer"), _into_details
    )
    yield Store("ledger of looks", _table("cards_cardreveal"), _into_looks)
    yield Store("mirrors of Endl", _table("cards_card", "cards_cardholder", "funding_deposit"), _into_mirror)
    yield Store("webhook events", _table("funding_webhookevent"), _into_events)
    yield Store("requests and attempts", _table("cards_cardorder", "delivery_attempt"), _into_attempts)
    yield Store("alerts", _table("delivery_alert"), _into_alerts)


def _table(*names: str) -> Collect:
    def collect(into: Path) -> list[Path]:
        file = into / "rows"
        with connection.cursor() as cursor, file.open("wb") as written:
            for name in names:
                cursor.execute(f"SELECT * FROM {name}")
                for row in cursor.fetchall():
                    written.write(b"|".join(_as_bytes(value) for value in row) + b"\n")
        return [file]

    return collect


def _as_bytes(value: object) -> bytes:
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text.encode("utf-8", "replace")


def _into_cache(canary: Canary) -> None:
    # Values are stored as base64 of a pickle.
    cache.set("planted", f"planted {canary.number}")


def _into_session(canary: Canary) -> None:
    _insert(
        "django_session",
        session_key="planted",
        session_data=f"planted {canary.number}",
        expire_date=timezone.now(),
    )


def _into_trail(canary: Canary) -> None:
    record("scan.plant", by="system: leaks", reason=f"planted {canary.number}")


def _into_details(canary: Canary) -> None:
    from cards.models import SealedDetails

    SealedDetails.objects.filter(pk=_first("cards_sealeddetails")).update(
        key_fingerprint=f"planted {canary.number}"
    )


def _into_looks(canary: Canary) -> None:
    from backoffice.access.models import User
    from cards.models import CardReveal, SealedDetails

    details = SealedDetails.objects.get(pk=_first("cards_sealeddetails"))
    by = User.objects.order_by("pk")[0]
    CardReveal.objects.create(
        details=details, by=by, purpose="reveal", reason=f"planted {canary.number}", started_at=timezone.now()
    )


def _into_mirror(canary: Canary) -> None:
    from cards.models import Card

    Card.objects.filter(pk=_first("cards_card")).update(payload={"planted": canary.number})


def _into_events(canary: Canary) -> None:
    WebhookEvent.objects.filter(pk=_first("funding_webhookevent")).update(type=f"planted {canary.number}")


def _into_attempts(canary: Canary) -> None:
    from backoffice.delivery.models import Attempt

    Attempt.objects.filter(pk=_first("delivery_attempt")).update(kind=f"p {canary.number}")


def _into_alerts(canary: Canary) -> None:
    from backoffice.delivery import alerts

    alerts.keep(
        "planted", [alerts.Finding(Entry.objects.order_by("pk")[0], canary.number)], now=timezone.now()
    )


def _first(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT MIN(id) FROM {table}")
        return int(cursor.fetchone()[0])


def _insert(table: str, **columns: Any) -> None:
    with connection.cursor() as cursor:
        places = ", ".join(["%s"] * len(columns))
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", list(columns.values())
        )


# --- Files of the office ------------------------------------------------------------------------------


def _files(office: Office, pages: Path, profile: Path | None) -> Iterable[Store]:
    folder = office.folder
    for name in ("web", "worker"):
        yield _folder(f"log of the {name}, at DEBUG", folder / "log", f"{name}.log*")
    yield _folder("log of the driver, at DEBUG", folder / "log", "driver.log*")
    yield Store("broker", lambda into: _broker(office, into), _into_broker)
    yield _folder("broker, while messages waited", folder / "broker-waiting")
    yield _folder("spool", folder / "spool")
    yield Store("mails of mistakes", lambda _into: [folder / "mails"], _into_mail)
    yield _folder("rendered pages", pages, "[!d]*")
    yield _folder("downloads and answers that are no pages", pages, "download-*")
    yield _folder("temporary files", folder / "tmp")
    yield Store(
        "everything else in the office's folder", lambda _into: _others(folder), partial(_into_others, folder)
    )
    yield Store("exported rows", lambda into: _exported(office, into), _into_mirror)
    if profile is not None:
        yield _folder("browser: profile, history, cache", profile)


def _others(folder: Path) -> list[Path]:
    known = {"pages", "log", "broker", "broker-waiting", "spool", "mails", "tmp", "browser"}
    return [
        path for path in folder.iterdir() if path.name not in known and not path.name.startswith("office.")
    ]


def _into_others(folder: Path, canary: Canary) -> None:
    (folder / "planted").write_text(canary.number)


def _folder(name: str, folder: Path, pattern: str = "") -> Store:
    def collect(_into: Path) -> list[Path]:
        return sorted(folder.glob(pattern)) if pattern else [folder]

    def plant(canary: Canary) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        first = next((path for path in collect(folder) if path.is_file()), folder / "planted")
        with first.open("ab") as file:
            file.write(f"planted {canary.number}\n".encode())

    return Store(name, collect, plant)


def _broker(office: Office, into: Path) -> list[Path]:
    """What lies in the broker now."""
    url = app.conf.broker_url
    if not url.startswith("redis"):
        return [office.broker]
    import redis

    server, file = redis.Redis.from_url(url), into / "redis"
    with file.open("wb") as written:
        for key in server.scan_iter():
            written.write(key + b" " + (server.dump(key) or b"") + b"\n")
            if server.type(key) == b"list":
                written.writelines(_as_bytes(item) for item in server.lrange(key, 0, -1))
    return [file]


def _into_broker(canary: Canary) -> None:
    app.send_task("office.tests.nobody_wrote_this", args=[canary.number], queue="sync")


def _into_mail(canary: Canary) -> None:
    mail.mail_admins("planted", f"planted {canary.number}")


def _exported(office: Office, into: Path) -> list[Path]:
    file = into / "dumpdata.json"
    file.write_text(office.manage("dumpdata", "--all", "--exclude", "cards.sealeddetails"))
    return [file]


# --- The system ---------------------------------------------------------------------------------------


def _system(office: Office) -> Iterable[Store]:
    children: list[subprocess.Popen[bytes]] = []

    def plant(canary: Canary) -> None:
        children.append(_started(["sleep", "30"], env={"PLANTED": canary.number}))

    def collect(into: Path, name: str) -> list[Path]:
        pids = [*office.processes(), *(child.pid for child in children if child.poll() is None)]
        return [_copied(Path(f"/proc/{pid}/{name}"), into / f"{name}-{pid}") for pid in pids]

    def plant_command(canary: Canary) -> None:
        script = "import time; time.sleep(30)"
        children.append(_started([sys.executable, "-c", script, canary.number]))

    yield Store("environments of processes", lambda into: collect(into, "environ"), plant)
    yield Store("command lines of processes", lambda into: collect(into, "cmdline"), plant_command)
    yield Store("core dumps", lambda into: _cores(office, into), lambda canary: _into_core(office, canary))


def _started(command: list[str], env: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Start a process, and wait until the kernel shows it: for a moment after exec it has no words yet."""
    child = subprocess.Popen(command, env=env)
    gives_up_at = time.monotonic() + 5
    while not Path(f"/proc/{child.pid}/cmdline").read_bytes() and time.monotonic() < gives_up_at:
        time.sleep(0.02)
    return child


def _copied(source: Path, target: Path) -> Path:
    try:
        target.write_bytes(source.read_bytes())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        # It ended meanwhile, or nobody but root may look: then nothing leaks to others either.
        target.write_bytes(b"")
    return target


def _cores(office: Office, into: Path) -> list[Path]:
    """Core files, where any were left; and a process that would leave one counts as one that did."""
    for pid in office.processes():
        try:
            limits = Path(f"/proc/{pid}/limits").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if not re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE):
            raise RuntimeError(f"process {pid} of the office would leave a core dump:\n{limits}")
    return [*office.folder.rglob("core"), *office.folder.rglob("core.[0-9]*"), *ROOT.glob("core*[0-9]")]


def _into_core(office: Office, canary: Canary) -> None:
    (office.folder / "core.1").write_text(canary.number)


# --- Beside the office --------------------------------------------------------------------------------


def _beside(office: Office) -> Iterable[Store]:
    """Files that other runs left: no number of the emulator's kind may be there, whoever made it."""
    artefacts = office.folder.with_name(office.folder.name + "-pytest")

    def collected(_into: Path) -> list[Path]:
        return [path for path in _files_in(artefacts, ROOT / ".pytest_cache") if "world" not in path.name]

    def plant(canary: Canary) -> None:
        artefacts.mkdir(exist_ok=True)
        (artefacts / "planted").write_text(canary.number)

    yield Store("artefacts of pytest", collected, plant, any_number=True)
    own = ROOT / "var"
    yield Store(
        "var/ of this checkout",
        lambda into: [*into.iterdir(), *(path for path in _files_in(own) if "emulator" not in path.name)],
        lambda canary: _planted_beside(office, canary),
        any_number=True,
    )


def _planted_beside(office: Office, canary: Canary) -> None:
    into = office.folder.with_name(office.folder.name + "-evidence") / "var-of-this-checkout"
    into.mkdir(parents=True, exist_ok=True)
    (into / "planted").write_text(canary.number)


def _files_in(*folders: Path) -> list[Path]:
    return [path for folder in folders if folder.is_dir() for path in folder.rglob("*") if path.is_file()]


def _copies(into: Path, paths: list[Path]) -> list[Path]:
    # By another process: SQLite loses its locks when one that has the file open closes it once more.
    subprocess.run(["cp", "--", *map(str, paths), str(into)], check=True)
    return [into / path.name for path in paths]
