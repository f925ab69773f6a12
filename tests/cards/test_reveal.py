"""Opening details: on record first, in one place, and only what belongs to the card."""

from collections.abc import Callable
from datetime import datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.db import Error, transaction

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.emulator import Emulator
from backoffice.endl import PrivateKey
from cards import retention, reveal
from cards.models import Card, CardReveal, SealedDetails

Purpose = CardReveal.Purpose


def look(details: SealedDetails, by: User, now: datetime, purpose: Purpose = Purpose.REVEAL) -> CardReveal:
    return reveal.start_look(details=details, purpose=purpose, reason="To pay", by=by, now=now)


def test_the_number_is_the_cards_own(
    details: SealedDetails, keys: list[PrivateKey], manager: User, emulator: Emulator, now: datetime
) -> None:
    opened = reveal.unseal(look(details, manager, now), keys, now=now)
    assert opened.pan == emulator.world.rows("SELECT number FROM details")[0]["number"]
    assert opened.last4 == details.last4
    assert CardReveal.objects.get().result == CardReveal.Result.DONE
    assert repr(opened) == "CardDetails()"


def test_a_look_is_on_record_before_anything_is_opened(
    details: SealedDetails, manager: User, now: datetime
) -> None:
    look(details, manager, now)
    assert CardReveal.objects.get().result == CardReveal.Result.STARTED
    entry = Entry.objects.get(verb="card.reveal")
    assert (entry.actor, entry.reason) == (manager, "To pay")


def test_a_failed_look_is_on_record_too(details: SealedDetails, manager: User, now: datetime) -> None:
    stranger = PrivateKey(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    with pytest.raises(reveal.CannotOpen) as told:
        reveal.unseal(look(details, manager, now), [stranger], now=now)
    assert CardReveal.objects.get().result == CardReveal.Result.FAILED
    assert str(told.value) == str(reveal.CannotOpen())
    assert told.value.__cause__ is None


def test_every_failure_sounds_the_same(
    details: SealedDetails, keys: list[PrivateKey], manager: User, now: datetime
) -> None:
    looked = look(details, manager, now)
    looked.details.envelope = b"damaged"
    with pytest.raises(reveal.CannotOpen) as told:
        reveal.unseal(looked, keys, now=now)
    assert str(told.value) == str(reveal.CannotOpen())


@pytest.mark.parametrize(
    "who", ["maker", "checker", "compliance", "auditor", "administrator", "superuser", "outsider"]
)
@pytest.mark.parametrize("purpose", Purpose)
def test_only_managers_of_the_customer(
    details: SealedDetails, who: str, purpose: Purpose, request: pytest.FixtureRequest, now: datetime
) -> None:
    with pytest.raises(NotAllowed):
        look(details, request.getfixturevalue(who), now, purpose)
    assert not CardReveal.objects.exists()
    assert Entry.objects.get(verb="card.open").result == Entry.Result.REFUSED


class TestTheMask:
    @pytest.fixture
    def unsaid(self, details: SealedDetails) -> SealedDetails:
        """Details of which Endl's answer said nothing in the open."""
        SealedDetails.objects.update(last4="", exp_month=None, exp_year=None)
        return SealedDetails.objects.get()

    def test_it_is_learned_from_the_envelope(
        self, unsaid: SealedDetails, card: Card, keys: list[PrivateKey], manager: User, now: datetime
    ) -> None:
        masked = reveal.open_mask(details=unsaid, keys=keys, by=manager, now=now)
        assert (masked.last4, masked.exp_month) == (card.last4, card.exp_month)
        assert masked.opened_at == now
        assert CardReveal.objects.get().purpose == Purpose.MASK

    def test_only_the_end_of_the_number_is_written(
        self, unsaid: SealedDetails, keys: list[PrivateKey], manager: User, emulator: Emulator, now: datetime
    ) -> None:
        reveal.open_mask(details=unsaid, keys=keys, by=manager, now=now)
        number = emulator.world.rows("SELECT number FROM details")[0]["number"]
        assert number not in str(list(SealedDetails.objects.values_list()))


class TestDetailsOfAnotherCard:
    @pytest.mark.parametrize(
        ("model", "column"),
        [
            (SealedDetails, {"last4": "0000"}),
            (SealedDetails, {"exp_month": 0}),
            (SealedDetails, {"exp_year": 2001}),
            (Card, {"last4": "0000"}),
            (Card, {"exp_year": 2001}),
        ],
    )
    def test_they_are_quarantined_and_never_shown(
        self, details: SealedDetails, keys: list[PrivateKey], manager: User, now: datetime, *,
        model: type[SealedDetails] | type[Card], column: dict[str, object],
    ) -> None:  # fmt: skip
        model._default_manager.update(**column)
        with pytest.raises(reveal.CannotOpen):
            reveal.unseal(look(SealedDetails.objects.get(), manager, now), keys, now=now)
        assert SealedDetails.objects.get().quarantined_at == now
        assert Entry.objects.filter(verb="card.quarantine").exists()
        with pytest.raises(reveal.DetailsGone, match="quarantined"):
            look(SealedDetails.objects.get(), manager, now)

    def test_a_year_of_two_digits_is_the_same_year(
        self, details: SealedDetails, keys: list[PrivateKey], manager: User, now: datetime
    ) -> None:
        assert details.exp_year is not None
        SealedDetails.objects.update(exp_year=details.exp_year % 100)
        reveal.unseal(look(SealedDetails.objects.get(), manager, now), keys, now=now)
        assert SealedDetails.objects.get().quarantined_at is None


def test_what_was_destroyed_says_when_and_why(
    details: SealedDetails, card: Card, manager: User, now: datetime
) -> None:
    Card.objects.update(status="used")
    retention.destroy_due_details(now=now)
    with pytest.raises(reveal.DetailsGone, match=rf"{now:%Y-%m-%d}: the card is used"):
        look(details, manager, now)


def test_an_envelope_is_kept_or_destroyed_but_never_exchanged(details: SealedDetails) -> None:
    deeds: list[Callable[[], object]] = [
        lambda: SealedDetails.objects.update(envelope=b"another"),
        lambda: SealedDetails.objects.all().delete(),
        lambda: SealedDetails.objects.update(envelope=None),
    ]
    for deed in deeds:
        with pytest.raises(Error), transaction.atomic():
            deed()


def test_a_look_needs_a_reason_and_stays(details: SealedDetails, manager: User, now: datetime) -> None:
    with pytest.raises(Error), transaction.atomic():
        CardReveal.objects.create(
            details=details, by=manager, purpose=Purpose.REVEAL, reason="", started_at=now
        )
    look(details, manager, now)
    with pytest.raises(Error), transaction.atomic():
        CardReveal.objects.all().delete()
