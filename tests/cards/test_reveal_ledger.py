"""The ledger of looks: what it keeps, what it never changes, who reads it, and what it raises alarm about."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, transaction
from django.test import Client as Browser
from pytest_django import Settings

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.delivery.models import Alert
from backoffice.hours import office_hours
from cards import watching
from cards.models import Assignment, Card, CardReveal, SealedDetails
from tests.cards.desk import texts_of, url
from tests.cards.looking import WHY, ask, reveal, told

SignIn = Callable[[User], Browser]
# A Tuesday, at a time when people work.
TUESDAY = datetime(2026, 11, 24, 10, 0, tzinfo=UTC)


@pytest.fixture
def desk(manager: User, client_of: SignIn, card: Card) -> Browser:
    return client_of(manager)


def a_look(details: SealedDetails, by: User, at: datetime, **more: Any) -> CardReveal:
    """A row of the ledger, as if somebody had looked then."""
    return CardReveal.objects.create(
        details=details, by=by, purpose="reveal", kind="payment", reason="To pay", started_at=at,
        **{"result": "done", **more},
    )  # fmt: skip


class TestARow:
    @pytest.mark.parametrize(
        "change",
        [
            {"reason": "another"},
            {"kind": "other"},
            {"address": "192.0.2.1"},
            {"session": "another"},
            {"started_at": TUESDAY},
            {"result": "failed"},
            {"result": "refused"},
            {"refused_because": "late"},
            {"token_hash": "another"},
            {"visible_until": TUESDAY},
            {"copied": ""},
            {"hidden_at": None},
            {"hidden_at": TUESDAY},
            {"ending": "time"},
            {"cvv_shown_at": None},
            {"extended_at": TUESDAY},
        ],
    )
    def test_once_ended_changes_no_more(
        self, details: SealedDetails, manager: User, change: dict[str, Any], now: datetime
    ) -> None:
        look = a_look(
            details, manager, now, token_hash="t", visible_until=now, hidden_at=now, ending="person",
            copied="number ", cvv_shown_at=now, extended_at=now,
        )  # fmt: skip
        with pytest.raises(Error), transaction.atomic():
            CardReveal.objects.filter(pk=look.pk).update(**change)

    def test_takes_its_end(self, details: SealedDetails, manager: User, now: datetime) -> None:
        look = a_look(details, manager, now, result="started", visible_until=now)
        rows = CardReveal.objects.filter(pk=look.pk)
        rows.update(result="done")
        rows.update(cvv_shown_at=now, extended_at=now, visible_until=now + timedelta(seconds=30))
        rows.update(copied="number ")
        rows.update(copied="number cvv ")
        assert rows.update(hidden_at=now, ending="person") == 1

    def test_that_was_refused_says_why(self, details: SealedDetails, manager: User, now: datetime) -> None:
        for more in ({"result": "refused"}, {"result": "done", "refused_because": "no"}):
            with pytest.raises(Error), transaction.atomic():
                a_look(details, manager, now, **more)


class TestThePage:
    def test_tells_compliance_everything_but_what_was_seen(
        self, desk: Browser, card: Card, compliance: User, client_of: SignIn
    ) -> None:
        token = told(reveal(desk, card))["token"]
        ask(desk, card, "reveal-cvv", token=token)
        ask(desk, card, "reveal-ended", token=token, ending="person")
        look = CardReveal.objects.get()
        browser = client_of(compliance)
        for page in (url("cardreveal"), url("cardreveal", "change", look.pk)):
            text = texts_of(browser, page)
            for words in ("manager", "Pay a supplier", WHY["reason"], "Nadia Berg", "127.0.0.1", card.last4):
                assert words in text, words
        assert "CVV shown" in texts_of(browser, url("cardreveal"))
        assert "Hidden by the person" in texts_of(browser, url("cardreveal", "change", look.pk))

    def test_has_refused_tries_too(
        self, desk: Browser, card: Card, compliance: User, client_of: SignIn
    ) -> None:
        reveal(desk, card, factor="wrong")
        browser = client_of(compliance)
        assert "Refused" in texts_of(browser, url("cardreveal") + "?result__exact=refused")
        look = CardReveal.objects.get()
        assert "That is not your password." in texts_of(browser, url("cardreveal", "change", look.pk))
        assert "Refused: That is not your password." in texts_of(browser, url("card", "change", card.pk))

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            ("q=Nadia", 1), ("q=4711", 1), ("q=manager", 1), ("q=127.0.0.1", 1), ("q=nobody", 0),
            ("kind__exact=payment", 1), ("kind__exact=other", 0), ("purpose__exact=reveal", 1),
            ("ending__exact=time", 0),
        ],
    )  # fmt: skip
    def test_is_searched_and_filtered(
        self, desk: Browser, card: Card, auditor: User, client_of: SignIn, *, query: str, count: int
    ) -> None:
        reveal(desk, card)
        answer = client_of(auditor).get(f"{url('cardreveal')}?{query}")
        assert answer.context["cl"].result_count == count

    def test_shows_what_belongs_to_ones_customers(
        self, desk: Browser, card: Card, outsider: User, client_of: SignIn
    ) -> None:
        reveal(desk, card)
        from django.contrib.auth.models import Permission

        outsider.user_permissions.add(Permission.objects.get(codename="view_cardreveal"))
        browser = client_of(outsider)
        assert browser.get(url("cardreveal")).context["cl"].result_count == 0
        Assignment.objects.create(user=outsider, customer=card.cardholder.customer)
        assert browser.get(url("cardreveal")).context["cl"].result_count == 1


class TestAnAlert:
    def kinds(self, now: datetime) -> set[str]:
        watching.watch(now=now)
        return set(Alert.objects.filter(cleared_at=None).values_list("kind", flat=True))

    def test_is_not_raised_about_a_usual_day(self, details: SealedDetails, manager: User) -> None:
        for hour in range(4):
            a_look(details, manager, TUESDAY + timedelta(hours=hour))
        assert self.kinds(TUESDAY + timedelta(hours=5)) == set()

    def test_is_raised_about_a_burst_and_goes_a_day_later(
        self, details: SealedDetails, manager: User
    ) -> None:
        for minute in range(5):
            a_look(details, manager, TUESDAY + timedelta(minutes=2 * minute))
        later = TUESDAY + timedelta(hours=3)
        assert self.kinds(later) == {"reveal burst"}
        alert = Alert.objects.get()
        assert alert.message == "manager looked at cards 5 times or more within ten minutes."
        assert self.kinds(later) == {"reveal burst"}
        assert Alert.objects.count() == 1
        assert self.kinds(TUESDAY + timedelta(hours=25)) == set()

    def test_is_raised_about_refused_tries(self, details: SealedDetails, manager: User) -> None:
        for minute in range(5):
            a_look(
                details, manager, TUESDAY + timedelta(minutes=minute), result="refused", refused_because="No."
            )
        assert self.kinds(TUESDAY + timedelta(hours=1)) == {"reveals refused"}

    @pytest.mark.parametrize(
        ("at", "is_odd"),
        [
            ("2026-11-24T07:00+00:00", False), ("2026-11-24T06:59+00:00", True),
            ("2026-11-24T19:59+00:00", False), ("2026-11-24T20:00+00:00", True),
            ("2026-11-28T12:00+00:00", True), ("2026-11-29T12:00+00:00", True),
        ],
    )  # fmt: skip
    def test_is_raised_out_of_hours(
        self, details: SealedDetails, manager: User, *, at: str, is_odd: bool
    ) -> None:
        moment = datetime.fromisoformat(at)
        a_look(details, manager, moment)
        assert self.kinds(moment) == ({"reveals out of hours"} if is_odd else set())

    def test_goes_by_the_zone_of_the_office(
        self, details: SealedDetails, manager: User, settings: Settings
    ) -> None:
        settings.OFFICE_HOURS = office_hours("Mon-Fri 09:00-18:00", "America/New_York")
        a_look(details, manager, TUESDAY)
        assert self.kinds(TUESDAY) == {"reveals out of hours"}

    def test_is_raised_when_all_together_look_very_often(
        self, details: SealedDetails, another: Any, settings: Settings
    ) -> None:
        settings.REVEALS_ALERT_PER_DAY = 3
        for number in range(2, 6):
            a_look(details, another(f"manager{number}", roles.MANAGER), TUESDAY)
        assert self.kinds(TUESDAY) == {"reveals in a day"}

    def test_is_for_compliance_to_see(
        self, details: SealedDetails, manager: User, compliance: User, client_of: SignIn
    ) -> None:
        a_look(details, manager, TUESDAY - timedelta(days=2))
        watching.watch(now=TUESDAY - timedelta(days=2))
        assert "outside office hours" in client_of(compliance).get("/admin/delivery/alert/").content.decode()


@pytest.mark.parametrize(
    "hours", ["", "9-5", "Mon-Fri", "Mon-Fri 9:00-17:00", "Mon-Xyz 09:00-17:00", "Mon-Fri 09:00-25:00"]
)
def test_office_hours_that_cannot_be_read_stop_the_start(hours: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="such as Mon-Fri 07:00-20:00"):
        office_hours(hours, "UTC")


def test_a_zone_that_is_none_stops_the_start() -> None:
    with pytest.raises(ImproperlyConfigured, match="such as Europe/Berlin"):
        office_hours("Mon-Fri 07:00-20:00", "Nowhere/At_All")


def test_hours_may_go_round_the_weekend() -> None:
    hours = office_hours("Sun-Thu 08:00-16:00", "Asia/Dubai")
    assert sorted(hours.days) == [0, 1, 2, 3, 6]


class TestItsLife:
    def test_is_told_step_by_step_with_time_and_source(self, desk: Browser, card: Card) -> None:
        page = texts_of(desk, url("card", "change", card.pk))
        assert "not yet: active" in page
        assert "at the latest" in page
        reveal(desk, card)
        reveal(desk, card)
        assert "2 times, last" in texts_of(desk, url("card", "change", card.pk))

    @pytest.mark.parametrize("status", ["used", "expired", "cancelled"])
    def test_ends_as_endl_says(self, desk: Browser, card: Card, status: str) -> None:
        Card.objects.update(status=status)
        page = texts_of(desk, url("card", "change", card.pk))
        assert f"<strong>{status.capitalize()}</strong>" in page
        assert "when sync heard of it" in page

    def test_shows_a_status_that_nobody_knows_as_it_came(self, desk: Browser, card: Card) -> None:
        Card.objects.update(status="frozen<b>")
        page = texts_of(desk, url("card", "change", card.pk))
        assert "not known: Endl says “frozen&lt;b&gt;”, which is not recognised" in page
