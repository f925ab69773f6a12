"""The people and things of the tests are what their names say."""

from collections.abc import Callable

import pytest
from django.test import Client as Browser

from backoffice.access.models import User
from backoffice.endl import Client
from cards import scope
from cards.models import Cardholder, Customer
from funding.models import Wallet


def test_a_person_signs_in_and_sees_the_office(client_of: Callable[[User], Browser], maker: User) -> None:
    browser = client_of(maker)
    assert browser.get("/admin/").status_code == 200


def test_the_outsider_sees_no_customer(outsider: User, manager: User, business: Customer) -> None:
    assert not scope.customers_for(outsider).exists()
    assert scope.works_for(manager, business)


def test_the_cardholder_may_have_cards_and_the_wallet_is_known(
    cardholder: Cardholder, wallet: Wallet, endl: Client
) -> None:
    assert cardholder.review_state == Cardholder.Review.APPROVED
    assert [holder.cardholder_id for holder in endl.list_cardholders(cardholder.customer.endl_id).items] == [
        cardholder.endl_id
    ]
    assert wallet.customer == cardholder.customer


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("time", ["first", "second"])
def test_real_commits_go_between_tests(time: str, cardholder: Cardholder) -> None:
    assert Cardholder.objects.count() == 1
