"""Who works for whom, and the pages where administrators say so."""

from collections.abc import Callable

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from cards import assigning
from cards.models import Assignment
from tests.cards.desk import a_business, errors, submit, url

SignIn = Callable[[User], Browser]


class TestAssigning:
    def test_gives_a_person_one_customer(
        self, administrator: User, outsider: User, manager: User, client_of: SignIn
    ) -> None:
        customer = a_business(manager)
        submit(client_of(administrator), "assignment", user=outsider.pk, customer=customer.pk)
        made = Assignment.objects.get(user=outsider)
        assert (made.customer, made.given_by) == (customer, administrator)
        entry = Entry.objects.get(verb="assignment.give")
        assert entry.new == {"user": "outsider", "customer": "cus_quay"}

    def test_gives_every_customer_only_when_ticked(
        self, administrator: User, outsider: User, client_of: SignIn
    ) -> None:
        browser = client_of(administrator)
        answer = submit(browser, "assignment", user=outsider.pk)
        assert "tick every customer" in errors(answer)["customer"][0]
        submit(browser, "assignment", user=outsider.pk, every_customer="on")
        assert Assignment.objects.get(user=outsider).customer is None

    def test_gives_nothing_twice(
        self, administrator: User, outsider: User, manager: User, client_of: SignIn
    ) -> None:
        customer, browser = a_business(manager), client_of(administrator)
        for _time in range(2):
            answer = submit(browser, "assignment", user=outsider.pk, customer=customer.pk)
        assert errors(answer) == {"user": ["outsider works for Quay Ltd already."]}
        answer = submit(browser, "assignment", user=manager.pk, every_customer="on")
        assert "already" in errors(answer)["user"][0]

    def test_gives_nothing_to_oneself(self, administrator: User, manager: User, client_of: SignIn) -> None:
        customer = a_business(manager)
        answer = submit(client_of(administrator), "assignment", user=administrator.pk, customer=customer.pk)
        assert "user" in errors(answer)
        with pytest.raises(assigning.OwnAssignment):
            assigning.assign(user=administrator, customer=customer, by=administrator, now=timezone.now())
        assert Entry.objects.get(verb="assignment.give", result="refused").actor == administrator

    def test_is_for_administrators(self, manager: User, outsider: User) -> None:
        with pytest.raises(NotAllowed):
            assigning.assign(user=outsider, customer=None, by=manager, now=timezone.now())


class TestTakingAway:
    def test_takes_it_away_and_keeps_it_on_record(
        self, administrator: User, manager: User, client_of: SignIn
    ) -> None:
        given = Assignment.objects.get(user=manager)
        answer = client_of(administrator).post(url("assignment", "take-away", given.pk))
        assert answer.headers["Location"] == url("assignment")
        assert not Assignment.objects.filter(user=manager).exists()
        entry = Entry.objects.get(verb="assignment.take_away")
        assert entry.old == {"user": "manager", "customer": "every customer"}

    def test_a_get_takes_nothing_away(self, administrator: User, manager: User, client_of: SignIn) -> None:
        given = Assignment.objects.get(user=manager)
        client_of(administrator).get(url("assignment", "take-away", given.pk))
        assert Assignment.objects.filter(pk=given.pk).exists()

    def test_who_only_reads_cannot(self, auditor: User, manager: User, client_of: SignIn) -> None:
        given = Assignment.objects.get(user=manager)
        assert client_of(auditor).post(url("assignment", "take-away", given.pk)).status_code == 403
        with pytest.raises(NotAllowed):
            assigning.unassign(assignment=given, by=auditor)
        assert Assignment.objects.filter(pk=given.pk).exists()
