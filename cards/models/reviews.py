"""Compliance's word on a cardholder."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from cards.models.mirrors import Cardholder


class CardholderReview(models.Model):
    """One review: whether cards may be issued to somebody. The newest one counts."""

    class Verdict(models.TextChoices):
        APPROVED = "approved", "Approve"
        REJECTED = "rejected", "Reject"

    cardholder = models.ForeignKey(Cardholder, models.PROTECT, related_name="reviews")
    verdict = models.CharField(max_length=10, choices=Verdict)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # A copy, so that a CHECK on this row can tell the two apart. Nobody here registered who came by sync.
    registered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("-made_at",)
        default_permissions = ("add", "view")
        constraints = (
            models.CheckConstraint(
                condition=Q(registered_by=None) | ~Q(by=F("registered_by")),
                name="review_not_by_who_registered",
            ),
            models.CheckConstraint(
                condition=Q(verdict="approved") | ~Q(reason=""), name="review_reject_has_a_reason"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_verdict_display()} {self.cardholder}"
