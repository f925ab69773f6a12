"""Approving many at once: what was chosen, frozen with what was seen, and what became of each."""

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q

from backoffice.approvals.models.approvals import Approval


class BulkRun(models.Model):
    """One choice of one person. Its rows are made with it; later arrivals are never taken in."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # What was chosen, in words: the ticked ones, a page, or a whole filter.
    chosen = models.CharField(max_length=200)
    made_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ("-made_at",)
        verbose_name = "approval of many"
        verbose_name_plural = "approvals of many"
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"Approval of many by {self.person}, {self.made_at:%Y-%m-%d %H:%M %Z}"


class BulkRow(models.Model):
    """One chosen approval, with the hash that was on the screen."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        LEFT_OUT = "left_out", "Left out"
        DONE = "done", "Approved by you"
        REFUSED = "refused", "Not approved"

    class Grade(models.TextChoices):
        PASS = "pass", "Passes"
        LOOK = "look", "Deserves a look"
        STOP = "stop", "Fails"

    run = models.ForeignKey(BulkRun, models.PROTECT, related_name="rows")
    number = models.PositiveSmallIntegerField()
    approval = models.ForeignKey(Approval, models.PROTECT, related_name="+")
    seen_hash = models.CharField(max_length=64)
    summary = models.CharField(max_length=200)
    amount = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    currency = models.CharField(max_length=12, blank=True)
    grade = models.CharField(max_length=5, choices=Grade)
    # The sentences of the checks that did not pass.
    told = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    # What became of it, as a sentence.
    outcome = models.TextField(blank=True)

    class Meta:
        ordering = ("run", "number")
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("run", "approval"), name="bulkrow_once_a_run"),
            models.CheckConstraint(
                condition=~Q(grade="stop") | Q(state="left_out"), name="bulkrow_failed_is_left_out"
            ),
        )

    def __str__(self) -> str:
        return self.summary

    @property
    def exact_amount(self) -> Decimal:
        return self.amount if self.amount is not None else Decimal(0)
