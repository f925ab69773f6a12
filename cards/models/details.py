"""The sealed details of a card, and every time somebody looked."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from cards.models.requests import CardOrder


class SealedDetails(models.Model):
    """What Endl told once of a card, encrypted to our RSA key, and sealed again with STORAGE_KEYS.

    Only the process that shows details to people holds the key that opens the envelope.
    """

    order = models.OneToOneField(CardOrder, models.PROTECT, related_name="details")
    envelope = models.BinaryField(null=True)
    key_fingerprint = models.CharField(max_length=64, blank=True)
    last4 = models.CharField("last four", max_length=4, blank=True)
    exp_month = models.PositiveSmallIntegerField(null=True, blank=True)
    exp_year = models.PositiveSmallIntegerField(null=True, blank=True)
    received_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True)
    quarantined_at = models.DateTimeField(null=True, blank=True)
    destroyed_at = models.DateTimeField(null=True, blank=True)
    destroyed_because = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "sealed details"
        default_permissions = ("view",)
        permissions = (("open_mask", "Can let the server open the masked details"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(last4="") | Q(last4__regex=r"\A[0-9]{4}\Z"), name="details_last_four_only"
            ),
            models.CheckConstraint(
                condition=Q(envelope__isnull=False, destroyed_at=None)
                | Q(envelope=None, destroyed_at__isnull=False),
                name="details_are_kept_or_destroyed",
            ),
        )

    def __str__(self) -> str:
        return f"Details of order {self.order_id}"

    def __repr__(self) -> str:
        return f"<SealedDetails {self.pk}>"

    @property
    def is_destroyed(self) -> bool:
        return self.destroyed_at is not None


class CardReveal(models.Model):
    """That details were opened, by whom, why; committed before the envelope is."""

    class Purpose(models.TextChoices):
        MASK = "mask", "To learn last four and expiry"
        REVEAL = "reveal", "Shown to a person"

    class Result(models.TextChoices):
        STARTED = "started", "Started"
        DONE = "done", "Done"
        FAILED = "failed", "Could not be opened"

    details = models.ForeignKey(SealedDetails, models.PROTECT, related_name="reveals")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    purpose = models.CharField(max_length=10, choices=Purpose)
    reason = models.CharField(max_length=250)
    started_at = models.DateTimeField()
    result = models.CharField(max_length=10, choices=Result, default=Result.STARTED)

    class Meta:
        ordering = ("-started_at",)
        default_permissions = ("view",)
        permissions = (("reveal_card", "Can reveal the details of a card"),)
        constraints = (models.CheckConstraint(condition=~Q(reason=""), name="reveal_has_a_reason"),)

    def __str__(self) -> str:
        return f"{self.get_purpose_display()}, by {self.by}"
