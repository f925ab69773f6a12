"""Endl's deposits and withdrawals, as it last told them."""

from typing import Any, ClassVar

from django.db import models

from backoffice.mirror.models import Mirror
from cards.models import Customer
from funding.models.wallets import Wallet


class Movement(Mirror):
    """What a deposit and a withdrawal have in common.

    The amount is kept as the text that came, with a decimal beside it for sorting and sums.
    """

    KNOWN_STATUSES: ClassVar[frozenset[str]] = frozenset({"pending", "completed", "failed"})
    ENDED: ClassVar[frozenset[str]] = frozenset({"completed", "failed"})

    amount_text = models.CharField("amount", max_length=80, blank=True)
    amount = models.DecimalField(max_digits=40, decimal_places=12, null=True, blank=True)
    currency = models.CharField(max_length=40, blank=True)
    chain = models.CharField(max_length=80, blank=True)
    transaction_hash = models.CharField(max_length=200, blank=True)
    failure_reason = models.TextField(blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta(Mirror.Meta):
        abstract = True

    @property
    def has_ended(self) -> bool:
        return self.status in self.ENDED

    def contradicts(self, status: str) -> bool:
        return self.has_ended and status != self.status

    @property
    def fees(self) -> list[dict[str, Any]]:
        """The fees as Endl told them; whatever is not a fee is left out."""
        fees = self.payload.get("fees") if isinstance(self.payload, dict) else None
        return [fee for fee in fees if isinstance(fee, dict)] if isinstance(fees, list) else []


class Deposit(Movement):
    """Money put onto the card balance."""

    customer = models.ForeignKey(Customer, models.PROTECT, related_name="deposits")
    wallet = models.ForeignKey(Wallet, models.PROTECT, null=True, blank=True, related_name="deposits")
    method = models.CharField(max_length=40, blank=True)
    # A state that rests on a webhook's word alone, since Endl has no read for it.
    is_not_reread = models.BooleanField("not re-read", default=False)

    class Meta(Movement.Meta):
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("customer", "-created_at"), name="deposit_by_customer"),
            models.Index(fields=("status", "-created_at"), name="deposit_by_status"),
        )

    @property
    def customer_endl_id(self) -> str:
        return self.customer.endl_id


class Withdrawal(Movement):
    """Money taken off the card balance."""

    customer = models.ForeignKey(Customer, models.PROTECT, related_name="withdrawals")
    destination_wallet = models.ForeignKey(
        Wallet, models.PROTECT, null=True, blank=True, related_name="withdrawals"
    )
    destination_address = models.CharField(max_length=200, blank=True)
    # When it was last read alone, and when the next look is due while it is pending.
    looked_at = models.DateTimeField(null=True, blank=True)

    class Meta(Movement.Meta):
        ordering = ("-created_at", "-id")
        default_permissions = ("add", "view")
        indexes = (
            models.Index(fields=("customer", "-created_at"), name="withdrawal_by_customer"),
            models.Index(fields=("status", "-created_at"), name="withdrawal_by_status"),
        )

    @property
    def customer_endl_id(self) -> str:
        return self.customer.endl_id
