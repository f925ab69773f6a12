"""Card details go when the card is no longer active, or after 72 hours."""

from datetime import datetime, timedelta

import pytest
from pytest_django import Settings

from backoffice.audit.models import Entry
from backoffice.delivery import raw
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer
from cards import retention
from cards.models import Card, CardOrder, SealedDetails


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
