"""Who gets a card, for how much, and what is kept of it."""

import json
from collections.abc import Callable
from datetime import datetime

import pytest
from pytest_django import Settings

from backoffice import vault
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import sender
from backoffice.delivery.desk import NotYourPage
from backoffice.delivery.models import State
from backoffice.emulator import Emulator
from backoffice.endl import Client
from cards import issuing
from cards.issuing import NotEligible
from cards.models import Card, Cardholder, CardOrder, Customer, SealedDetails
from tests.wishes import an_order


class TestAsking:
    def test_endl_is_sent_whole_cents_and_no_purpose(
        self, cardholder: Cardholder, manager: User, now: datetime
    ) -> None:
        order = an_order(cardholder, by=manager, now=now, cents=19_99)
        assert json.loads(bytes(order.body)) == {"amountInUSDCents": 1999}
        assert order.path == f"/api/v0/customer/cus_harbour/card-users/{cardholder.endl_id}/cards/scoped"

    def test_the_purpose_is_sent_where_a_setting_says_so(
        self, cardholder: Cardholder, manager: User, now: datetime, settings: Settings
    ) -> None:
        settings.ENDL_SEND_MEMO = True
        order = an_order(cardholder, by=manager, now=now)
        assert json.loads(bytes(order.body))["memo"] == "A train ticket"

    @pytest.mark.parametrize(
        "who", ["maker", "checker", "compliance", "auditor", "administrator", "superuser", "outsider"]
    )
    def test_only_managers_of_the_customer(
        self, cardholder: Cardholder, who: str, request: pytest.FixtureRequest, now: datetime
    ) -> None:
        with pytest.raises(NotAllowed):
            an_order(cardholder, by=request.getfixturevalue(who), now=now)
        assert Entry.objects.get(verb="card_order.request").result == Entry.Result.REFUSED

    @pytest.mark.parametrize(
        ("column", "words"),
        [
            ({"review_state": "unreviewed"}, "Compliance has not approved"),
            ({"review_state": "rejected"}, "Compliance rejected"),
            ({"status": "disabled"}, "disabled at Endl"),
        ],
    )
    def test_not_to_everybody(
        self, cardholder: Cardholder, manager: User, now: datetime, column: dict[str, str], words: str
    ) -> None:
        Cardholder.objects.update(**column)
        with pytest.raises(NotEligible, match=words):
            an_order(Cardholder.objects.get(), by=manager, now=now)
        assert not CardOrder.objects.exists()

    def test_not_to_who_is_gone_at_endl(self, cardholder: Cardholder, manager: User, now: datetime) -> None:
        Cardholder.objects.update(missing_since=now)
        with pytest.raises(NotEligible, match="gone at Endl"):
            an_order(Cardholder.objects.get(), by=manager, now=now)

    def test_not_where_the_business_cannot(
        self, cardholder: Cardholder, manager: User, now: datetime
    ) -> None:
        Customer.objects.update(is_enabled=False)
        with pytest.raises(NotEligible, match="not enabled"):
            an_order(Cardholder.objects.get(), by=manager, now=now)

    @pytest.mark.parametrize("cents", [0, -1, 10_000_001])
    def test_not_for_any_amount(
        self, cardholder: Cardholder, manager: User, now: datetime, cents: int
    ) -> None:
        with pytest.raises(Exception, match=r"(?i)cents|amount"):
            an_order(cardholder, by=manager, now=now, cents=cents)
        assert not CardOrder.objects.exists()

    @pytest.mark.parametrize("cents", [1, 10_000_000])
    def test_from_a_cent_to_a_hundred_thousand_dollars(
        self, cardholder: Cardholder, manager: User, now: datetime, cents: int
    ) -> None:
        assert an_order(cardholder, by=manager, now=now, cents=cents).amount_cents == cents

    def test_a_second_click_finds_the_first_and_nobody_elses(
        self, cardholder: Cardholder, manager: User, now: datetime, another: Callable[..., User]
    ) -> None:
        def click(by: User) -> CardOrder:
            return issuing.request_card(
                cardholder=cardholder, amount_cents=500, purpose="", form_token="page", by=by, now=now
            )

        assert click(manager) == click(manager)
        with pytest.raises(NotYourPage):
            click(another("manager2", "manager"))
        assert CardOrder.objects.count() == 1


class TestTheAnswer:
    def test_details_are_sealed_for_this_order_alone(self, order: CardOrder, details: SealedDetails) -> None:
        assert details.envelope is not None
        envelope = bytes(details.envelope)
        assert b"encryptedKey" not in envelope
        opened = json.loads(vault.unseal(envelope, about=issuing.about_details(order)))
        assert "ciphertext" in opened
        with pytest.raises(vault.CannotUnseal):
            vault.unseal(envelope, about="cards.details:0:other")

    def test_only_the_last_four_stand_in_the_open(
        self, order: CardOrder, details: SealedDetails, emulator: Emulator
    ) -> None:
        card = Card.objects.get()
        number = emulator.world.rows("SELECT number FROM details")[0]["number"]
        assert details.last4 == card.last4 == number[-4:]
        everything = json.dumps(
            [list(map(str, row)) for model in (Card, CardOrder, SealedDetails, Entry)
             for row in model._default_manager.values_list()]
        )  # fmt: skip
        assert number not in everything
        assert "encryptedDetails" not in json.dumps(card.payload)

    def test_nothing_prints_them(self, details: SealedDetails) -> None:
        assert repr(details) == f"<SealedDetails {details.pk}>"

    def test_the_card_belongs_to_its_order(self, order: CardOrder, card: Card) -> None:
        assert order.state == State.ISSUED
        assert card.order == order
        assert card.cardholder == order.cardholder

    def test_the_public_key_must_be_registered(
        self, cardholder: Cardholder, manager: User, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.world.set_fact("partner_key", None)
        made = an_order(cardholder, by=manager, now=now)
        sender.deliver(issuing.ROAD, made.pk, endl=endl)
        made.refresh_from_db()
        assert (made.state, made.outcome_code) == (State.REFUSED, "ERRCRD_1004")
        assert "public key" in made.outcome_remedy
