"""The proof of retention: what is overdue is found, said and alarmed; what is destroyed cannot be had."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import alerts, raw
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer
from cards import retention, retention_report
from cards.models import Card, RetentionReport, SealedDetails
from cards.tasks import report_on_retention
from tests.cards.test_retention import looked_at

BY = "command: ops"


@pytest.fixture(autouse=True)
def an_empty_spool(settings: Settings, tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    settings.SPOOL_DIR = folder
    return folder


def report(now: datetime) -> RetentionReport:
    return retention_report.make_report(by=BY, now=now)


def test_an_empty_office_is_well(db: None, now: datetime) -> None:
    made = report(now)
    assert made.is_well
    assert retention_report.sentence(made) == "Nothing is kept past its time; 0 destroyed, 0 kept."


def test_what_is_destroyed_is_counted_by_reason_since_the_last_report(
    details: SealedDetails, now: datetime
) -> None:
    Card.objects.update(status="used")
    retention.destroy_due_details(now=now)
    made = report(now + timedelta(minutes=1))
    assert (made.destroyed, made.kept, made.tried, made.opened) == (1, 0, 1, 0)
    assert made.reasons == [["the card is used", 1]]
    assert report(now + timedelta(minutes=2)).reasons == []


def test_a_persons_words_are_not_spread(details: SealedDetails, manager: User, now: datetime) -> None:
    retention.destroy_now(details=details, reason="Sent by mistake", by=manager, now=now)
    assert report(now + timedelta(minutes=1)).reasons == [["a person destroyed them", 1]]


class TestOverdue:
    def test_by_time(self, details: SealedDetails, now: datetime) -> None:
        assert report(now + timedelta(hours=73)).overdue_details == 0
        made = report(now + timedelta(hours=74, minutes=1))
        assert (made.overdue_details, made.is_well) == (1, False)
        assert retention_report.sentence(made) == "1 envelopes are kept past their time."

    def test_by_the_end_of_the_card(self, details: SealedDetails, now: datetime) -> None:
        Card.objects.update(status="used", changed_at=now)
        assert report(now + timedelta(hours=1)).overdue_details == 0
        assert report(now + timedelta(hours=3)).overdue_details == 1

    def test_by_used_up_looks(self, details: SealedDetails, manager: User, now: datetime) -> None:
        for _ in range(3):
            looked_at(details, manager, now)
        assert report(now + timedelta(hours=1)).overdue_details == 0
        assert report(now + timedelta(hours=3)).overdue_details == 1

    def test_raw_answers_and_spooled_files(self, db: None, now: datetime, an_empty_spool: Path) -> None:
        attempt = Attempt.objects.create(kind="card_order", request_id=1, number=1, started_at=now)
        raw.keep(attempt, Answer(201, b"{}", {}))
        (an_empty_spool / "card_order-1-1.sealed").write_bytes(b"x")
        made = report(now + timedelta(hours=75))
        assert (made.overdue_answers, made.overdue_files) == (1, 1)
        retention.destroy_due_details(now=now + timedelta(hours=75))
        assert report(now + timedelta(hours=75)).is_well

    def test_is_on_record_and_an_alert_until_it_is_gone(self, details: SealedDetails, now: datetime) -> None:
        report(now + timedelta(hours=75))
        entry = Entry.objects.get(verb="retention.report")
        assert (entry.result, entry.new["overdue_details"]) == (Entry.Result.FAILED, 1)
        assert alerts.open_alerts().get(kind="retention").message == "1 envelopes are kept past their time."
        retention.destroy_due_details(now=now + timedelta(hours=75))
        report(now + timedelta(hours=76))
        assert not alerts.open_alerts().filter(kind="retention").exists()


class TestTryingToGetAtThem:
    @pytest.fixture
    def destroyed(self, details: SealedDetails, now: datetime) -> SealedDetails:
        retention.destroy_due_details(now=now + timedelta(hours=72))
        return SealedDetails.objects.get()

    def test_nothing_is_to_be_had(self, destroyed: SealedDetails) -> None:
        assert not retention_report.can_be_had(destroyed)

    def test_a_raw_answer_with_an_envelope_is_found(self, destroyed: SealedDetails, now: datetime) -> None:
        attempt = Attempt.objects.get(kind="card_order")
        raw.keep(attempt, Answer(201, b'{"encryptedDetails": "x"}', {}))
        made = report(now + timedelta(minutes=1))
        assert (made.opened, made.is_well) == (1, False)
        assert retention_report.sentence(made) == "1 of 1 destroyed ones could still be had."

    def test_a_raw_answer_without_one_is_no_breach(self, destroyed: SealedDetails) -> None:
        raw.keep(Attempt.objects.get(kind="card_order"), Answer(409, b'{"code": 409}', {}))
        assert not retention_report.can_be_had(destroyed)
        RawAnswer.objects.update(sealed=b"of a key that is gone")
        assert not retention_report.can_be_had(destroyed)

    def test_a_spooled_answer_is_found(self, destroyed: SealedDetails, an_empty_spool: Path) -> None:
        (an_empty_spool / f"card_order-{destroyed.order_id}-2.part").write_bytes(b"x")
        assert retention_report.can_be_had(destroyed)


def test_a_person_with_the_permission_asks_for_one(
    db: None, compliance: User, auditor: User, now: datetime
) -> None:
    assert retention_report.ask_for_report(by=compliance, now=now).by == "compliance"
    with pytest.raises(NotAllowed):
        retention_report.ask_for_report(by=auditor, now=now)


def test_the_daily_task_makes_one(db: None) -> None:
    report_on_retention()
    assert RetentionReport.objects.get().by == "system: retention"


def test_old_spooled_files_are_told_by_their_time(an_empty_spool: Path, now: datetime) -> None:
    file = an_empty_spool / "deposit-1-1.sealed"
    file.write_bytes(b"x")
    os.utime(file, (now.timestamp(), now.timestamp()))
    assert raw.old_files(before=now - timedelta(seconds=1)) == []
    assert raw.old_files(before=now + timedelta(seconds=1)) == [file]
