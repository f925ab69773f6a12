"""Deposits and withdrawals as Endl tells them, for tests of their pages."""

from typing import Any

from django.utils import timezone

from backoffice import endl as api
from cards.models import Customer
from funding import sync
from funding.models import Deposit, Withdrawal


def a_deposit(customer: Customer, **told: Any) -> Deposit:
    given = {
        "depositId": "cdp_1",
        "customerId": customer.endl_id,
        "method": "external",
        "status": "completed",
        "amount": {"amount": "100.00", "currency": "USDC"},
        "createdAt": "2026-11-01T10:00:00Z",
    }
    return sync.take_in_deposit(customer, api.parse_deposit(given | told), now=timezone.now())


def a_withdrawal(customer: Customer, **told: Any) -> Withdrawal:
    given = {
        "withdrawalId": "cwd_1",
        "customerId": customer.endl_id,
        "status": "pending",
        "amount": {"amount": "40.00", "currency": "USDC"},
        "destination": {"address": "0xfeed"},
        "createdAt": "2026-11-01T10:00:00Z",
    }
    return sync.take_in_withdrawal(customer, api.parse_withdrawal(given | told), now=timezone.now())
