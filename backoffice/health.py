"""Whether the office is alive, and whether it can work: for load balancers and whoever watches."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

# Loading it here also makes the web process publish through our Celery application.
from backoffice.celery import app

FINE = "ok"
BROKER_SECONDS = 1


@login_not_required
@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """Alive: this process answers. Looks at nothing else, so that a lost database does not restart it."""
    return JsonResponse({"alive": True})


@login_not_required
@never_cache
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Ready: database, migrations and broker. 503 with the parts that are missing, and no details of them."""
    parts = {name: examine() for name, examine in PARTS.items()}
    ready = all(state == FINE for state in parts.values())
    return JsonResponse({"ready": ready, **parts}, status=200 if ready else 503)


def database() -> str:
    """Whether the database answers."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unreachable"
    return FINE


def migrations() -> str:
    """Whether the tables are those that this code expects."""
    try:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    except DatabaseError:
        return "unknown"
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    return f"{missing} not applied" if missing else FINE


def broker() -> str:
    """Whether a bell would be heard. Takes about a second at most."""
    try:
        with app.connection_for_write() as line:
            line.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
            line.default_channel  # noqa: B018  (opening a channel is the question)
    except Exception:  # noqa: BLE001  (each broker's client raises what it likes; none of it is for the public)
        return "unreachable"
    return FINE


PARTS: dict[str, Callable[[], str]] = {"database": database, "migrations": migrations, "broker": broker}

urlpatterns: list[Any] = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
]
