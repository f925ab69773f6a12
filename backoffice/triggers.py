"""Rules that no CHECK can hold, kept by the database itself: on PostgreSQL and on SQLite.

SQLite drops a table's triggers when Django rebuilds it, so they are installed after every migrate, and a
system check confirms that they are there. Each application lists its own in its `triggers.py`.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Trigger:
    """A change of a row that the database refuses.

    Attributes:
        name: unique; also the name of PostgreSQL's function.
        table: the table that it guards.
        event: INSERT, UPDATE or DELETE.
        refuses: SQL that is true for a change to refuse; OLD and NEW are the row. "{differs}" compares
            with NULLs in mind on either database.
        message: what the error says.
    """

    name: str
    table: str
    event: str
    refuses: str
    message: str

    def statements(self, vendor: str) -> list[str]:
        """The SQL that installs it anew."""
        return self._for_postgresql() if vendor == "postgresql" else self._for_sqlite()

    def _for_sqlite(self) -> list[str]:
        refuses = self.refuses.replace("{differs}", "IS NOT")
        create = (
            f"CREATE TRIGGER {self.name} BEFORE {self.event} ON {self.table} FOR EACH ROW WHEN {refuses} "
            f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
        )
        return [f"DROP TRIGGER IF EXISTS {self.name}", create]

    def _for_postgresql(self) -> list[str]:
        refuses = self.refuses.replace("{differs}", "IS DISTINCT FROM")
        row = "OLD" if self.event == "DELETE" else "NEW"
        function = (
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
            f"IF {refuses} THEN RAISE EXCEPTION '{self.message}' "
            f"USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN {row}; END $body$"
        )
        create = (
            f"CREATE TRIGGER {self.name} BEFORE {self.event} ON {self.table} "
            f"FOR EACH ROW EXECUTE FUNCTION {self.name}()"
        )
        return [function, f"DROP TRIGGER IF EXISTS {self.name} ON {self.table}", create]


def all_triggers() -> Iterator[Trigger]:
    """Every trigger that the applications list."""
    for name in settings.TRIGGERS:
        yield from import_string(name)


def install_triggers(using: str = "default", **_kwargs: Any) -> None:
    """Install those triggers whose tables are there. Safe to run at any time."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for trigger in all_triggers():
            if trigger.table in tables:
                for statement in trigger.statements(connection.vendor):
                    cursor.execute(statement)


def drop_triggers(using: str = "default", plan: Sequence[Any] | None = None, **_kwargs: Any) -> None:
    """Take SQLite's triggers away before tables change; `install_triggers` brings them back.

    SQLite changes a table by building it anew, and stops when a trigger of another table names it meanwhile.
    """
    connection = connections[using]
    if connection.vendor == "sqlite" and plan:
        with connection.cursor() as cursor:
            for trigger in all_triggers():
                cursor.execute(f"DROP TRIGGER IF EXISTS {trigger.name}")


@register(Tags.database)
def check_triggers(*, databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Find triggers that are listed and not installed. Not before `migrate`, which is what installs them."""
    if sys.argv[1:2] == ["migrate"]:
        return []
    return [
        Error(f"The trigger {name} is not installed.", hint="Run `manage.py migrate`.", id="backoffice.E001")
        for using in databases or ()
        for name in _missing(using)
    ]


def _missing(using: str) -> list[str]:
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    installed = _installed(connection)
    return [
        trigger.name
        for trigger in all_triggers()
        if trigger.table in tables and trigger.name not in installed
    ]


def _installed(connection: Any) -> set[str]:
    query = (
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {name for (name,) in cursor.fetchall()}
