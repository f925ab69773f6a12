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
        REDRAWN = "redrawn", "Drawn up anew under other rules"

    kind = models.CharField(max_length=20)
    summary = models.CharField(max_length=200)
    customer_endl_id = models.CharField(max_length=128)
    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    facts = models.JSONField()
    facts_hash = models.CharField(max_length=64)
    # What it is about, for limits and sums; also in the facts.
    amount = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    currency = models.CharField(max_length=12, blank=True)
    policy_version = models.CharField(max_length=40)
    # The rules as they stood: blank for an approval from before there were rule sets.
    rule_set = models.ForeignKey(
        "approvals.RuleSet", models.PROTECT, null=True, blank=True, related_name="approvals"
    )
    # The rule that fitted; blank where none did.
    rule = models.CharField(max_length=100, blank=True)
    # What the rules looked at around it: running totals, and whether it was the first to its wallet.
    figures = models.JSONField(default=dict)
    # How many people its steps ask for together.
    needed = models.PositiveSmallIntegerField(default=1)
    # The step that waits now, what its people must hold, and since when it waits.
    at_step = models.PositiveSmallIntegerField(default=1)
    permission = models.CharField(max_length=100)
    step_since = models.DateTimeField(null=True)
    # The one that it replaces: the rules asked for more when it was looked at again.
    replaces = models.OneToOneField("self", models.PROTECT, null=True, blank=True, related_name="replaced_by")
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
            ("decide_as_compliance", "Can approve or reject where the rules ask compliance"),
        )
        indexes = (models.Index(fields=("state", "created_at"), name="approval_queue"),)
        constraints = (
            models.CheckConstraint(condition=~Q(facts_hash=""), name="approval_has_a_hash"),
            # Nobody is needed only where a rule says so.
            models.CheckConstraint(
                condition=Q(needed__gt=0) | ~Q(rule=""), name="approval_by_people_or_by_rule"
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

    @property
    def is_by_rule(self) -> bool:
        """Whether a rule approves it, and nobody is asked."""
        return self.needed == 0

    @property
    def drawn_steps(self) -> list["Step"]:
        """Its steps in order; of one that is not saved yet, those that are saved with it."""
        return list(self.steps.all()) if self.pk is not None else self.__dict__.get("_steps", [])

    def draw_steps(self, steps: list["Step"]) -> None:
        """Give an approval that is not saved yet its steps."""
        self.__dict__["_steps"] = steps


class Step(models.Model):
    """So many people who hold a permission; all of them before the next step. Never changed."""

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="steps")
    number = models.PositiveSmallIntegerField()
    people = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=40)
    permission = models.CharField(max_length=100)

    class Meta:
        ordering = ("approval", "number")
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("approval", "number"), name="step_number_once"),
            models.CheckConstraint(condition=Q(people__gt=0, number__gt=0), name="step_asks_somebody"),
        )

    def __str__(self) -> str:
        return f"{self.people} of the role {self.role}"


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
    # What made it count: the step, what its people must hold, and the roles that gave it to this person.
    step = models.PositiveSmallIntegerField(default=1)
    permission = models.CharField(max_length=100, blank=True)
    roles = models.JSONField(default=list)
    # What it moved, and the person's limit as it stood; blank where they had none in this currency.
    amount = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    currency = models.CharField(max_length=12, blank=True)
    limit_per_decision = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    limit_per_day = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    used_before = models.DecimalField(max_digits=20, decimal_places=6, null=True)

    class Meta:
        ordering = ("made_at",)
        indexes = (models.Index(fields=("person", "made_at"), name="decision_by_person"),)
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
