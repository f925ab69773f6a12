"""Endl's cardholders and cards, as it last told them."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from backoffice.mirror.models import Mirror
from cards.models.customers import Customer


class Cardholder(Mirror):
    """A person who may hold cards. Whether we may issue to them is compliance's word: see `review_state`."""

    class Review(models.TextChoices):
        UNREVIEWED = "unreviewed", "Not reviewed"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"

    KNOWN_STATUSES: ClassVar[frozenset[str]] = frozenset({"active", "pending", "disabled"})

    customer = models.ForeignKey(Customer, models.PROTECT, related_name="cardholders")
    first_name = models.CharField(max_length=300, blank=True)
    last_name = models.CharField(max_length=300, blank=True)
    email = models.CharField(max_length=320, blank=True)
    phone = models.CharField(max_length=64, blank=True)
    # Ours, written by a review only: sync leaves it alone.
    review_state = models.CharField("review", max_length=12, choices=Review, default=Review.UNREVIEWED)

    class Meta(Mirror.Meta):
        ordering = ("last_name", "first_name")
        indexes = (
            models.Index(fields=("customer", "last_name"), name="cardholder_by_customer"),
            models.Index(fields=("email",), name="cardholder_by_email"),
            models.Index(fields=("review_state",), name="cardholder_by_review"),
        )

    def __str__(self) -> str:
        return self.full_name or self.endl_id

    @property
    def full_name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    @property
    def customer_endl_id(self) -> str:
        return self.customer.endl_id


class Card(Mirror):
    """A single-use card at Endl. Its number is not here: see SealedDetails."""

    KNOWN_STATUSES: ClassVar[frozenset[str]] = frozenset({"active", "used", "expired", "cancelled"})
    ENDED: ClassVar[frozenset[str]] = frozenset({"used", "expired", "cancelled"})

    cardholder = models.ForeignKey(Cardholder, models.PROTECT, related_name="cards")
    type = models.CharField(max_length=40, blank=True)
    last4 = models.CharField("last four", max_length=4, blank=True)
    exp_month = models.PositiveSmallIntegerField(null=True, blank=True)
    exp_year = models.PositiveSmallIntegerField(null=True, blank=True)
    amount_cents = models.BigIntegerField(null=True, blank=True)

    class Meta(Mirror.Meta):
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("cardholder", "status"), name="card_by_cardholder"),
            models.Index(fields=("status",), name="card_by_status"),
            models.Index(fields=("-created_at",), name="card_by_age"),
        )
        constraints = (
            # Never more of a number than its end may stand in this table.
            models.CheckConstraint(
                condition=Q(last4="") | Q(last4__regex=r"\A[0-9]{4}\Z"), name="card_last_four_only"
            ),
        )

    def __str__(self) -> str:
        return f"Card {self.masked}"

    @property
    def masked(self) -> str:
        """The number as everybody may see it."""
        return f"•••• •••• •••• {self.last4 or '••••'}"

    @property
    def has_ended(self) -> bool:
        return self.status in self.ENDED

    def contradicts(self, status: str) -> bool:
        return self.has_ended and status not in self.ENDED

    @property
    def customer_endl_id(self) -> str:
        return self.cardholder.customer.endl_id
