"""Who may open which page of cards, and what nobody may do."""

import re
from collections.abc import Callable

import pytest
from django.test import Client as Browser

from backoffice.access.models import User
from backoffice.audit.models import Entry
from cards.models import Assignment, Card, Cardholder, Customer
from tests.cards.desk import Answer, a_business, an_approved_cardholder, cardholders_of, cards_of, url

SignIn = Callable[[User], Browser]
NOUNS = (
    "customer", "assignment", "cardholderrequest", "cardholder", "cardorder", "card", "cardholderreview",
    "cardreveal", "sealeddetails",
)  # fmt: skip
SEES = {
    "maker": {"customer"},
    "checker": {"customer", "cardholder", "cardholderrequest", "cardorder", "card"},
    "manager": {"customer", "cardholderrequest", "cardholder", "cardorder", "card", "cardholderreview"},
    "compliance": set(NOUNS) - {"assignment"},
    "auditor": set(NOUNS),
    "administrator": {"customer", "assignment"},
    "superuser": set(),
}
ADDS = {
    "maker": {"customer"},
    "checker": set(),
    "manager": {"customer", "cardholderrequest", "cardorder"},
    "compliance": set(),
    "auditor": set(),
    "administrator": {"assignment"},
    "superuser": set(),
}


@pytest.mark.parametrize("role", SEES)
def test_each_role_sees_the_lists_of_its_work_and_no_others(
    role: str, request: pytest.FixtureRequest, client_of: SignIn
) -> None:
    browser = client_of(request.getfixturevalue(role))
    seen = {noun for noun in NOUNS if browser.get(url(noun)).status_code == 200}
    assert seen == SEES[role]


@pytest.mark.parametrize("role", ADDS)
def test_each_role_has_the_forms_of_its_work_and_no_others(
    role: str, request: pytest.FixtureRequest, client_of: SignIn
) -> None:
    browser = client_of(request.getfixturevalue(role))
    assert {noun for noun in NOUNS if browser.get(url(noun, "add")).status_code == 200} == ADDS[role]
    assert {noun for noun in NOUNS if browser.post(url(noun, "add")).status_code != 403} == ADDS[role]


@pytest.mark.parametrize("noun", NOUNS)
def test_who_has_not_signed_in_is_led_to_the_door(noun: str, db: None) -> None:
    for page in ("changelist", "add"):
        answer = Browser().get(url(noun, page))
        assert answer.status_code == 302
        assert "login" in answer.headers["Location"]


def _without_ids(answer: Answer) -> str:
    """A page without what differs by its own address and by the moment."""
    return re.sub(r"\d+|<code>[^<]*</code>|value=\"[^\"]*\"", "", answer.content.decode())


class TestOutsider:
    """A manager who works for no customer."""

    def test_sees_nothing_in_the_lists(self, manager: User, outsider: User, client_of: SignIn) -> None:
        holder = an_approved_cardholder(a_business(manager))
        cards_of(holder, 1)
        browser = client_of(outsider)
        for noun in ("customer", "cardholder", "card"):
            assert browser.get(url(noun)).context["cl"].result_count == 0

    def test_gets_the_same_404_as_for_what_never_was(
        self, manager: User, outsider: User, client_of: SignIn
    ) -> None:
        holder = an_approved_cardholder(a_business(manager))
        card = cards_of(holder, 1)[0]
        browser = client_of(outsider)
        for row in (holder.customer, holder, card):
            noun = row._meta.model_name or ""
            for page in ("change", "history", "state"):
                theirs, nobodys = (browser.get(url(noun, page, pk)) for pk in (row.pk, 999_999))
                assert (theirs.status_code, nobodys.status_code) == (404, 404)
                assert _without_ids(theirs) == _without_ids(nobodys)

    def test_cannot_act_on_what_they_do_not_see(
        self, manager: User, outsider: User, client_of: SignIn
    ) -> None:
        customer = a_business(manager)
        browser = client_of(outsider)
        assert browser.post(url("customer", "sync", customer.pk)).status_code == 404
        assert browser.post(url("customer", "details", customer.pk), {"name": "Mine"}).status_code == 404
        customer.refresh_from_db()
        assert customer.name == "Quay Ltd"

    def test_is_offered_no_cardholder_and_no_business(
        self, manager: User, outsider: User, client_of: SignIn
    ) -> None:
        holder = an_approved_cardholder(a_business(manager))
        browser = client_of(outsider)
        orders, registrations = (browser.get(url(n, "add")) for n in ("cardorder", "cardholderrequest"))
        assert str(holder) not in orders.content.decode()
        assert "Quay Ltd" not in registrations.content.decode()

    def test_who_works_for_one_customer_sees_that_one(
        self, manager: User, outsider: User, client_of: SignIn
    ) -> None:
        theirs, other = a_business(manager), a_business(manager, "cus_other", "Other Ltd")
        for business in (theirs, other):
            cardholders_of(business, 2)
        Assignment.objects.create(user=outsider, customer=theirs)
        found = client_of(outsider).get(url("cardholder")).context["cl"].queryset
        assert {holder.customer for holder in found} == {theirs}


IMPOSSIBLE = ("0", "99999999999999999999", "-1", "abc", "1%00", "1/2", "%F0%9F%92%B3", "_5F")


@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize("object_id", IMPOSSIBLE)
def test_an_impossible_id_is_a_404(noun: str, object_id: str, auditor: User, client_of: SignIn) -> None:
    # A NUL is turned away before any page is asked.
    expected = 400 if "%00" in object_id else 404
    assert client_of(auditor).get(f"{url(noun)}{object_id}/change/").status_code == expected


@pytest.mark.parametrize(
    "query",
    [
        "q=%00", "q=" + "x" * 5000, "p=99999", "p=abc", "o=9.9.9", "customer__id__exact=99999999999999999999",
        "customer__id__exact=abc", "review_state__exact=%00", "status__exact=%F0%9F%92%B3",
    ],
)  # fmt: skip
def test_an_impossible_filter_breaks_no_list(query: str, auditor: User, client_of: SignIn) -> None:
    answer = client_of(auditor).get(f"{url('cardholder')}?{query}", follow=True)
    assert answer.status_code == (400 if "%00" in query else 200)


@pytest.mark.parametrize(
    "lookup",
    [
        "customer__added_by__password__startswith=m",
        "registration__maker__password__contains=a",
        "payload__contains=x",
        "cards__order__details__envelope__isnull=1",
    ],
)
def test_a_hidden_column_cannot_be_guessed_by_filters(lookup: str, auditor: User, client_of: SignIn) -> None:
    answer = client_of(auditor).get(f"{url('cardholder')}?{lookup}")
    assert answer.status_code in (302, 400)


class TestNobody:
    def test_deletes_anything(self, manager: User, superuser: User, client_of: SignIn) -> None:
        holder = an_approved_cardholder(a_business(manager))
        card = cards_of(holder, 1)[0]
        for person in (superuser, manager):
            browser = client_of(person)
            for row in (holder.customer, holder, card):
                noun = row._meta.model_name or ""
                answer = browser.post(url(noun, "delete", row.pk), {"post": "yes"})
                assert answer.status_code in (403, 404)
                marked = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
                browser.post(url(noun), marked)
        assert (Customer.objects.count(), Cardholder.objects.count(), Card.objects.count()) == (1, 1, 1)

    def test_writes_a_mirror_by_posting_to_its_page(self, manager: User, client_of: SignIn) -> None:
        holder = an_approved_cardholder(a_business(manager))
        answer = client_of(manager).post(
            url("cardholder", "change", holder.pk), {"first_name": "Eve", "review_state": "approved"}
        )
        assert answer.status_code == 405
        holder.refresh_from_db()
        assert holder.first_name == "Nadia"


def test_a_get_of_any_act_changes_nothing(manager: User, client_of: SignIn) -> None:
    holder = an_approved_cardholder(a_business(manager))
    browser = client_of(manager)
    before = list(Entry.objects.values_list("pk", flat=True))
    browser.get(url("customer", "sync", holder.customer.pk))
    browser.get(url("customer", "details", holder.customer.pk))
    browser.get(url("cardholder", "review", holder.pk))
    assert list(Entry.objects.values_list("pk", flat=True)) == before


def test_a_post_without_its_token_is_refused(manager: User, client_of: SignIn) -> None:
    customer = a_business(manager)
    browser = client_of(manager)
    browser.handler.enforce_csrf_checks = True
    assert browser.post(url("customer", "sync", customer.pk)).status_code == 403
    assert not Entry.objects.filter(verb="customer.ask_sync").exists()
