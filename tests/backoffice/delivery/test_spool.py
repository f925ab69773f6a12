"""An answer that comes while the database is gone waits in a file, and is taken in when it is back."""

import stat

import pytest
from django.db import OperationalError
from django.utils import timezone

from backoffice.delivery import raw
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer

pytestmark = pytest.mark.django_db
ANSWER = Answer(
    status=201, body=b'{"cardId": "crd_1"}', headers={"content-type": "application/json"}, request_id="r1"
)


@pytest.fixture
def attempt():
    return Attempt.objects.create(kind="card_order", request_id=7, number=1, started_at=timezone.now())


@pytest.fixture
def spool(settings, tmp_path):
    settings.SPOOL_DIR = tmp_path / "spool"
    return settings.SPOOL_DIR


@pytest.fixture
def spooled(attempt, spool, monkeypatch):
    """An answer that came while the database was gone."""

    def gone(**_anything):
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as while_gone:
        while_gone.setattr(RawAnswer.objects, "get_or_create", gone)
        with pytest.raises(OperationalError):
            raw.keep(attempt, ANSWER)
    return next(spool.iterdir())


def test_it_waits_in_a_private_file_that_tells_nothing(spooled):
    assert stat.S_IMODE(spooled.stat().st_mode) == 0o600
    assert stat.S_IMODE(spooled.parent.stat().st_mode) == 0o700
    assert b"crd_1" not in spooled.read_bytes()


def test_it_is_taken_in_once(spooled, attempt):
    assert raw.take_in_spool() == 1
    assert raw.take_in_spool() == 0
    assert not spooled.exists()
    assert raw.unpack(RawAnswer.objects.get(attempt=attempt)) == ANSWER


def test_it_stays_where_it_is_when_nobody_knows_its_attempt(spooled, attempt):
    Attempt.objects.all().delete()
    assert raw.take_in_spool() == 0
    assert spooled.exists()


def test_a_spool_that_was_never_needed_is_no_trouble(spool):
    assert raw.take_in_spool() == 0
