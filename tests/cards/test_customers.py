"""Customers are typed in by people; what Endl says of them is learned."""

from datetime import datetime

import pytest
from django.db import Error, transaction

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from backoffice.endl import NotFound, Rejected
from cards import customers, scope
from cards.models import Assignment, Customer
from tests.people import a_person

Type = Customer.Type


def add(by: User, now: datetime, endl_id: str = "cus_new", name: str = "New") -> Customer:
    return customers.add_customer(endl_id=endl_id, name=name, type=Type.BUSINESS, by=by, now=now)


class TestAdding:
    def test_who_adds_one_works_for_it(self, outsider: User, now: datetime) -> None:
        customer = add(outsider, now)
        assert scope.works_for(outsider, customer)
        assert Assignment.objects.get().given_by == outsider
        assert Entry.objects.get(verb="customer.add").customer_endl_id == "cus_new"

    def test_who_works_for_all_needs_no_more(self, manager: User, now: datetime) -> None:
        add(manager, now)
        assert Assignment.objects.get().customer is None

    def test_an_id_once(self, manager: User, now: datetime) -> None:
        add(manager, now)
        with pytest.raises(customers.CustomerExists):
            add(manager, now)

    @pytest.mark.parametrize("who", ["checker", "compliance", "auditor", "administrator", "superuser"])
    def test_not_by_everybody(self, who: str, request: pytest.FixtureRequest, now: datetime) -> None:
        with pytest.raises(NotAllowed):
            add(request.getfixturevalue(who), now)

    @pytest.mark.parametrize("endl_id", ["", "a/b", "../x", "a b", "é", "x" * 129, "a?b"])
    def test_an_id_that_does_not_fit_a_url_is_refused_by_the_database(
        self, manager: User, now: datetime, endl_id: str
    ) -> None:
        with pytest.raises(Error), transaction.atomic():
            Customer.objects.create(endl_id=endl_id, name="X", type=Type.BUSINESS, added_by=manager)

    def test_a_name_is_needed(self, manager: User) -> None:
        with pytest.raises(Error), transaction.atomic():
            Customer.objects.create(endl_id="cus_x", name="", type=Type.BUSINESS, added_by=manager)


class TestChanging:
    def change(self, customer: Customer, by: User, **new: object) -> Customer:
        told = {"name": customer.name, "type": customer.type, "is_active": customer.is_active, **new}
        return customers.change_customer(customer=customer, by=by, **told)  # type: ignore[arg-type]

    def test_only_what_changed_is_on_record(self, business: Customer, manager: User) -> None:
        self.change(business, manager, name="Harbour")
        entry = Entry.objects.get(verb="customer.change")
        assert (entry.old, entry.new) == ({"name": "Harbour & Sons"}, {"name": "Harbour"})

    def test_nothing_changed_leaves_no_record(self, business: Customer, manager: User) -> None:
        self.change(business, manager)
        assert not Entry.objects.filter(verb="customer.change").exists()

    def test_not_somebody_elses(self, business: Customer, outsider: User) -> None:
        with pytest.raises(NotAllowed):
            self.change(business, outsider, name="Mine")

    def test_asking_for_a_sync(self, business: Customer, checker: User, outsider: User) -> None:
        customers.ask_sync(customer=business, by=checker)
        with pytest.raises(NotAllowed):
            customers.ask_sync(customer=business, by=outsider)
        results = Entry.objects.filter(verb="customer.ask_sync").values_list("result", flat=True)
        assert sorted(results) == ["done", "refused"]


class TestLearning:
    @pytest.mark.parametrize(
        ("problem", "column", "value"),
        [
            (Rejected("no", code="ERRCRD_1000"), "is_business", False),
            (Rejected("no", code="ERRCRD_1001"), "is_enabled", False),
            (NotFound("no", code="ERRREF_1001"), "is_known", False),
            (NotFound("no"), "is_known", False),
            (NotFound("no", code="ERRCRD_1002"), "is_known", None),
            (Rejected("no", code="ERRCRD_1003"), "is_enabled", None),
        ],
    )
    def test_a_refusal_says_what_its_code_says(
        self, business: Customer, now: datetime, *, problem: Rejected, column: str, value: bool | None
    ) -> None:
        customers.learn_refused(business, problem, now=now)
        assert getattr(Customer.objects.get(), column) is value

    def test_acceptance_makes_it_known_again(self, business: Customer, now: datetime) -> None:
        customers.learn_refused(business, NotFound("Gone", code="ERRREF_1001"), now=now)
        customers.learn_accepted(business, now=now, is_enrolled=True)
        assert (business.is_known, business.is_enrolled, business.learned_message) == (True, True, "")


class TestScope:
    def test_people_see_theirs(
        self, business: Customer, outsider: User, manager: User, now: datetime
    ) -> None:
        mine = add(outsider, now)
        assert list(scope.customers_for(outsider)) == [mine]
        assert set(scope.customers_for(manager)) == {business, mine}
        assert list(scope.limit(Customer.objects.all(), outsider, "pk")) == [mine]

    def test_compliance_and_auditors_see_all_by_role(self, business: Customer) -> None:
        for role in (roles.COMPLIANCE, roles.AUDITOR, roles.ADMINISTRATOR):
            person = a_person(role.replace(" ", ""), role, works_for_all=False)
            assert scope.works_for(person, business)

    def test_who_left_sees_none_of_them(self, business: Customer, manager: User) -> None:
        manager.is_active = False
        assert not scope.works_for(manager, business)
        with pytest.raises(NotAllowed):
            scope.check(manager, "cards.view_customer", business)

    def test_a_superuser_is_nobody_here(self, business: Customer, superuser: User) -> None:
        with pytest.raises(NotAllowed):
            scope.check(superuser, "cards.view_customer", business)

    def test_both_the_right_and_the_customer_are_needed(
        self, business: Customer, outsider: User, maker: User
    ) -> None:
        with pytest.raises(NotAllowed, match="do not work for"):
            scope.check(outsider, "cards.add_cardorder", business)
        with pytest.raises(NotAllowed, match="roles do not let"):
            scope.check(maker, "cards.add_cardorder", business)

    def test_an_assignment_once(self, business: Customer, manager: User) -> None:
        with pytest.raises(Error), transaction.atomic():
            Assignment.objects.create(user=manager)
        Assignment.objects.create(user=manager, customer=business)
        with pytest.raises(Error), transaction.atomic():
            Assignment.objects.create(user=manager, customer=business)
