"""The pages of customers."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.endl import Client
from backoffice.mirror.models import Pull
from cards import sync
from cards.models import Customer
from tests.cards.desk import a_business, cardholders_of, errors, submit, texts_of, url

SignIn = Callable[[User], Browser]


class TestAdding:
    def test_adds_a_customer_and_leads_to_its_page(self, manager: User, client_of: SignIn) -> None:
        answer = submit(
            client_of(manager), "customer", endl_id="cus_new", name="Ōtani & Söhne", type="business"
        )
        made = Customer.objects.get()
        assert answer.headers["Location"] == url("customer", "change", made.pk)
        assert (made.endl_id, made.name, made.added_by) == ("cus_new", "Ōtani & Söhne", manager)

    @pytest.mark.parametrize(
        ("field", "typed", "told"),
        [
            ("endl_id", "", "cannot stay empty"),
            ("endl_id", "cus 1", "only letters, digits"),
            ("endl_id", "cus_1/../x", "only letters, digits"),
            ("endl_id", "cus_é", "only letters, digits"),
            ("endl_id", "cus_" + "x" * 130, "only letters, digits"),
            ("endl_id", "cus_\u0000", ""),
            ("name", "", "cannot stay empty"),
            ("name", "\u200b\u200b", "cannot stay empty"),
            ("name", "Quay\u202eLtd", "direction characters"),
            ("name", "Quay\nLtd", "direction characters"),
            ("name", "x" * 201, "at most 200"),
            ("name", "4242 4242 4242 4242", "card number"),
            ("type", "", "cannot stay empty"),
            ("type", "bank", "bank"),
        ],
    )
    def test_says_at_the_field_what_is_wanted(
        self, field: str, typed: str, told: str, manager: User, client_of: SignIn
    ) -> None:
        given = {"endl_id": "cus_new", "name": "New Ltd", "type": "business", field: typed}
        answer = submit(client_of(manager), "customer", **given)
        assert list(errors(answer)) == [field]
        assert told in errors(answer)[field][0]
        assert not Customer.objects.exists()
        assert answer.context["form"][field].value() == typed

    def test_refuses_an_id_that_is_there(self, manager: User, client_of: SignIn) -> None:
        a_business(manager, "cus_new")
        answer = submit(client_of(manager), "customer", endl_id="cus_new", name="Again", type="business")
        assert errors(answer) == {"endl_id": ["cus_new was added before."]}

    def test_ignores_what_the_form_does_not_ask(self, manager: User, client_of: SignIn) -> None:
        submit(
            client_of(manager), "customer", endl_id="cus_new", name="New", type="business",
            is_enabled="1", is_known="1", learned_message="fine", added_by="1",
        )  # fmt: skip
        made = Customer.objects.get()
        assert (made.is_enabled, made.is_known, made.learned_message) == (None, None, "")


class TestWhatEndlSays:
    @pytest.mark.parametrize(
        ("column", "badge", "advice"),
        [
            ("is_known", "Unknown to Endl", "Compare the id with Endl"),
            ("is_business", "Not a business", "Change its type"),
            ("is_enabled", "Not enabled for cards", "Ask your Endl contact to enable this business"),
            ("is_enrolled", "Not enrolled for deposits", "enrol this customer"),
        ],
    )
    def test_shows_it_and_what_to_do(
        self, column: str, badge: str, advice: str, manager: User, client_of: SignIn
    ) -> None:
        customer = a_business(manager, learned_message="Endl's own words")
        Customer.objects.update(**{column: False})
        browser = client_of(manager)
        page = texts_of(browser, url("customer", "change", customer.pk))
        assert badge in page
        assert advice in page
        assert "Endl&#x27;s own words" in page
        assert badge in texts_of(browser, url("customer"))

    def test_says_when_it_has_said_nothing(self, manager: User, client_of: SignIn) -> None:
        page = texts_of(client_of(manager), url("customer", "change", a_business(manager).pk))
        assert "Endl has not said yet" in page

    def test_learns_it_from_a_real_answer(
        self, business: Customer, endl: Client, manager: User, client_of: SignIn
    ) -> None:
        sync.sync_cardholders(customer=business, endl=endl, by="system: sync", now=timezone.now())
        page = texts_of(client_of(manager), url("customer", "change", business.pk))
        assert "Known to Endl" in page
        assert "Enabled for cards" in page


class TestSyncNow:
    @pytest.fixture
    def at_rest(self, manager: User) -> Customer:
        """A customer that nobody has asked to sync for a while."""
        customer = a_business(manager)
        Customer.objects.filter(pk=customer.pk).update(added_at=timezone.now() - timedelta(hours=1))
        customer.refresh_from_db()
        return customer

    def state(self, browser: Browser, customer: Customer) -> tuple[str, bool]:
        news = browser.get(url("customer", "state", customer.pk)).json()
        return news["state"], news["under_way"]

    def test_a_post_asks_for_it_and_puts_it_on_record(
        self, at_rest: Customer, manager: User, client_of: SignIn
    ) -> None:
        answer = client_of(manager).post(url("customer", "sync", at_rest.pk))
        assert answer.headers["Location"] == url("customer", "change", at_rest.pk)
        assert Entry.objects.get(verb="customer.ask_sync").actor == manager

    def test_the_page_follows_until_every_list_was_read(
        self, at_rest: Customer, manager: User, client_of: SignIn
    ) -> None:
        browser = client_of(manager)
        assert self.state(browser, at_rest) == ("at rest", False)
        browser.post(url("customer", "sync", at_rest.pk))
        assert self.state(browser, at_rest) == ("syncing", True)
        assert "data-live=" in texts_of(browser, url("customer", "change", at_rest.pk))
        now = timezone.now()
        for kind in ("cardholders", "deposits", "withdrawals"):
            assert self.state(browser, at_rest)[1]
            Pull.objects.create(kind=kind, customer_endl_id=at_rest.endl_id, started_at=now, confirmed_at=now)
        assert self.state(browser, at_rest) == ("at rest", False)

    def test_a_list_that_is_being_read_says_since_when(
        self, at_rest: Customer, manager: User, client_of: SignIn
    ) -> None:
        Pull.objects.create(kind="deposits", customer_endl_id=at_rest.endl_id, started_at=timezone.now())
        assert "running since" in texts_of(client_of(manager), url("customer", "change", at_rest.pk))

    def test_a_reader_that_died_is_not_waited_for(
        self, at_rest: Customer, manager: User, client_of: SignIn
    ) -> None:
        long_ago = timezone.now() - timedelta(minutes=30)
        Pull.objects.create(kind="deposits", customer_endl_id=at_rest.endl_id, started_at=long_ago)
        assert self.state(client_of(manager), at_rest) == ("at rest", False)

    def test_shows_what_stands_in_the_way(self, at_rest: Customer, manager: User, client_of: SignIn) -> None:
        now = timezone.now()
        Pull.objects.create(
            kind="withdrawals", customer_endl_id=at_rest.endl_id, started_at=now, trouble_at=now,
            trouble="Endl has no such list on this connection.",
        )  # fmt: skip
        page = texts_of(client_of(manager), url("customer", "change", at_rest.pk))
        assert "Endl has no such list on this connection." in page

    def test_who_may_not_sync_has_no_button(
        self, at_rest: Customer, auditor: User, client_of: SignIn
    ) -> None:
        browser = client_of(auditor)
        assert "Sync now" not in texts_of(browser, url("customer", "change", at_rest.pk))
        assert browser.post(url("customer", "sync", at_rest.pk)).status_code == 403


class TestChangingDetails:
    def test_changes_name_type_and_use(self, manager: User, client_of: SignIn) -> None:
        customer = a_business(manager)
        client_of(manager).post(
            url("customer", "details", customer.pk),
            {"name": "Quay GmbH", "type": "employee", "endl_id": "cus_x"},
        )
        customer.refresh_from_db()
        assert (customer.name, customer.type, customer.is_active) == ("Quay GmbH", "employee", False)
        assert customer.endl_id == "cus_quay"

    def test_keeps_what_was_typed_when_it_is_wrong(self, manager: User, client_of: SignIn) -> None:
        customer = a_business(manager)
        answer = client_of(manager).post(
            url("customer", "details", customer.pk), {"name": "Q\u202e", "type": "business"}
        )
        assert "name" in errors(answer)
        assert answer.context["form"]["name"].value() == "Q\u202e"
        customer.refresh_from_db()
        assert customer.name == "Quay Ltd"


def test_shows_twenty_cardholders_and_a_link_to_all(manager: User, client_of: SignIn) -> None:
    customer = a_business(manager)
    cardholders_of(customer, 25)
    browser = client_of(manager)
    page = texts_of(browser, url("customer", "change", customer.pk))
    assert page.count("nadia.") == 20
    everybody = f"{url('cardholder')}?customer__id__exact={customer.pk}"
    assert everybody in page
    assert browser.get(everybody).context["cl"].result_count == 25


def test_leads_to_registering_a_cardholder_of_it(manager: User, client_of: SignIn) -> None:
    customer = a_business(manager)
    browser = client_of(manager)
    address = f"{url('cardholderrequest', 'add')}?customer={customer.pk}"
    assert address in texts_of(browser, url("customer", "change", customer.pk))
    assert browser.get(address).context["form"]["customer"].value() == customer.pk


def test_registering_is_off_where_cards_are_impossible(manager: User, client_of: SignIn) -> None:
    customer = a_business(manager, is_enabled=False)
    page = texts_of(client_of(manager), url("customer", "change", customer.pk))
    assert "is not enabled for cards: ask your Endl contact" in page
