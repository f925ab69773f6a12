"""An approval belongs to one request; its decisions are made by people, one each."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Approval(models.Model):
    """What must be agreed to before a request is sent, and what became of it.

    `facts` is what a checker is shown and `facts_hash` is what they agree to. A request points at its
    approval, not the other way round: this table knows nothing of deposits or cards.
    """

    class State(models.TextChoices):
        PENDING = "pending", "Waiting for a decision"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        CANCELLED = "cancelled", "Cancelled"
        EXPIRED = "expired", "Expired"

    kind = models.CharField(max_length=20)
    summary = models.CharField(max_length=200)
    customer_endl_id = models.CharField(max_length=128)
    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    facts = models.JSONField()
    facts_hash = models.CharField(max_length=64)
    policy_version = models.CharField(max_length=40)
    # The rule that needs nobody; blank when people decide.
    rule = models.CharField(max_length=100, blank=True)
    needed = models.PositiveSmallIntegerField(default=1)
    permission = models.CharField(max_length=100)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    good_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        default_permissions = ("view",)
        permissions = (
            ("decide_deposits", "Can approve or reject deposits"),
            ("decide_card_orders", "Can approve or reject card orders"),
        )
        indexes = (models.Index(fields=("state", "created_at"), name="approval_queue"),)
        constraints = (
            models.CheckConstraint(condition=~Q(facts_hash=""), name="approval_has_a_hash"),
            # Nobody is needed only where a rule says so, and a rule needs nobody.
            models.CheckConstraint(
                condition=Q(rule="", needed__gt=0) | (~Q(rule="") & Q(needed=0)),
                name="approval_by_people_or_by_rule",
            ),
            models.CheckConstraint(
                condition=Q(state="pending", decided_at=None)
                | (~Q(state="pending") & Q(decided_at__isnull=False)),
                name="approval_decided_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="approved") | Q(good_until__isnull=False), name="approval_good_until"
            ),
        )

    def __str__(self) -> str:
        return self.summary


class Decision(models.Model):
    """What one person decided, about which facts. Never changed."""

    class Verdict(models.TextChoices):
        APPROVE = "approve", "Approved"
        REJECT = "reject", "Rejected"

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="decisions")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # A copy, so that a CHECK on this row can tell the two apart.
    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=10, choices=Verdict)
    reason = models.TextField(blank=True)
    seen_hash = models.CharField(max_length=64)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("made_at",)
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=("approval", "person"), name="decision_once_a_person"),
            models.CheckConstraint(condition=~Q(person=F("maker")), name="decision_not_by_the_maker"),
            models.CheckConstraint(
                condition=Q(verdict="approve") | ~Q(reason=""), name="decision_reject_has_a_reason"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_verdict_display()} by {self.person}"
