"""Emptying tables whose rows may never go: only between tests, and only their triggers step aside."""

from collections.abc import Iterator

import pytest
from django.db import connection

from backoffice.triggers import all_triggers


def takes_real_commits(request: pytest.FixtureRequest) -> bool:
    """Whether the test's rows are committed, so that Django empties every table after it."""
    marker = request.node.get_closest_marker("django_db")
    is_marked = marker is not None and bool(marker.kwargs.get("transaction"))
    return is_marked or bool({"transactional_db", "live_server"} & set(request.fixturenames))


@pytest.fixture(autouse=True)
def rows_go_after_real_commits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Drop SQLite's DELETE triggers before its tables are emptied; the flush's post_migrate brings them back.

    PostgreSQL empties with TRUNCATE, which asks no row.
    """
    if not takes_real_commits(request):
        yield
        return
    request.getfixturevalue("transactional_db")
    yield
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for trigger in all_triggers():
                if trigger.event == "DELETE":
                    cursor.execute(f"DROP TRIGGER IF EXISTS {trigger.name}")
