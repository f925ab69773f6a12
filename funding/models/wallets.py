"""Wallets: typed in by people, or learned from deposits and withdrawals."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from cards.models import Customer


class Wallet(models.Model):
    """A customer's wallet in its Endl account, from which deposits are paid."""

    class Source(models.TextChoices):
        TYPED = "typed", "Typed in"
        LEARNED = "learned", "Seen at Endl"

    endl_id = models.CharField("Endl id", max_length=128, unique=True)
    customer = models.ForeignKey(Customer, models.PROTECT, related_name="wallets")
    label = models.CharField(max_length=100, blank=True)
    chain = models.CharField(max_length=40, blank=True)
    currency = models.CharField(max_length=12, blank=True)
    is_active = models.BooleanField("in use", default=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.TYPED, editable=False)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    added_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("customer", "label")
        constraints = (
            models.CheckConstraint(
                condition=Q(endl_id__regex=r"\A[A-Za-z0-9_-]{1,128}\Z"), name="wallet_id_fits_a_url"
            ),
            models.CheckConstraint(
                condition=Q(currency="") | Q(currency__regex=r"\A[A-Z0-9]{2,12}\Z"),
                name="wallet_currency_is_a_code",
            ),
        )

    def __str__(self) -> str:
        name = self.label or self.endl_id
        return (
            f"{name} ({' on '.join(part for part in (self.currency, self.chain) if part)})"
            if self.currency
            else name
        )

    @property
    def customer_endl_id(self) -> str:
        return self.customer.endl_id
