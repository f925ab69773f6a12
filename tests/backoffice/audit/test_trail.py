"""The trail: every act and every refusal, from where, and never changed."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.db import Error, connection, transaction
from django.test import Client as Browser

from backoffice.access.models import User
from backoffice.audit.context import Origin, acting_from, current_origin
from backoffice.audit.models import Entry
from backoffice.audit.trail import Refusal, operation, record
from cards.models import Customer


class No(Refusal):
    """The operation says no."""


@operation("test.act", about="thing")
def act(*, thing: Customer, by: User, says: str = "") -> str:
    """Change something, and then perhaps refuse."""
    Customer.objects.filter(pk=thing.pk).update(name="Changed")
    record("test.act", thing, by=by)
    if says == "no":
        raise No("Not today.")
    if says == "crash":
        raise RuntimeError(says)
    return "done"


@pytest.fixture
def thing(manager: User, now: datetime) -> Customer:
    return Customer.objects.create(endl_id="cus_1", name="First", type="business", added_by=manager)


class TestOperations:
    def test_what_was_done_is_on_record_with_it(self, thing: Customer, manager: User) -> None:
        assert act(thing=thing, by=manager) == "done"
        entry = Entry.objects.get()
        assert (entry.actor, entry.actor_name, entry.result) == (manager, "manager", "done")
        assert (entry.object_type, entry.object_id, entry.object_name) == (
            "cards.customer",
            str(thing.pk),
            "First",
        )
        assert entry.customer_endl_id == "cus_1"

    def test_a_refusal_changes_nothing_and_stays_on_record(self, thing: Customer, manager: User) -> None:
        with pytest.raises(No, match="Not today"):
            act(thing=thing, by=manager, says="no")
        assert Customer.objects.get().name == "First"
        entry = Entry.objects.get()
        assert (entry.result, entry.new) == ("refused", {"refusal": "No", "sentence": "Not today."})

    def test_a_crash_leaves_nothing(self, thing: Customer, manager: User) -> None:
        with pytest.raises(RuntimeError):
            act(thing=thing, by=manager, says="crash")
        assert Customer.objects.get().name == "First"
        assert not Entry.objects.exists()

    @pytest.mark.django_db(transaction=True)
    def test_it_is_the_outermost_transaction(self, thing: Customer, manager: User) -> None:
        with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
            act(thing=thing, by=manager)


class TestEntries:
    @pytest.mark.parametrize("deed", ["UPDATE audit_entry SET verb = 'x'", "DELETE FROM audit_entry"])
    def test_never_change_or_go(self, thing: Customer, deed: str) -> None:
        record("test.act", thing, by="system: test")
        with pytest.raises(Error, match="the trail"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(deed)

    def test_the_system_acts_by_name(self, thing: Customer) -> None:
        entry = record("test.act", thing, by="system: sync")
        assert (entry.actor, entry.actor_name) == (None, "system: sync")

    def test_the_databases_clock_dates_them(self, thing: Customer, now: datetime) -> None:
        record("test.act", thing, by="system: test")
        assert abs((Entry.objects.get().at - now).total_seconds()) < 60

    def test_they_need_no_object(self, db: None) -> None:
        entry = record("test.act", by="system: test")
        assert (entry.object_type, entry.object_id) == ("", "")


class TestOrigins:
    def test_are_remembered_while_something_runs(self, db: None) -> None:
        with acting_from(Origin(address="192.0.2.7", is_sample=True)):
            entry = record("test.act", by="system: test")
        assert (entry.address, entry.is_sample) == ("192.0.2.7", True)
        assert current_origin() == Origin()

    def test_a_persons_act_says_from_where_and_with_which_factor(
        self, client_of: Callable[[User], Browser], business: Customer, manager: User
    ) -> None:
        browser = client_of(manager)
        browser.post(f"/admin/cards/customer/{business.pk}/sync/")
        entry = Entry.objects.get(verb="customer.ask_sync")
        assert (entry.address, entry.factor) == ("127.0.0.1", "password")
        assert entry.request_id
        assert entry.factor_age_seconds is not None
        session = browser.session.session_key
        assert session is not None
        assert len(entry.session) == 16
        assert entry.session not in session
