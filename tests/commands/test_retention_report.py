"""`retention_report` says what is overdue, and ends with 1 when anything is."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from backoffice.delivery.models import Attempt, RawAnswer
from tests.commands.conftest import Run


@pytest.fixture(autouse=True)
def an_empty_spool(settings: Settings, tmp_path: Path) -> None:
    settings.SPOOL_DIR = tmp_path


def test_all_is_well(run: Run) -> None:
    ran = run("retention_report")
    assert (ran.exit_code, ran.summary) == (0, "Nothing is kept past its time; 0 destroyed, 0 kept.")


def test_something_is_overdue(run: Run, now: datetime) -> None:
    attempt = Attempt.objects.create(kind="card_order", request_id=1, number=1, started_at=now)
    RawAnswer.objects.create(attempt=attempt, sealed=b"x", received_at=now - timedelta(hours=75))
    ran = run("retention_report")
    assert (ran.exit_code, ran.summary) == (1, "1 raw answers are kept past their time.")
    assert "overdue: envelopes 0, raw answers 1, spooled files 0" in ran.lines
