"""What must hold of money at any moment, beside what holds of every request."""

from collections.abc import Iterator
from datetime import datetime

from backoffice.delivery.alerts import Finding
from backoffice.delivery.invariants import Check
from backoffice.delivery.models import State
from funding.models import DepositRequest


def i10_sums_agree(now: datetime) -> Iterator[Finding]:
    """An ended request and its deposit at Endl say the same end, amount and currency."""
    ended = DepositRequest.objects.filter(state__in=(State.COMPLETED, State.FAILED)).select_related("deposit")
    for wish in ended:
        deposit = wish.deposit
        assert deposit is not None
        if deposit.status != wish.state:
            yield Finding(wish, f"It is {wish.state}, and its deposit is {deposit.status}.")
        if deposit.amount is not None and (deposit.amount, deposit.currency) != (wish.amount, wish.currency):
            yield Finding(wish, f"Endl's deposit is {deposit.amount_text} {deposit.currency}.")


CHECKS: dict[str, Check] = {"I10": i10_sums_agree}
