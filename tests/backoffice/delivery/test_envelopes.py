"""Card details come once: an envelope that arrived is kept, whatever becomes of the rest."""

import pytest

from backoffice.access import roles
from backoffice.audit.trail import NotAllowed
from backoffice.delivery import checkpoint
from backoffice.delivery.models import State
from cards import issuing
from cards.models import Cardholder, SealedDetails
from tests.backoffice.delivery.conftest import Trip
from tests.people import a_person
from tests.wishes import an_order, approval_of


def test_a_late_one_mends_details_that_were_given_up(order: Trip) -> None:
    """The first sender sleeps with the answer in its hand; the second is told that the card exists."""
    states: list[str] = []

    def sleep(reached: str) -> None:
        if reached == "after-send" and not states:
            states.append("asleep")
            order.clock.advance(minutes=5)
            order.deliver()
            states.append(order.state)

    checkpoint.hooks.append(sleep)
    try:
        order.deliver()
    finally:
        checkpoint.hooks.clear()
    assert states == ["asleep", State.DETAILS_LOST]
    assert order.state == State.ISSUED
    assert SealedDetails.objects.filter(order=order.row).exists()
    assert len(order.effects) == 1


def test_it_is_kept_where_the_rest_of_the_answer_belongs_to_another_order(start) -> None:
    first: Trip = start("card_order")
    first.deliver()
    second: Trip = start("card_order")
    second.fault("mutate", field="cardId", mutation="value", value=first.row.card.endl_id)
    second.deliver()
    assert second.row.needs_person
    assert SealedDetails.objects.filter(order=second.row).exists()


def test_a_checker_of_other_customers_approves_no_card(cardholder: Cardholder, manager, now) -> None:
    order = an_order(cardholder, by=manager, now=now, cents=2_000_00)
    stranger = a_person("stranger", roles.FINANCE_CHECKER, works_for_all=False)
    with pytest.raises(NotAllowed):
        issuing.approve_order(request=order, by=stranger, seen=approval_of(order).facts_hash, now=now)
