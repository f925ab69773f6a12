"""Working at the pages as a browser does, and rows to work with where no Endl is needed."""

import secrets
from typing import Any

from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from backoffice.access.models import User
from cards.models import Card, Cardholder, Customer

Answer = Any
_MASK = {"last4": "4242", "exp_month": 7, "exp_year": 2031}


def url(noun: str, page: str = "changelist", pk: int | None = None) -> str:
    """The address of a page of cards, such as url("cardorder", "add")."""
    return reverse(f"admin:cards_{noun}_{page}", args=() if pk is None else (pk,))


def submit(browser: Browser, noun: str, **typed: Any) -> Answer:
    """Open the form that makes a noun, fill it in and post it, once."""
    page = browser.get(url(noun, "add"))
    assert page.status_code == 200, page.status_code
    token = page.context["form"].fields["form_token"].initial
    return browser.post(url(noun, "add"), {"form_token": token, **typed})


def errors(answer: Answer) -> dict[str, list[str]]:
    """What the form says, by field; "__all__" is above the form."""
    assert answer.status_code == 200, f"the form was taken: {answer.status_code} {answer.headers}"
    return {name: list(found) for name, found in answer.context["form"].errors.items()}


def texts_of(browser: Browser, address: str) -> str:
    """The text of a page that can be looked at."""
    answer = browser.get(address)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def a_business(by: User, endl_id: str = "cus_quay", name: str = "Quay Ltd", **more: Any) -> Customer:
    """A business that nobody asked Endl about."""
    return Customer.objects.create(
        endl_id=endl_id, name=name, type=more.pop("type", Customer.Type.BUSINESS), added_by=by, **more
    )


def cardholders_of(business: Customer, count: int, **more: Any) -> list[Cardholder]:
    """Cardholders as sync would have found them."""
    now = timezone.now()
    return Cardholder.objects.bulk_create(
        Cardholder(
            endl_id=f"ch_{secrets.token_hex(6)}",
            customer=business,
            first_seen_at=now,
            changed_at=now,
            payload={},
            digest="0",
            **{
                "first_name": "Nadia",
                "last_name": f"Berg {number}",
                "email": f"nadia.{number}@example.com",
                "status": "active",
                **more,
            },
        )
        for number in range(count)
    )


def an_approved_cardholder(business: Customer) -> Cardholder:
    """One that a card may be issued to."""
    return cardholders_of(business, 1, review_state=Cardholder.Review.APPROVED)[0]


def cards_of(holder: Cardholder, count: int, **more: Any) -> list[Card]:
    """Cards as sync would have found them."""
    now = timezone.now()
    return Card.objects.bulk_create(
        Card(
            endl_id=f"crd_{secrets.token_hex(6)}",
            cardholder=holder,
            created_at=now,
            first_seen_at=now,
            changed_at=now,
            payload={},
            digest="0",
            **{"status": "active", "amount_cents": 1999, **_MASK, **more},
        )
        for _number in range(count)
    )
