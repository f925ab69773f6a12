"""Cardholders and cards follow Endl's list; and a lost card is found only where exactly one fits."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery import line, sender
from backoffice.delivery.models import State
from backoffice.emulator import Emulator
from backoffice.endl import Client
from backoffice.mirror import pull
from backoffice.mirror.models import Pull
from backoffice.mirror.pull import Taken
from cards import customers, issuing, sync
from cards.models import Card, Cardholder, CardOrder, Customer
from tests.wishes import an_order


def holders(count: int, customer: str = "cus_harbour") -> list[dict[str, Any]]:
    return [
        {"cardholderId": f"chd_{number}", "customerId": customer, "email": f"p{number}@example.com"}
        for number in range(count)
    ]


def take_in(business: Customer, endl: Client, now: datetime) -> Taken:
    return sync.sync_cardholders(customer=business, endl=endl, by="system: sync", now=now)


class TestTheList:
    def test_what_is_new_changed_and_gone(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(cardholders=holders(3), cards=[{"cardId": "crd_1", "cardholderId": "chd_0"}])
        assert take_in(business, endl, now) == Taken(added=4)
        emulator.seed(cardholders=[{"cardholderId": "chd_1", "firstName": "Petra"}])
        emulator.world.run("DELETE FROM things WHERE id = 'chd_2'")
        later = now + timedelta(minutes=1)
        assert take_in(business, endl, later) == Taken(changed=1, missing=1)
        assert Cardholder.objects.get(endl_id="chd_1").first_name == "Petra"
        assert Cardholder.objects.get(endl_id="chd_2").missing_since == later

    def test_who_comes_back_is_no_longer_missing(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(cardholders=holders(1))
        take_in(business, endl, now)
        Cardholder.objects.update(missing_since=now)
        assert take_in(business, endl, now).changed == 1
        assert Cardholder.objects.get().missing_since is None

    def test_what_did_not_change_is_not_written(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(cardholders=holders(3))
        take_in(business, endl, now)
        assert not take_in(business, endl, now + timedelta(hours=1)).is_news
        assert set(Cardholder.objects.values_list("changed_at", flat=True)) == {now}
        assert Entry.objects.filter(verb="customer.sync").count() == 1
        assert Pull.objects.get(kind="cardholders").confirmed_at == now + timedelta(hours=1)

    @pytest.mark.parametrize("count", [5, 60])
    def test_a_list_of_any_length_costs_as_many_queries(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime, count: int
    ) -> None:
        cards = [{"cardId": f"crd_{n}", "cardholderId": f"chd_{n}"} for n in range(count)]
        emulator.seed(cardholders=holders(count), cards=cards)
        with CaptureQueriesContext(connection) as asked:
            take_in(business, endl, now)
        assert len(asked) < 45

    def test_compliances_word_stays(self, cardholder: Cardholder, endl: Client, now: datetime) -> None:
        take_in(cardholder.customer, endl, now)
        assert Cardholder.objects.get().review_state == "approved"

    def test_it_teaches_what_endl_says_of_the_business(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        take_in(business, endl, now)
        known = Customer.objects.get()
        assert (known.is_known, known.is_business, known.is_enabled) == (True, True, True)
        assert line.the_line().probe_customer == "cus_harbour"

    @pytest.mark.parametrize(
        ("code", "column"),
        [("ERRCRD_1000", "is_business"), ("ERRCRD_1001", "is_enabled"), ("ERRREF_1001", "is_known")],
    )
    def test_a_refusal_teaches_too(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime, *, code: str, column: str
    ) -> None:
        line.note_answer(now=now)
        emulator.fault(operation="list_cardholders", kind="error", code=code)
        take_in(business, endl, now)
        assert getattr(Customer.objects.get(), column) is False
        assert Pull.objects.get(kind="cardholders").trouble
        assert line.health().is_well

    def test_a_broken_line_leaves_everything_as_it_was(
        self, cardholder: Cardholder, emulator: Emulator, now: datetime
    ) -> None:
        with Client(base_url=emulator.base_url, api_key=emulator.api_key, retries=0) as hasty:
            emulator.fault(operation="list_cardholders", kind="status", code=502)
            assert not take_in(cardholder.customer, hasty, now).is_news
        assert Cardholder.objects.get().missing_since is None
        assert not line.health().is_well

    def test_one_reader_at_a_time(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(cardholders=holders(1))
        pull.start(sync.CARDHOLDERS, business.endl_id, now=now)
        assert not take_in(business, endl, now + timedelta(minutes=1)).is_news
        assert take_in(business, endl, now + timedelta(minutes=3)).added == 1

    def test_only_businesses_have_one(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        Customer.objects.update(type="individual")
        take_in(Customer.objects.get(), endl, now)
        assert not Pull.objects.exists()

    def test_nobody_changes_hands(
        self, cardholder: Cardholder, emulator: Emulator, endl: Client, manager: User, now: datetime
    ) -> None:
        other = customers.add_customer(
            endl_id="cus_other", name="Other", type="business", by=manager, now=now
        )
        emulator.seed(customers=[{"customerId": "cus_other"}])
        emulator.seed(cards=[{"cardId": "crd_1", "cardholderId": cardholder.endl_id}])
        take_in(cardholder.customer, endl, now)
        emulator.seed(cardholders=[{"cardholderId": cardholder.endl_id, "customerId": "cus_other"}])
        assert not take_in(other, endl, now).is_news
        assert Cardholder.objects.get().customer == cardholder.customer
        assert Card.objects.get().cardholder == cardholder


class TestOddAnswers:
    @pytest.mark.parametrize(
        "mutation", ["null", "negative", "list", "unknown", "big_number", "nul", "surrogate"]
    )
    @pytest.mark.parametrize(
        "field", ["cards.last4", "cards.expiryMonth", "cards.amountInUSDCents", "cards.status", "firstName"]
    )
    def test_they_cost_no_row(
        self,
        business: Customer,
        emulator: Emulator,
        endl: Client,
        now: datetime,
        *,
        field: str,
        mutation: str,
    ) -> None:
        emulator.seed(cardholders=holders(1), cards=[{"cardId": "crd_1", "cardholderId": "chd_0"}])
        emulator.fault(operation="list_cardholders", kind="mutate", field=field, mutation=mutation)
        assert take_in(business, endl, now).added == 2

    def test_what_has_no_usable_id_is_counted(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(cardholders=holders(2), cards=[{"cardId": "crd_1", "cardholderId": "chd_0"}])
        emulator.fault(operation="list_cardholders", kind="mutate", field="cards.cardId", mutation="null")
        take_in(business, endl, now)
        assert Pull.objects.get(kind="cardholders").unreadable == 1

    def test_what_cannot_be_read_is_not_missing(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(cardholders=holders(2), cards=[{"cardId": "crd_1", "cardholderId": "chd_0"}])
        take_in(business, endl, now)
        emulator.fault(operation="list_cardholders", kind="mutate", field="cards.cardId", mutation="null")
        assert take_in(business, endl, now).missing == 0
        assert not Card.objects.exclude(missing_since=None).exists()

    @pytest.mark.parametrize("form", ["array", "object", "paged"])
    def test_every_form_of_list_is_read(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime, form: str
    ) -> None:
        emulator.settings(list_form=form, page_size=2)
        emulator.seed(cardholders=holders(5))
        assert take_in(business, endl, now).added == 5

    def test_an_ended_card_does_not_come_back_to_life(
        self, business: Customer, emulator: Emulator, endl: Client, now: datetime
    ) -> None:
        emulator.seed(
            cardholders=holders(1), cards=[{"cardId": "crd_1", "cardholderId": "chd_0", "status": "used"}]
        )
        take_in(business, endl, now)
        emulator.seed(cards=[{"cardId": "crd_1", "status": "active"}])
        take_in(business, endl, now + timedelta(minutes=1))
        assert Card.objects.get().status == "used"
        assert "active after used" in Card.objects.get().contradiction


class TestLostCards:
    """An order whose details are lost gets its card back only where exactly one fits."""

    @pytest.fixture
    def lost(
        self, cardholder: Cardholder, manager: User, emulator: Emulator, endl: Client, now: datetime
    ) -> CardOrder:
        emulator.fault(operation="issue_card", kind="drop", when="after")
        made = an_order(cardholder, by=manager, now=now)
        for minutes in (0, 2):
            moment = now + timedelta(minutes=minutes)
            sender.deliver(issuing.ROAD, made.pk, endl=endl, clock=lambda moment=moment: moment)  # type: ignore[misc]
        made.refresh_from_db()
        assert (made.state, made.card) == (State.DETAILS_LOST, None)
        return made

    def found(self, lost: CardOrder, endl: Client, now: datetime) -> Card | None:
        take_in(lost.cardholder.customer, endl, now + timedelta(minutes=3))
        lost.refresh_from_db()
        return lost.card

    def test_the_one_that_fits(self, lost: CardOrder, endl: Client, now: datetime) -> None:
        assert self.found(lost, endl, now) == Card.objects.get()
        assert Entry.objects.filter(verb="card_order.card_found").exists()

    def test_not_one_of_two(self, lost: CardOrder, emulator: Emulator, endl: Client, now: datetime) -> None:
        emulator.seed(cards=[{"cardholderId": lost.cardholder.endl_id, "amountInUSDCents": 1999}])
        assert self.found(lost, endl, now) is None

    @pytest.mark.parametrize(
        "card",
        [{"amountInUSDCents": 2000}, {"createdAt": "2020-01-01T00:00:00Z"}, {"createdAt": "unreadable"}],
    )
    def test_not_one_that_does_not_fit(
        self, lost: CardOrder, emulator: Emulator, endl: Client, now: datetime, card: dict[str, object]
    ) -> None:
        made = emulator.world.rows("SELECT id FROM things WHERE kind = 'cards'")[0]["id"]
        emulator.seed(cards=[{"cardId": made, **card}])
        assert self.found(lost, endl, now) is None

    def test_not_one_that_belongs_to_another_order(
        self, lost: CardOrder, manager: User, endl: Client, now: datetime
    ) -> None:
        second = an_order(lost.cardholder, by=manager, now=now)
        sender.deliver(issuing.ROAD, second.pk, endl=endl)
        second.refresh_from_db()
        found = self.found(lost, endl, now)
        assert found is not None
        assert found != second.card

    @pytest.mark.parametrize("rival", [State.UNKNOWN, State.DETAILS_LOST])
    def test_not_one_that_may_be_anothers(
        self, lost: CardOrder, manager: User, endl: Client, now: datetime, rival: State
    ) -> None:
        second = an_order(lost.cardholder, by=manager, now=now)
        CardOrder.objects.filter(pk=second.pk).update(state=rival, unclear_at=now)
        assert self.found(lost, endl, now) is None
