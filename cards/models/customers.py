"""Customers, and who sees which."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Customer(models.Model):
    """A customer of Endl's that we work for. Endl has no read for them: people type them in.

    What Endl says of a customer is learned from its answers, and only sync and deliveries write it.
    """

    class Type(models.TextChoices):
        BUSINESS = "business", "Business"
        INDIVIDUAL = "individual", "Individual"
        EMPLOYEE = "employee", "Employee"

    endl_id = models.CharField("Endl id", max_length=128, unique=True)
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=10, choices=Type)
    is_active = models.BooleanField("in use", default=True)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    added_at = models.DateTimeField(default=timezone.now, editable=False)

    # Learned from Endl; None while it has not said.
    is_known = models.BooleanField("known to Endl", null=True, editable=False)
    is_business = models.BooleanField("a business at Endl", null=True, editable=False)
    is_enabled = models.BooleanField("enabled for cards", null=True, editable=False)
    is_enrolled = models.BooleanField("enrolled for deposits", null=True, editable=False)
    learned_at = models.DateTimeField(null=True, blank=True, editable=False)
    learned_message = models.TextField(blank=True, editable=False)

    class Meta:
        ordering = ("name",)
        permissions = (
            ("sync_customer", "Can ask for a customer to be synced now"),
            ("view_every_customer", "Sees every customer without being assigned"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(endl_id__regex=r"\A[A-Za-z0-9_-]{1,128}\Z"), name="customer_id_fits_a_url"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="customer_has_a_name"),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def customer_endl_id(self) -> str:
        return self.endl_id

    @property
    def can_hold_cards(self) -> bool:
        """Whether cardholders and cards are possible, as far as we know."""
        return (
            self.type == self.Type.BUSINESS and self.is_business is not False and self.is_enabled is not False
        )


class Assignment(models.Model):
    """That a person works for a customer, or for every customer, those to come included."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="assignments")
    customer = models.ForeignKey(
        Customer, models.CASCADE, null=True, blank=True, help_text="Leave empty for every customer."
    )
    given_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, editable=False
    )
    given_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("user", "customer")
        constraints = (
            models.UniqueConstraint(fields=("user", "customer"), name="assignment_once"),
            models.UniqueConstraint(
                fields=("user",), condition=Q(customer=None), name="assignment_to_all_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} works for {self.customer or 'every customer'}"
