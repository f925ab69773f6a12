"""Rule sets, one of them active, and the wishes to change it."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class RuleSet(models.Model):
    """A version of the rules. Once it was active it never changes; a change is a new version."""

    class State(models.TextChoices):
        DRAFT = "draft", "Being made"
        ACTIVE = "active", "Active"
        RETIRED = "retired", "Replaced"

    version = models.PositiveIntegerField(unique=True)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    made_at = models.DateTimeField()
    # The agreed wish that it came from; the first set came with the house.
    change = models.OneToOneField(
        "approvals.RuleSetChange", models.PROTECT, null=True, blank=True, related_name="made"
    )

    class Meta:
        ordering = ("-version",)
        default_permissions = ("view",)
        permissions = (("change_rules", "Can propose rules for approvals, and agree to another's"),)
        constraints = (
            models.UniqueConstraint(
                fields=("state",), condition=Q(state="active"), name="ruleset_one_is_active"
            ),
            models.CheckConstraint(
                condition=Q(version=1) | Q(change__isnull=False), name="ruleset_comes_from_a_change"
            ),
        )

    def __str__(self) -> str:
        return f"Rules, version {self.version}"


class Rule(models.Model):
    """One rule of a set. `content` is the rule as `rules.from_json` reads it."""

    rule_set = models.ForeignKey(RuleSet, models.PROTECT, related_name="rules")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, blank=True)
    # Copies of what `content` says, so that a trigger can hold an approval against them.
    asks_nobody = models.BooleanField()
    content = models.JSONField()

    class Meta:
        ordering = ("rule_set", "number")
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("rule_set", "number"), name="rule_number_once"),
            models.UniqueConstraint(fields=("rule_set", "name"), name="rule_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class RuleSetChange(models.Model):
    """A wish for other rules: proposed by one administrator, decided once by another."""

    class State(models.TextChoices):
        PENDING = "pending", "Waiting for another administrator"
        APPROVED = "approved", "Agreed"
        REJECTED = "rejected", "Rejected"
        CANCELLED = "cancelled", "Taken back"

    base = models.ForeignKey(RuleSet, models.PROTECT, related_name="changes")
    proposed = models.JSONField()
    # Over the proposed rules and the version that they replace.
    proposed_hash = models.CharField(max_length=64)
    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
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
            models.CheckConstraint(condition=~Q(reason=""), name="rulesetchange_has_a_reason"),
            models.CheckConstraint(
                condition=Q(state="pending", decided_by=None, decided_at=None)
                | Q(state="cancelled", decided_by=F("maker"), decided_at__isnull=False)
                | (
                    Q(state__in=("approved", "rejected"), decided_by__isnull=False, decided_at__isnull=False)
                    & ~Q(decided_by=F("maker"))
                ),
                name="rulesetchange_decided_by_another",
            ),
            models.CheckConstraint(
                condition=~Q(state="rejected") | ~Q(decided_reason=""),
                name="rulesetchange_reject_has_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"Change of version {self.base.version} of the rules"
