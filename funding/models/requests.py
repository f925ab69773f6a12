"""What finance asks for: a deposit from a wallet onto the card balance."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from backoffice.delivery.models import Request, State
from backoffice.money import plain
from funding.models.mirrors import Deposit
from funding.models.wallets import Wallet


class DepositRequest(Request):
    """A wish to fund the card balance of a customer. A checker decides; it is sent once."""

    kind: ClassVar[str] = "deposit"
    ready: ClassVar[tuple[State, ...]] = (State.APPROVED,)

    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="requests")
    amount = models.DecimalField(max_digits=20, decimal_places=6)
    currency = models.CharField(max_length=12)
    chain = models.CharField(max_length=40, blank=True)
    note = models.CharField(max_length=140, blank=True)
    deposit = models.OneToOneField(Deposit, models.PROTECT, null=True, blank=True, related_name="request")
    replaces = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="replaced_by")
    # When a submitted deposit is looked at next, where Endl has a read for it.
    follow_at = models.DateTimeField(null=True, blank=True)

    class Meta(Request.Meta):
        verbose_name = "deposit request"
        default_permissions = ("add", "view")
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *Request.Meta.constraints,
            models.CheckConstraint(condition=Q(amount__gt=0), name="depositrequest_amount_is_positive"),
            # PostgreSQL's numeric holds NaN, which is greater than any number.
            models.CheckConstraint(
                condition=Q(amount__lt=1_000_000_000_000), name="depositrequest_amount_is_a_number"
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "requested",
                        "approved",
                        "sending",
                        "submitted",
                        "completed",
                        "failed",
                        "rejected",
                        "cancelled",
                        "expired",
                        "refused",
                        "unknown",
                    ]
                ),
                name="depositrequest_known_state",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["submitted", "completed", "failed"]) | Q(deposit__isnull=False),
                name="depositrequest_taken_has_its_deposit",
            ),
            models.CheckConstraint(
                condition=Q(approval__isnull=False), name="depositrequest_has_its_approval"
            ),
        )

    def __str__(self) -> str:
        return f"Deposit {plain(self.amount)} {self.currency}"

    @property
    def customer_endl_id(self) -> str:
        return self.wallet.customer.endl_id
