"""Wallets that people type in, and those that were learned and are completed by hand."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from cards import scope
from cards.models import Customer
from funding.models import Wallet


class WalletExists(Refusal):
    """The id was added before."""


@operation("wallet.add", about="customer")
def add_wallet(
    *, customer: Customer, endl_id: str, label: str, chain: str, currency: str, by: User, now: datetime
) -> Wallet:
    """Add a wallet by its Endl id. Raises NotAllowed, WalletExists."""
    scope.check(by, "funding.add_wallet", customer)
    given = {"label": label, "chain": chain, "currency": currency}
    try:
        with transaction.atomic():
            wallet = Wallet.objects.create(
                endl_id=endl_id, customer=customer, added_by=by, added_at=now, **given
            )
    except IntegrityError:
        raise WalletExists(f"{endl_id} was added before.") from None
    record("wallet.add", wallet, by=by, new={"endl_id": endl_id, **given})
    return wallet


@operation("wallet.change", about="wallet")
def change_wallet(
    *, wallet: Wallet, label: str, chain: str, currency: str, is_active: bool, by: User
) -> Wallet:
    """Change what we say of a wallet. Raises NotAllowed."""
    scope.check(by, "funding.change_wallet", wallet.customer)
    new: dict[str, Any] = {"label": label, "chain": chain, "currency": currency, "is_active": is_active}
    changed = {key: value for key, value in new.items() if getattr(wallet, key) != value}
    old = {key: getattr(wallet, key) for key in changed}
    if changed:
        Wallet.objects.filter(pk=wallet.pk).update(**changed)
        wallet.refresh_from_db()
        record("wallet.change", wallet, by=by, old=old, new=changed)
    return wallet
