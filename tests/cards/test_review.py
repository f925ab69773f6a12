"""Compliance's word on cardholders."""

from datetime import datetime

import pytest
from django.contrib.auth.models import Group
from django.db import Error, transaction

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.emulator import Emulator
from backoffice.endl import Client
from cards import review, sync
from cards.models import Cardholder, CardholderReview, Customer
from tests.people import as_now

Verdict = CardholderReview.Verdict


def say(holder: Cardholder, by: User, now: datetime, verdict: Verdict, reason: str = "") -> CardholderReview:
    return review.review_cardholder(cardholder=holder, verdict=verdict, reason=reason, by=by, now=now)


def state_of(holder: Cardholder) -> str:
    return Cardholder.objects.get(pk=holder.pk).review_state


def test_the_newest_word_counts(cardholder: Cardholder, compliance: User, now: datetime) -> None:
    say(cardholder, compliance, now, Verdict.REJECTED, "Moved away")
    assert state_of(cardholder) == "rejected"
    say(cardholder, compliance, now, Verdict.APPROVED)
    assert state_of(cardholder) == "approved"
    assert cardholder.reviews.count() == 3


def test_it_is_on_record_with_before_and_after(
    cardholder: Cardholder, compliance: User, now: datetime
) -> None:
    say(cardholder, compliance, now, Verdict.REJECTED, "Moved away")
    entry = Entry.objects.filter(verb="cardholder.review").latest("id")
    assert (entry.old, entry.new, entry.reason) == (
        {"review": "approved"},
        {"review": "rejected"},
        "Moved away",
    )


def test_a_rejection_needs_a_reason(cardholder: Cardholder, compliance: User, now: datetime) -> None:
    with pytest.raises(review.NoReason):
        say(cardholder, compliance, now, Verdict.REJECTED, "  ")
    assert state_of(cardholder) == "approved"


@pytest.mark.parametrize("who", ["maker", "checker", "manager", "auditor", "administrator", "superuser"])
def test_only_compliance(
    cardholder: Cardholder, who: str, request: pytest.FixtureRequest, now: datetime
) -> None:
    person = request.getfixturevalue(who)
    with pytest.raises(NotAllowed):
        say(cardholder, person, now, Verdict.APPROVED)
    assert review.why_not_review(cardholder, person)


class TestWhoRegisteredSomebody:
    @pytest.fixture
    def both(self, manager: User) -> User:
        manager.groups.add(Group.objects.get(name=roles.COMPLIANCE))
        return as_now(manager)

    def test_may_not_review_them(self, cardholder: Cardholder, both: User, now: datetime) -> None:
        with pytest.raises(review.OwnRegistration):
            say(cardholder, both, now, Verdict.APPROVED)
        assert "another person" in review.why_not_review(cardholder, both)
        assert Entry.objects.filter(verb="cardholder.review", result="refused").exists()

    def test_not_even_behind_the_desks_back(self, cardholder: Cardholder, both: User, now: datetime) -> None:
        row = CardholderReview(
            cardholder=cardholder, verdict="approved", by=both, registered_by=both, made_at=now
        )
        with pytest.raises(Error, match="review_not_by_who_registered"), transaction.atomic():
            row.save()

    def test_others_may(self, cardholder: Cardholder, compliance: User) -> None:
        assert review.who_registered(cardholder) == User.objects.get(username="manager")
        assert review.why_not_review(cardholder, compliance) == ""


def test_who_was_found_by_sync_starts_unreviewed_and_was_registered_by_nobody(
    business: Customer, emulator: Emulator, endl: Client, compliance: User, now: datetime
) -> None:
    emulator.seed(cardholders=[{"customerId": business.endl_id}])
    sync.sync_cardholders(customer=business, endl=endl, by="system: sync", now=now)
    holder = Cardholder.objects.get()
    assert holder.review_state == "unreviewed"
    assert say(holder, compliance, now, Verdict.APPROVED).registered_by is None


def test_reviews_never_change_or_go(cardholder: Cardholder) -> None:
    for deed in (
        lambda: CardholderReview.objects.update(verdict="rejected", reason="x"),
        lambda: CardholderReview.objects.all().delete(),
    ):
        with pytest.raises(Error), transaction.atomic():
            deed()
