"""Power cuts: whatever process dies at whatever moment, Endl does each thing once and every request ends.

Tests of the road die at each of its points by name; here the moments are random, and the processes real.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from django.db.models import QuerySet

from backoffice.delivery.models import State
from cards.models import Cardholder, CardOrder
from funding.models import DepositRequest, Wallet
from tests.journeys.clerk import Page, Staff
from tests.journeys.office import Office, until

pytestmark = pytest.mark.worker
COUNT = 10
KILLS = 4
# From the last kill on.
SECONDS = 60
_DONE = {
    "start_deposit": {State.COMPLETED},
    # The one answer that held the sealed details may have died with the worker: that is said, not repaired.
    "issue_card": {State.ISSUED, State.DETAILS_LOST},
}


@pytest.mark.parametrize("victim", ["worker", "web", "emulator"])
def test_one_effect_for_each_request_and_every_request_ends(
    office: Office, staff: Staff, wallet: Wallet, cardholder: Cardholder, victim: str
) -> None:
    office.settings(settle_seconds=0.5)
    with ThreadPoolExecutor(1) as desk:
        asked = desk.submit(ask_for_everything, staff, wallet.pk, cardholder.pk)
        keep_killing(office, victim)
        asked.result()
    check("start_deposit", DepositRequest.objects.filter(wallet=wallet), office, wallet.customer.endl_id)
    check("issue_card", CardOrder.objects.filter(cardholder=cardholder), office, wallet.customer.endl_id)


def ask_for_everything(staff: Staff, wallet: int, cardholder: int) -> None:
    for number in range(COUNT):
        ask_for_a_card(staff, cardholder, number)
        ask_for_a_deposit(staff, wallet, number)


def keep_killing(office: Office, victim: str) -> None:
    """kill -9, and start again, at random. In the main thread: with it its children die."""
    for _ in range(KILLS):
        time.sleep(random.uniform(0.2, 2))
        office.kill(victim)


def ask_for_a_card(staff: Staff, cardholder: int, number: int) -> None:
    form = patiently(lambda: staff.manager.look("/admin/cards/cardorder/add/"))
    patiently(
        lambda: staff.manager.press(
            form,
            "Issue card",
            cardholder=cardholder,
            amount=f"{10 + number}.00",
            purpose=f"Train {number}",
        )
    )


def ask_for_a_deposit(staff: Staff, wallet: int, number: int) -> None:
    form = patiently(lambda: staff.maker.look("/admin/funding/depositrequest/add/"))
    made = patiently(
        lambda: staff.maker.press(form, "Request deposit", wallet=wallet, amount=f"{10 + number}.00")
    )
    shown = patiently(lambda: staff.checker.look(made.url))
    patiently(lambda: staff.checker.press(shown, "Approve"))


def patiently(act: Callable[[], Page]) -> Page:
    """Do something at the desk; where the office was not there, do the very same again.

    A form that was posted before its answer was lost brings what the first post made, and no second request.
    """
    until_at = time.monotonic() + SECONDS
    while True:
        try:
            page = act()
        except requests.RequestException:
            assert time.monotonic() < until_at, "the office did not come back"
            time.sleep(0.3)
        else:
            return page


def check(operation: str, wishes: QuerySet[Any], office: Office, customer: str) -> None:
    """One row for each form, one effect for each row, and each row in a state that says what happened."""

    def left() -> Counter[str]:
        return Counter(wish.state for wish in wishes.all() if wish.state not in _DONE[operation])

    assert until(lambda: not left(), SECONDS), left()
    assert wishes.count() == COUNT
    effects = Counter(effect["key"] for effect in office.effects(operation, customer))
    assert effects == Counter(wish.idempotency_key for wish in wishes)
