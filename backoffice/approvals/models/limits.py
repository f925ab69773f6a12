"""Up to which amount one person may decide: at once, and in 24 hours."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Limit(models.Model):
    """One person's limit in one currency. Without a row, only the rules limit them."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="approval_limits")
    currency = models.CharField(max_length=12)
    per_decision = models.DecimalField(max_digits=20, decimal_places=6)
    per_day = models.DecimalField(max_digits=20, decimal_places=6)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    set_at = models.DateTimeField()
    # The agreed wish that raised it last; lowering needs none.
    raised_by = models.ForeignKey(
        "approvals.LimitChange", models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ("person", "currency")
        default_permissions = ("view",)
        permissions = (("change_limits", "Can set personal limits, and agree to another's raise"),)
        constraints = (
            models.UniqueConstraint(fields=("person", "currency"), name="limit_once_a_currency"),
            models.CheckConstraint(
                condition=Q(per_decision__gte=0, per_day__gte=0, per_day__lt=10**12), name="limit_is_a_number"
            ),
            models.CheckConstraint(
                condition=Q(per_decision__lte=F("per_day")), name="limit_of_one_within_the_day"
            ),
            models.CheckConstraint(condition=~Q(set_by=F("person")), name="limit_set_by_another"),
        )

    def __str__(self) -> str:
        return f"Limit of {self.person} in {self.currency}"


class LimitChange(models.Model):
    """A wish to raise a limit: asked for by one administrator, decided once by another."""

    class State(models.TextChoices):
        PENDING = "pending", "Waiting for another administrator"
        APPROVED = "approved", "Agreed"
        REJECTED = "rejected", "Rejected"
        CANCELLED = "cancelled", "Taken back"

    limit = models.ForeignKey(Limit, models.PROTECT, related_name="changes")
    was_per_decision = models.DecimalField(max_digits=20, decimal_places=6)
    was_per_day = models.DecimalField(max_digits=20, decimal_places=6)
    per_decision = models.DecimalField(max_digits=20, decimal_places=6)
    per_day = models.DecimalField(max_digits=20, decimal_places=6)
    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # A copy, so that a CHECK can tell that nobody has a hand in their own limit.
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.TextField()
    made_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_reason = models.TextField(blank=True)

    class Meta:
        ordering = ("-made_at",)
        default_permissions = ("view",)
        constraints = (
            models.CheckConstraint(condition=~Q(reason=""), name="limitchange_has_a_reason"),
            models.CheckConstraint(
                condition=Q(per_decision__lte=F("per_day")) & Q(per_day__lt=10**12),
                name="limitchange_of_one_within_the_day",
            ),
            models.CheckConstraint(
                condition=Q(state="pending", decided_by=None, decided_at=None)
                | Q(state="cancelled", decided_by=F("maker"), decided_at__isnull=False)
                | (
                    Q(state__in=("approved", "rejected"), decided_by__isnull=False, decided_at__isnull=False)
                    & ~Q(decided_by=F("maker"))
                ),
                name="limitchange_decided_by_another",
            ),
            models.CheckConstraint(
                condition=~Q(maker=F("person")) & (Q(decided_by=None) | ~Q(decided_by=F("person"))),
                name="limitchange_not_by_the_limited",
            ),
            models.UniqueConstraint(
                fields=("limit",), condition=Q(state="pending"), name="limitchange_one_waits"
            ),
        )

    def __str__(self) -> str:
        return f"Raise of the {str(self.limit)[:1].lower()}{str(self.limit)[1:]}"
