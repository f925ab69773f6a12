"""Load balancers are told whether the office is alive and ready, and nothing else."""

import time
from unittest import mock

import pytest
from celery import Celery
from django.db import OperationalError
from django.test import Client

from backoffice import health


def test_alive_asks_nobody(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"alive": True})


@pytest.mark.django_db
def test_ready_names_every_part_without_a_login(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.json() == {"ready": True, "database": "ok", "migrations": "ok", "broker": "ok"}
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db
def test_a_broker_that_is_gone_is_named_within_seconds(
    client: Client, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    # Celery prefers the environment to what it is given.
    monkeypatch.delenv("CELERY_BROKER_URL")
    monkeypatch.setattr(
        health, "app", Celery(broker=f"redis://:secret@127.0.0.1:{free_port}/0", set_as_current=False)
    )
    started = time.monotonic()
    answer = client.get("/readyz")
    assert time.monotonic() - started < 3
    assert answer.status_code == 503
    assert answer.json()["broker"] == "unreachable"
    assert b"secret" not in answer.content


@pytest.mark.django_db
def test_migrations_that_wait_are_counted(client: Client) -> None:
    with mock.patch("backoffice.health.MigrationExecutor.migration_plan", return_value=[1, 2]):
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["migrations"]) == (503, "2 not applied")


def test_a_database_that_is_gone_is_named_and_not_described(client: Client) -> None:
    gone = OperationalError("password authentication failed for user office")
    with mock.patch("django.db.backends.base.base.BaseDatabaseWrapper.cursor", side_effect=gone):
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "unreachable"
    assert b"password" not in answer.content


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_only_looking_is_allowed(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405
