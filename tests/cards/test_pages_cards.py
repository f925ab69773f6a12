"""The page of a card: masked, opened once on the server, and never by a GET."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import sender
from backoffice.endl import Client
from cards import issuing
from cards.models import Card, Cardholder, CardReveal, SealedDetails
from tests.cards.desk import a_business, an_approved_cardholder, cards_of, submit, texts_of, url

SignIn = Callable[[User], Browser]


@pytest.fixture
def desk(manager: User, client_of: SignIn) -> Browser:
    return client_of(manager)


@pytest.fixture
def issued(cardholder: Cardholder, endl: Client, desk: Browser) -> Card:
    """A card whose last four and expiry stand in its envelope only."""
    submit(desk, "cardorder", cardholder=cardholder.pk, amount="19.99", purpose="A train ticket")
    order = cardholder.orders.get()
    sender.deliver(issuing.ROAD, order.pk, endl=endl)
    Card.objects.update(last4="", exp_month=None, exp_year=None)
    SealedDetails.objects.update(last4="", exp_month=None, exp_year=None)
    return Card.objects.get()


class TestOpeningTheMask:
    def test_the_page_asks_by_itself_the_first_time(self, issued: Card, desk: Browser) -> None:
        page = texts_of(desk, url("card", "change", issued.pk))
        assert "data-open-mask" in page
        assert "office/mask.js" in page
        assert "•••• •••• •••• ••••" in page

    def test_a_get_opens_nothing(self, issued: Card, desk: Browser) -> None:
        desk.get(url("card", "change", issued.pk))
        desk.get(url("card", "open-mask", issued.pk))
        assert not CardReveal.objects.exists()

    def test_a_post_does_once_and_on_record(self, issued: Card, desk: Browser, manager: User) -> None:
        for _press in range(2):
            answer = desk.post(url("card", "open-mask", issued.pk))
            assert answer.headers["Location"] == url("card", "change", issued.pk)
            assert "no-store" in answer.headers["Cache-Control"]
        details = SealedDetails.objects.get()
        look = CardReveal.objects.get()
        assert (look.by, look.purpose, look.result) == (manager, "mask", "done")
        page = texts_of(desk, url("card", "change", issued.pk))
        assert f"•••• •••• •••• {details.last4}" in page
        assert f"{details.exp_month:02d}/" in page
        assert "data-open-mask" not in page
        assert "To show the masked card" in page

    def test_the_list_shows_what_was_learned(self, issued: Card, desk: Browser) -> None:
        desk.post(url("card", "open-mask", issued.pk))
        assert SealedDetails.objects.get().last4 in texts_of(desk, url("card"))

    def test_no_page_holds_the_number(self, issued: Card, desk: Browser, emulator: object) -> None:
        desk.post(url("card", "open-mask", issued.pk))
        last4 = SealedDetails.objects.get().last4
        page = texts_of(desk, url("card", "change", issued.pk))
        told = [page[at - 12 : at] for at in range(len(page)) if page.startswith(last4, at)]
        assert not any(before.isdigit() for before in told)

    def test_needs_the_permission(
        self, issued: Card, auditor: User, compliance: User, client_of: SignIn
    ) -> None:
        for person in (auditor, compliance):
            browser = client_of(person)
            page = texts_of(browser, url("card", "change", issued.pk))
            assert "data-open-mask" not in page
            assert "when a manager opens this page" in page
            assert browser.post(url("card", "open-mask", issued.pk)).status_code == 403
        assert not CardReveal.objects.exists()

    def test_stays_out_of_scope(self, issued: Card, outsider: User, client_of: SignIn) -> None:
        assert client_of(outsider).post(url("card", "open-mask", issued.pk)).status_code == 404
        assert not CardReveal.objects.exists()


class TestWhatStandsInTheWay:
    def test_a_damaged_envelope_is_one_sentence_and_no_second_try(
        self, issued: Card, desk: Browser, settings: Settings
    ) -> None:
        settings.STORAGE_KEYS = [b"x" * 32]
        page = desk.post(url("card", "open-mask", issued.pk), follow=True).content.decode()
        assert "The card details could not be opened." in page
        assert "data-open-mask" not in page
        assert "Show last four and expiry" in page
        assert CardReveal.objects.get().result == "failed"

    @pytest.mark.parametrize("what", ["missing", "no key"])
    def test_a_key_that_cannot_be_read_is_the_administrators(
        self, what: str, issued: Card, desk: Browser, settings: Settings, tmp_path: Path
    ) -> None:
        path = tmp_path / "key.pem"
        if what == "no key":
            path.write_text("nothing of the kind")
        settings.ENDL_PRIVATE_KEY_FILES = [path]
        page = desk.post(url("card", "open-mask", issued.pk), follow=True).content.decode()
        assert "The private key could not be read: an administrator" in page

    def test_without_a_configured_key_the_button_says_so(
        self, issued: Card, desk: Browser, settings: Settings
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = []
        page = texts_of(desk, url("card", "change", issued.pk))
        assert "No private key is configured: an administrator" in page
        assert "data-open-mask" not in page

    def test_destroyed_details_say_when_and_why(self, issued: Card, desk: Browser) -> None:
        SealedDetails.objects.update(
            envelope=None, destroyed_at=timezone.now(), destroyed_because="72 hours have passed"
        )
        page = texts_of(desk, url("card", "change", issued.pk))
        assert "Details destroyed" in page
        assert "because 72 hours have passed" in page
        answer = desk.post(url("card", "open-mask", issued.pk), follow=True)
        assert "The details were destroyed on" in answer.content.decode()
        assert Entry.objects.filter(verb="card.open", result="refused").exists()

    def test_a_card_that_was_not_ordered_here_has_no_details(self, manager: User, desk: Browser) -> None:
        card = cards_of(an_approved_cardholder(a_business(manager)), 1, last4="")[0]
        page = texts_of(desk, url("card", "change", card.pk))
        assert "never reached this office" in page
        assert desk.post(url("card", "open-mask", card.pk)).status_code == 403


def test_shows_the_card_with_its_life_on_one_line(issued: Card, desk: Browser) -> None:
    page = texts_of(desk, url("card", "change", issued.pk))
    assert "Details received" in page
    assert "documents only the words “single-use card”" in page
    assert "19.99" in page
    assert url("cardorder", "change", issued.order.pk) in page


def test_the_envelope_is_on_no_page(issued: Card, auditor: User, client_of: SignIn) -> None:
    browser = client_of(auditor)
    details = SealedDetails.objects.get()
    page = texts_of(browser, url("sealeddetails", "change", details.pk))
    assert details.envelope is not None
    assert bytes(details.envelope).hex() not in page
    assert "Kept, sealed" in page
    assert "Kept, sealed" in texts_of(browser, url("sealeddetails"))
