"""What lists cost, and what the home page says of cards."""

import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from backoffice.access.models import User
from backoffice.delivery.models import State
from cards import home, issuing, registering, review
from cards.models import Cardholder, CardholderRequest, CardholderReview, CardOrder, CardReveal, SealedDetails
from tests.cards.desk import a_business, cardholders_of, cards_of, texts_of, url

SignIn = Callable[[User], Browser]
LISTS = (
    "customer", "assignment", "cardholderrequest", "cardholder", "cardorder", "card", "cardholderreview",
    "cardreveal", "sealeddetails",
)  # fmt: skip


def fill(count: int, *, manager: User, compliance: User, is_settled: bool = True) -> None:
    """So many rows of every noun, each with a customer of its own; the orders issued or on their way."""
    now, word = timezone.now(), secrets.token_hex(4)
    for number in range(count):
        business = a_business(manager, f"cus_{word}_{number}", f"Business {number}")
        holder = cardholders_of(business, 1, review_state="approved")[0]
        card = cards_of(holder, 1)[0]
        review.review_cardholder(
            cardholder=holder, verdict=CardholderReview.Verdict.APPROVED, reason="", by=compliance, now=now
        )
        order = issuing.request_card(
            cardholder=holder,
            amount_cents=1,
            purpose="x",
            form_token=secrets.token_hex(16),
            by=manager,
            now=now,
        )
        if is_settled:
            CardOrder.objects.filter(pk=order.pk).update(state=State.ISSUED, card=card)
        details = SealedDetails.objects.create(order=order, envelope=b"x", received_at=now)
        CardReveal.objects.create(details=details, by=manager, purpose="mask", reason="x", started_at=now)
        registering.register_cardholder(
            customer=business, first_name="Ann", last_name="Lee", email="a@example.com", phone="",
            form_token=secrets.token_hex(16), by=manager, now=now,
        )  # fmt: skip
        manager.assignments.create(customer=business, given_by=compliance)


def queries_of(browser: Browser, address: str) -> int:
    texts_of(browser, address)
    with CaptureQueriesContext(connection) as asked:
        texts_of(browser, address)
    return len(asked)


@pytest.mark.parametrize("noun", LISTS)
def test_a_long_list_asks_no_more_than_a_short_one(
    noun: str,
    manager: User,
    compliance: User,
    auditor: User,
    client_of: SignIn,
) -> None:
    browser = client_of(auditor)
    fill(3, manager=manager, compliance=compliance)
    few = queries_of(browser, url(noun))
    fill(40, manager=manager, compliance=compliance)
    assert queries_of(browser, url(noun)) <= few <= 25


@pytest.mark.parametrize("noun", ["customer", "cardholder"])
def test_a_busy_page_asks_no_more_than_a_quiet_one(
    noun: str, manager: User, client_of: SignIn, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    business = a_business(manager)
    holder = cardholders_of(business, 1)[0]
    cards_of(holder, 2)
    browser = client_of(manager)
    address = url(noun, "change", business.pk if noun == "customer" else holder.pk)
    few = queries_of(browser, address)
    cardholders_of(business, 100)
    cards_of(holder, 100)
    with django_assert_max_num_queries(few):
        texts_of(browser, address)


class TestHome:
    def tiles(self, person: User) -> dict[str, Any]:
        return {fact.label: fact.value for panel in home.panels(person) for fact in panel.facts}

    def test_compliance_sees_whom_to_review(self, manager: User, compliance: User) -> None:
        cardholders_of(a_business(manager), 3)
        assert ">3</a>" in self.tiles(compliance)["Cardholders to review"]
        assert "Cardholders to review" not in self.tiles(manager)

    def test_a_checker_sees_what_to_decide(self, manager: User, checker: User) -> None:
        holder = cardholders_of(a_business(manager), 1, review_state=Cardholder.Review.APPROVED)[0]
        for cents in (100_001, 5):
            issuing.request_card(
                cardholder=holder, amount_cents=cents, purpose="x", form_token=secrets.token_hex(16),
                by=manager, now=timezone.now(),
            )  # fmt: skip
        assert ">1</a>" in self.tiles(checker)["Card orders to decide"]
        assert ">2</a>" in self.tiles(manager)["My open orders"]

    def test_a_manager_sees_what_went_wrong(self, manager: User, compliance: User) -> None:
        fill(3, manager=manager, compliance=compliance, is_settled=False)
        unknown, lost, stuck = CardOrder.objects.values_list("pk", flat=True)
        now = timezone.now()
        CardOrder.objects.filter(pk=unknown).update(state=State.UNKNOWN, unclear_at=now)
        CardOrder.objects.filter(pk=lost).update(state=State.DETAILS_LOST)
        CardOrder.objects.filter(pk=stuck).update(needs_person=True)
        refused = CardholderRequest.objects.values_list("pk", flat=True)[0]
        CardholderRequest.objects.filter(pk=refused).update(state=State.REFUSED)
        tiles = self.tiles(manager)
        for label in (
            "Orders with unknown outcome", "Orders that need a person", "Details lost in a week",
            "Registrations refused in a week",
        ):  # fmt: skip
            assert ">1</a>" in tiles[label]

    def test_every_count_leads_to_a_list_of_as_many(
        self, manager: User, compliance: User, checker: User, client_of: SignIn
    ) -> None:
        fill(4, manager=manager, compliance=compliance)
        cardholders_of(a_business(manager), 2)
        for person in (manager, compliance, checker):
            browser = client_of(person)
            for tile in self.tiles(person).values():
                found = re.search(r'href="([^"]+)">(\d+)<', tile)
                assert found is not None
                page = browser.get(found[1].replace("&amp;", "&"))
                assert page.status_code == 200
                assert page.context["cl"].result_count == int(found[2])

    def test_counts_only_what_is_in_scope(self, manager: User, outsider: User, compliance: User) -> None:
        fill(2, manager=manager, compliance=compliance)
        assert all(">0</a>" in tile for tile in self.tiles(outsider).values())

    def test_who_has_nothing_to_do_with_cards_sees_no_panel(self, maker: User, superuser: User) -> None:
        assert home.panels(maker) == home.panels(superuser) == []
