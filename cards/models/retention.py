"""The proof that card details go when they should: one row a look, made daily or on request."""

from django.db import models
from django.db.models import Q


class RetentionReport(models.Model):
    """What was destroyed and what is kept past its time, as found at one moment. Never changed."""

    made_at = models.DateTimeField("when")
    by = models.CharField(max_length=150)
    kept = models.PositiveIntegerField("envelopes kept")
    destroyed = models.PositiveIntegerField("destroyed so far")
    # Why, and how often, since the report before this one: [["72 hours have passed", 3], ...].
    reasons = models.JSONField(default=list)
    overdue_details = models.PositiveIntegerField()
    overdue_answers = models.PositiveIntegerField()
    overdue_files = models.PositiveIntegerField()
    # Destroyed details, chosen at random, of which something was tried to be found; and how many were found.
    tried = models.PositiveIntegerField()
    opened = models.PositiveIntegerField()

    class Meta:
        ordering = ("-made_at", "-pk")
        default_permissions = ("view", "add")
        constraints = (
            models.CheckConstraint(
                condition=Q(opened__lte=models.F("tried")), name="report_opened_of_those_tried"
            ),
        )

    def __str__(self) -> str:
        return f"Retention report {self.pk}"

    @property
    def overdue(self) -> int:
        """Everything that is kept past its time."""
        return self.overdue_details + self.overdue_answers + self.overdue_files

    @property
    def is_well(self) -> bool:
        """Whether nothing is kept past its time, and nothing that is destroyed could be had again."""
        return not self.overdue and not self.opened
