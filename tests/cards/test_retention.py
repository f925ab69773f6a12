"""Card details go with their card, when looks or time are used up, or when a person says so."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import TestCase
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import raw
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer
from cards import retention
from cards.models import Card, CardOrder, CardReveal, SealedDetails


def kept() -> bool:
    return SealedDetails.objects.get().envelope is not None


def test_they_stay_for_three_days(details: SealedDetails, now: datetime) -> None:
    assert retention.destroy_due_details(now=now + timedelta(hours=71, minutes=59)) == 0
    assert kept()
    assert retention.destroy_due_details(now=now + timedelta(hours=72)) == 1
    assert not kept()
    assert SealedDetails.objects.get().destroyed_because == "72 hours have passed"


def test_the_setting_shortens_it(details: SealedDetails, now: datetime, settings: Settings) -> None:
    settings.DETAILS_HOURS = 1
    assert retention.destroy_due_details(now=now + timedelta(hours=1)) == 1


@pytest.mark.parametrize("status", ["used", "expired", "cancelled", "something_new"])
def test_they_go_with_the_card(details: SealedDetails, now: datetime, status: str) -> None:
    Card.objects.update(status=status)
    assert retention.destroy_due_details(now=now) == 1
    gone = SealedDetails.objects.get()
    assert (gone.envelope, gone.destroyed_at) == (None, now)
    assert gone.destroyed_because == f"the card is {status}"
    assert Entry.objects.get(verb="card.destroy_details").reason == gone.destroyed_because


@pytest.mark.parametrize("status", ["active", ""])
def test_they_stay_with_an_active_card(details: SealedDetails, now: datetime, status: str) -> None:
    Card.objects.update(status=status)
    assert retention.destroy_due_details(now=now) == 0


def test_they_go_without_a_card_too(details: SealedDetails, order: CardOrder, now: datetime) -> None:
    assert retention.destroy_due_details(now=now + timedelta(hours=73)) == 1


def test_they_are_destroyed_once(details: SealedDetails, now: datetime) -> None:
    retention.destroy_due_details(now=now + timedelta(days=4))
    assert retention.destroy_due_details(now=now + timedelta(days=5)) == 0
    assert Entry.objects.filter(verb="card.destroy_details").count() == 1


def test_what_is_shown_masked_stays(details: SealedDetails, now: datetime) -> None:
    retention.destroy_due_details(now=now + timedelta(days=4))
    assert SealedDetails.objects.get().last4 == details.last4


def test_raw_copies_go_too(db: None, now: datetime) -> None:
    attempt = Attempt.objects.create(kind="card_order", request_id=1, number=1, started_at=now)
    raw.keep(attempt, Answer(201, b"{}", {}))
    retention.destroy_due_details(now=now + timedelta(hours=71))
    assert RawAnswer.objects.exists()
    retention.destroy_due_details(now=now + timedelta(hours=73))
    assert not RawAnswer.objects.exists()


def looked_at(details: SealedDetails, by: User, at: datetime, **more: Any) -> CardReveal:
    return CardReveal.objects.create(
        details=details, by=by, kind="other", reason="An invoice", started_at=at,
        **{"purpose": "reveal", "result": "done", "visible_until": at + timedelta(seconds=30), **more},
    )  # fmt: skip


class TestLooks:
    def test_they_go_when_every_look_is_used_up(
        self, details: SealedDetails, manager: User, now: datetime, settings: Settings
    ) -> None:
        for _ in range(settings.REVEALS_PER_CARD - 1):
            looked_at(details, manager, now)
        assert retention.destroy_due_details(now=now + timedelta(hours=1)) == 0
        looked_at(details, manager, now)
        assert retention.destroy_due_details(now=now + timedelta(hours=1)) == 1
        assert SealedDetails.objects.get().destroyed_because == "they were looked at 3 times"

    def test_not_while_somebody_looks(self, details: SealedDetails, manager: User, now: datetime) -> None:
        looks = [looked_at(details, manager, now) for _ in range(3)]
        assert retention.destroy_due_details(now=now + timedelta(seconds=29)) == 0
        CardReveal.objects.filter(pk__in=[look.pk for look in looks]).update(hidden_at=now)
        assert retention.destroy_due_details(now=now + timedelta(seconds=29)) == 1

    @pytest.mark.parametrize(
        "more",
        [{"result": "failed"}, {"result": "refused", "refused_because": "Too often."}, {"purpose": "mask"}],
    )
    def test_what_showed_nothing_does_not_count(
        self, details: SealedDetails, manager: User, now: datetime, more: dict[str, str]
    ) -> None:
        for _ in range(4):
            looked_at(details, manager, now, **more)
        assert retention.destroy_due_details(now=now + timedelta(hours=1)) == 0

    def test_either_rule_can_be_switched_off(
        self, details: SealedDetails, manager: User, now: datetime, settings: Settings
    ) -> None:
        settings.DESTROY_WHEN_LOOKS_ARE_USED_UP = settings.DESTROY_WHEN_NOT_ACTIVE = False
        for _ in range(3):
            looked_at(details, manager, now)
        Card.objects.update(status="used")
        assert retention.destroy_due_details(now=now + timedelta(hours=71)) == 0
        assert retention.destroy_due_details(now=now + timedelta(hours=72)) == 1


class TestDestroyNow:
    def test_a_manager_destroys_them_with_a_reason(
        self, details: SealedDetails, manager: User, now: datetime
    ) -> None:
        retention.destroy_now(details=details, reason="The card was sent by mistake", by=manager, now=now)
        gone = SealedDetails.objects.get()
        assert (gone.envelope, gone.destroyed_at) == (None, now)
        assert gone.destroyed_because == "manager destroyed them: The card was sent by mistake"
        assert Entry.objects.get(verb="card.destroy_details").actor == manager

    def test_the_raw_copies_go_with_them(
        self, details: SealedDetails, compliance: User, now: datetime, settings: Settings
    ) -> None:
        attempt = Attempt.objects.get(kind="card_order")
        RawAnswer.objects.create(attempt=attempt, sealed=b"x")
        settings.SPOOL_DIR.mkdir(parents=True, exist_ok=True)
        file = settings.SPOOL_DIR / f"card_order-{details.order_id}-1.sealed"
        file.write_bytes(b"x")
        with TestCase.captureOnCommitCallbacks(execute=True):
            retention.destroy_now(details=details, reason="Not wanted", by=compliance, now=now)
        assert not RawAnswer.objects.exists()
        assert not file.exists()

    def test_only_once(self, details: SealedDetails, manager: User, now: datetime) -> None:
        retention.destroy_now(details=details, reason="Not wanted", by=manager, now=now)
        with pytest.raises(retention.AlreadyDestroyed):
            retention.destroy_now(details=details, reason="Not wanted", by=manager, now=now)

    def test_nobody_else(
        self, details: SealedDetails, maker: User, auditor: User, administrator: User, outsider: User,
        now: datetime,
    ) -> None:  # fmt: skip
        for person in (maker, auditor, administrator, outsider):
            with pytest.raises(NotAllowed):
                retention.destroy_now(details=details, reason="Not wanted", by=person, now=now)
        assert kept()
        assert Entry.objects.filter(verb="card.destroy_details", result=Entry.Result.REFUSED).count() == 4


def test_spooled_answers_past_their_time_are_overwritten_and_removed(
    db: None, now: datetime, settings: Settings, tmp_path: Path
) -> None:
    settings.SPOOL_DIR = tmp_path
    old, half, young = (tmp_path / name for name in ("a-1-1.sealed", "a-2-1.part", "a-3-1.sealed"))
    for file in (old, half, young):
        file.write_bytes(b"sealed")
    held = old.open("rb")
    past = (now - timedelta(hours=73)).timestamp()
    for file in (old, half):
        os.utime(file, (past, past))
    retention.destroy_due_details(now=now)
    assert [file.name for file in tmp_path.iterdir()] == [young.name]
    with held:
        assert held.read() == bytes(6)
