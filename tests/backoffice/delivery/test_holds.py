"""A person stops money, cards or everything; another person lets them go on."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from backoffice.approvals.decisions import SameHands
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import holds
from backoffice.delivery.models import Hold

pytestmark = pytest.mark.django_db
MONEY, CARDS, EVERYTHING = Hold.Scope.MONEY, Hold.Scope.CARDS, Hold.Scope.EVERYTHING


def held(by, scope=MONEY):
    return holds.hold(scope=scope, reason="The amounts look wrong.", by=by, now=timezone.now())


@pytest.mark.parametrize(
    ("scope", "stops_money", "stops_cards"),
    [(MONEY, True, False), (CARDS, False, True), (EVERYTHING, True, True)],
)
def test_it_stops_what_it_names(checker, scope, stops_money, stops_cards):
    held(checker, scope)
    assert (holds.is_held(MONEY), holds.is_held(CARDS)) == (stops_money, stops_cards)


def test_another_person_lifts_it(checker, administrator):
    made = held(checker)
    holds.release(hold=made, reason="They were right.", by=administrator, now=timezone.now())
    assert not holds.is_held(MONEY)
    assert list(Entry.objects.order_by("id").values_list("verb", flat=True)) == ["line.hold", "line.release"]


def test_who_set_it_cannot_lift_it(checker):
    made = held(checker)
    with pytest.raises(SameHands):
        holds.release(hold=made, reason="Never mind.", by=checker, now=timezone.now())
    assert holds.is_held(MONEY)
    assert Entry.objects.get(verb="line.release").result == "refused"


def test_the_database_holds_it_too(checker):
    made = held(checker)
    with pytest.raises(IntegrityError), transaction.atomic():
        Hold.objects.filter(pk=made.pk).update(lifted_by=checker, lifted_at=timezone.now())


def test_it_is_set_once(checker, administrator):
    held(checker)
    with pytest.raises(holds.AlreadyHeld):
        held(administrator)


def test_it_is_lifted_once(checker, checker2, administrator):
    made = held(checker)
    holds.release(hold=made, reason="Fine.", by=administrator, now=timezone.now())
    with pytest.raises(holds.NotHeld):
        holds.release(hold=made, reason="Fine.", by=checker2, now=timezone.now())


def test_it_needs_a_reason(checker):
    with pytest.raises(holds.NoReason):
        holds.hold(scope=MONEY, reason="  ", by=checker, now=timezone.now())


def test_a_maker_cannot_set_it(maker):
    with pytest.raises(NotAllowed):
        held(maker)


def test_what_is_held_waits_and_goes_on(trip, checker, administrator):
    scope = MONEY if trip.kind == "deposit" else CARDS
    made = held(checker, scope)
    trip.deliver()
    assert trip.effects == []
    assert trip.attempts == []
    holds.release(hold=made, reason="Fine.", by=administrator, now=timezone.now())
    trip.deliver()
    assert len(trip.effects) == 1
