"""How often anybody may look: counted in the database, under locks, and closed when in doubt."""

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import DatabaseError
from pytest_django import Settings

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.endl import CardDetails, PrivateKey
from cards import budgets, looks, retention, reveal
from cards.models import CardReveal, SealedDetails
from tests.cards.conftest import more_details
from tests.threads import at_once, losers

ROUNDS = int(os.environ.get("RACE_ROUNDS", "50"))
Another = Callable[..., User]


def look(details: SealedDetails, by: User, now: datetime) -> CardReveal:
    """Begin a look, and open the envelope or not: it counts from here."""
    return looks.begin(details=details, kind="payment", reason="To pay", by=by, now=now).look


def count(**filters: object) -> int:
    return CardReveal.objects.filter(**filters).count()


class TestACard:
    def test_is_looked_at_three_times_by_whomever(
        self, details: SealedDetails, manager: User, another: Another, now: datetime
    ) -> None:
        others = [another(f"manager{number}", roles.MANAGER) for number in (2, 3, 4)]
        for person in (manager, *others[:2]):
            look(details, person, now)
        with pytest.raises(budgets.TooManyLooks, match="looked at 3 times"):
            look(details, others[2], now)
        assert budgets.left_of(details) == 0

    def test_a_refused_try_has_its_row_and_costs_nothing(
        self, details: SealedDetails, manager: User, auditor: User, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            look(details, auditor, now)
        refused = CardReveal.objects.get()
        assert (refused.by, refused.result, refused.reason) == (auditor, "refused", "To pay")
        assert refused.refused_because == "Your roles do not let you do this."
        assert budgets.left_of(details) == 3

    def test_a_failed_look_costs_the_card_nothing_but_counts_for_the_person(
        self, details: SealedDetails, manager: User, now: datetime
    ) -> None:
        CardReveal.objects.filter(pk=look(details, manager, now).pk).update(result="failed")
        assert budgets.left_of(details) == 3
        assert budgets.looks_of(manager).count() == 1

    def test_opening_the_mask_costs_nothing(
        self, details: SealedDetails, manager: User, now: datetime
    ) -> None:
        reveal.start_look(
            details=details, purpose=CardReveal.Purpose.MASK, reason="mask", by=manager, now=now
        )
        assert budgets.left_of(details) == 3

    def test_none_at_all_where_the_setting_says_so(
        self, details: SealedDetails, manager: User, now: datetime, settings: Settings
    ) -> None:
        settings.REVEALS_PER_CARD = 0
        with pytest.raises(budgets.TooManyLooks):
            look(details, manager, now)


class TestAPerson:
    @pytest.fixture(autouse=True)
    def no_end_of_looks(self, settings: Settings) -> None:
        settings.REVEALS_PER_CARD = 1000

    def test_looks_five_times_in_ten_minutes(
        self, details: SealedDetails, manager: User, now: datetime
    ) -> None:
        for minute in range(5):
            look(details, manager, now + timedelta(minutes=minute))
        late = now + timedelta(minutes=9, seconds=59)
        with pytest.raises(budgets.TooManyLooks, match=rf"again at {now + timedelta(minutes=10):%H:%M:%S}"):
            look(details, manager, late)
        look(details, manager, late + timedelta(seconds=2))

    def test_looks_twenty_times_in_a_day(self, details: SealedDetails, manager: User, now: datetime) -> None:
        for hour in range(20):
            look(details, manager, now + timedelta(hours=hour))
        with pytest.raises(budgets.TooManyLooks, match="20 times in 24 hours"):
            look(details, manager, now + timedelta(hours=23, minutes=59))
        assert Entry.objects.filter(verb="card.open", result="refused").count() == 1
        look(details, manager, now + timedelta(hours=24, minutes=1))

    def test_none_at_all_where_the_settings_say_so(
        self, details: SealedDetails, manager: User, now: datetime, settings: Settings
    ) -> None:
        for name in ("REVEALS_PER_TEN_MINUTES", "REVEALS_PER_DAY"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(settings, name, 0)
                with pytest.raises(budgets.TooManyLooks):
                    look(details, manager, now)

    def test_sees_nothing_when_the_count_cannot_be_had(
        self, details: SealedDetails, manager: User, now: datetime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(**_given: object) -> str:
            raise DatabaseError("no count today")

        monkeypatch.setattr(budgets, "why_not", broken)
        with pytest.raises(DatabaseError):
            look(details, manager, now)
        assert not count(result="started")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
class TestAtTheSameMoment:
    def test_four_people_get_three_looks_at_a_card(
        self, details: SealedDetails, another: Another, now: datetime
    ) -> None:
        people = [another(f"manager{number}", roles.MANAGER) for number in range(2, 6)]
        outcomes = at_once(*(partial(look, details, person, now) for person in people))
        assert [type(loser) for loser in losers(outcomes)] == [budgets.TooManyLooks]
        assert (count(result="started"), count(result="refused")) == (3, 1)

    def test_one_person_at_six_cards_gets_five_looks(
        self, details: SealedDetails, manager: User, now: datetime
    ) -> None:
        cards = [details, *more_details(details, 5)]
        outcomes = at_once(*(partial(look, each, manager, now) for each in cards))
        assert [type(loser) for loser in losers(outcomes)] == [budgets.TooManyLooks]
        assert count(result="started") == 5

    def test_the_code_of_one_look_is_shown_once(
        self, details: SealedDetails, manager: User, keys: list[PrivateKey], now: datetime
    ) -> None:
        view = looks.begin(details=details, kind="payment", reason="To pay", by=manager, now=now)
        reveal.unseal(view.look, keys, now=now)
        ask = partial(looks.ask_cvv, details=details, token=view.token, by=manager, now=now)
        assert len(losers(at_once(*[ask] * 8))) == 7
        assert Entry.objects.filter(verb="card.reveal_cvv", result="done").count() == 1

    def test_a_purge_and_a_look_leave_a_value_with_its_row_or_the_word_destroyed(
        self, details: SealedDetails, manager: User, keys: list[PrivateKey], now: datetime, settings: Settings
    ) -> None:
        """Each round has details of its own. RACE_ROUNDS=1000 for the long form."""
        settings.REVEALS_PER_TEN_MINUTES = settings.REVEALS_PER_DAY = ROUNDS + 1
        endings = {"seen": 0, "destroyed": 0}
        for each in more_details(details, ROUNDS):
            seen, gone = at_once(partial(_see, each, manager, keys, now), partial(_purge, each, now))
            assert gone == 1
            row = CardReveal.objects.get(details=each)
            if isinstance(seen, CardDetails):
                assert row.result == "done"
                endings["seen"] += 1
            else:
                assert isinstance(seen, reveal.DetailsGone), repr(seen)
                assert "destroyed on" in seen.sentence
                assert row.result == "refused"
                endings["destroyed"] += 1
            assert SealedDetails.objects.get(pk=each.pk).envelope is None
        assert sum(endings.values()) == ROUNDS


def _see(details: SealedDetails, by: User, keys: list[PrivateKey], now: datetime) -> CardDetails:
    return reveal.unseal(look(details, by, now), keys, now=now)


def _purge(details: SealedDetails, now: datetime) -> int:
    return retention._destroy(details, "a race", by="system: race", now=now)
