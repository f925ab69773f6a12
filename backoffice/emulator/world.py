"""The emulator's world: one SQLite file that outlives the process."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backoffice.emulator import clock
from backoffice.emulator.switches import Switches, check
from backoffice.emulator.wire import Doc

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS things (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT NOT NULL,
    created_at TEXT NOT NULL, visible INTEGER NOT NULL, doc TEXT NOT NULL, UNIQUE (kind, id));
CREATE INDEX IF NOT EXISTS things_by_parent ON things (kind, parent, visible, created_at, seq);
CREATE TABLE IF NOT EXISTS details (card TEXT PRIMARY KEY, number TEXT NOT NULL UNIQUE, doc TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS results (
    api_key TEXT, operation TEXT, customer TEXT, key TEXT, body_sha256 TEXT NOT NULL,
    status INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (api_key, operation, customer, key));
CREATE TABLE IF NOT EXISTS ledger (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, key TEXT, body_sha256 TEXT NOT NULL,
    customer TEXT NOT NULL, object_id TEXT NOT NULL, amount TEXT, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, method TEXT NOT NULL, path TEXT NOT NULL, operation TEXT NOT NULL,
    key TEXT, status TEXT, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS faults (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL, skip INTEGER NOT NULL, times INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS settlements (deposit TEXT PRIMARY KEY, due REAL NOT NULL);
CREATE TABLE IF NOT EXISTS deliveries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, type TEXT NOT NULL, body BLOB NOT NULL,
    due REAL NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, last TEXT,
    held INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (state, due);
"""
CONTENT = ("things", "details", "results", "ledger", "requests", "faults", "settlements", "deliveries")
KINDS: dict[str, tuple[str, str | None]] = {
    "customers": ("customerId", None),
    "wallets": ("walletId", "customerId"),
    "cardholders": ("cardholderId", "customerId"),
    "cards": ("cardId", "cardholderId"),
    "deposits": ("depositId", "customerId"),
    "withdrawals": ("withdrawalId", "customerId"),
}


class World:
    """Everything that the emulator knows, behind one lock: two equal requests cannot both have an effect."""

    def __init__(self, path: str | Path, switches: Mapping[str, Any] | None = None) -> None:
        check(switches or {})
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.changed = threading.Event()
        self._started_with = dict(switches or {})
        self._lock = threading.RLock()
        self._depth = 0
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=WAL")
        # NORMAL keeps every commit through a SIGKILL; only a power cut could take the last ones.
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(SCHEMA)
        self._switches = self._read_switches()
        if self._started_with:
            self.set_switches(self._started_with)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything inside happens or nothing does; inside another transaction it joins that one."""
        with self._lock:
            if self._depth:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            else:
                self._db.execute("COMMIT")
            finally:
                self._depth = 0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """What a query finds."""
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def run(self, sql: str, *values: object) -> int:
        """Run one statement; answers the number of rows it touched."""
        with self.transaction() as db:
            return db.execute(sql, values).rowcount

    @property
    def switches(self) -> Switches:
        """The switches as they stand."""
        return self._switches

    def set_switches(self, changes: Mapping[str, Any]) -> None:
        """Turn some switches; they stay so after a restart."""
        check(changes)
        with self._lock:
            stands = json.loads(self.fact("switches") or "{}")
            self.set_fact("switches", json.dumps({**stands, **changes}))
            self._switches = self._read_switches()
        self.changed.set()

    def _read_switches(self) -> Switches:
        stored = json.loads(self.fact("switches") or "{}")
        known = asdict(Switches())
        return Switches(**{name: value for name, value in stored.items() if name in known})

    def fact(self, name: str) -> str | None:
        """A single remembered value."""
        found = self.rows("SELECT value FROM facts WHERE name = ?", name)
        return str(found[0]["value"]) if found else None

    def set_fact(self, name: str, value: str | None) -> None:
        """Remember a single value, or forget it."""
        if value is None:
            self.run("DELETE FROM facts WHERE name = ?", name)
        else:
            self.run("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, value)

    def reset(self, *, keep_settings: bool = False, keep_keys: bool = False) -> None:
        """Empty the world; switches go back to those it was started with."""
        with self.transaction():
            for table in CONTENT:
                self.run(f"DELETE FROM {table}")  # noqa: S608 - the names stand above
            self.set_fact("sample", None)
            if not keep_keys:
                self.set_fact("partner_key", None)
            if not keep_settings:
                self.set_fact("switches", json.dumps(self._started_with))
        self._switches = self._read_switches()

    def find(self, kind: str, identity: str) -> Doc | None:
        """One thing by its id."""
        found = self.rows("SELECT doc FROM things WHERE kind = ? AND id = ?", kind, identity)
        return json.loads(found[0]["doc"]) if found else None

    def put(self, kind: str, doc: Doc) -> None:
        """Write a thing: a new one, or a new state of a known one."""
        id_name, parent_name = KINDS[kind]
        created = clock.read(doc.get("createdAt"))
        self.run(
            "INSERT INTO things (kind, id, parent, created_at, visible, doc) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (kind, id) DO UPDATE SET parent = excluded.parent,"
            " created_at = excluded.created_at, visible = excluded.visible, doc = excluded.doc",
            kind,
            str(doc[id_name]),
            str(doc.get(parent_name or "", "")),
            clock.written(created) if created else clock.stamp(),
            is_visible(kind, doc),
            json.dumps(doc),
        )

    def children(self, kind: str, parent: str) -> list[Doc]:
        """The visible things under a parent, newest first."""
        return [doc for _, doc in self.page(kind, parent)]

    def page(
        self, kind: str, parent: str, *, before: tuple[str, int] | None = None, limit: int = -1
    ) -> list[tuple[tuple[str, int], Doc]]:
        """Visible things under a parent, newest first, each with its place, after the place `before`."""
        found = self.rows(
            "SELECT created_at, seq, doc FROM things WHERE kind = ? AND parent = ? AND visible"
            " AND (created_at, seq) < (?, ?) ORDER BY created_at DESC, seq DESC LIMIT ?",
            kind,
            parent,
            *(before or ("~", 0)),
            limit,
        )
        return [((row["created_at"], row["seq"]), json.loads(row["doc"])) for row in found]


def is_visible(kind: str, doc: Doc) -> bool:
    """An external deposit appears only once it is completed; everything else at once."""
    return kind != "deposits" or doc.get("method") != "external" or doc.get("status") == "completed"


def shown(doc: Doc) -> Doc:
    """A thing as the API shows it: names that start with an underscore stay inside."""
    return {name: value for name, value in doc.items() if not name.startswith("_")}
