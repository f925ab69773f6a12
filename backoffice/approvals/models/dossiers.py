"""What a decider saw beside the facts, and what people wrote about it. Neither is part of the hash."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from backoffice.approvals.models.approvals import Approval, Decision


class Dossier(models.Model):
    """Everything that the page told around one decision, as it stood then. Never changed."""

    decision = models.OneToOneField(Decision, models.PROTECT, related_name="dossier")
    content = models.JSONField()

    class Meta:
        ordering = ("decision",)
        default_permissions = ()

    def __str__(self) -> str:
        return f"Dossier of {self.decision}"


class Comment(models.Model):
    """What a person wrote about a request that is decided on. Never changed."""

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="comments")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("made_at", "pk")
        default_permissions = ("add",)
        constraints = (models.CheckConstraint(condition=~Q(text=""), name="comment_says_something"),)

    def __str__(self) -> str:
        return f"Comment of {self.person}"


class DecisionFigures(Decision):
    """Decisions counted rather than listed: how fast, by whom, with whom."""

    class Meta:
        proxy = True
        verbose_name = verbose_name_plural = "figures of decisions"
        default_permissions = ("view",)
