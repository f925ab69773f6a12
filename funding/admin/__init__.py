"""The pages of money."""

from funding.admin import deposits, events, requests, wallets, withdrawals  # noqa: F401
