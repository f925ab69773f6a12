"""The nouns of money: wallets, deposits and withdrawals, and what Endl's webhooks said."""

from funding.models.events import WebhookEvent
from funding.models.mirrors import Deposit, Withdrawal
from funding.models.requests import DepositRequest
from funding.models.wallets import Wallet

__all__ = ["Deposit", "DepositRequest", "Wallet", "WebhookEvent", "Withdrawal"]
