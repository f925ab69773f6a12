"""The abstract mirror row, when each list was last confirmed, and which reads Endl lacks."""

from typing import ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class Mirror(models.Model):
    """A row that is Endl's: sync, a delivery or a webhook's re-read writes it, people never do.

    `payload` is the object as it came, without secrets and with its numbers exact. When a row was last
    confirmed stands with the pull, so that an unchanged row is never written again.
    """

    endl_id = models.CharField("Endl id", max_length=128, unique=True)
    status = models.CharField(max_length=100, blank=True)
    payload = models.JSONField(encoder=DjangoJSONEncoder)
    digest = models.CharField(max_length=64)
    # Endl's own time of creation, and ours of first sight.
    created_at = models.DateTimeField(null=True, blank=True)
    first_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    missing_since = models.DateTimeField(null=True, blank=True)
    # What Endl said later that cannot follow from what it said before: a person has to look.
    contradiction = models.CharField(max_length=200, blank=True)

    class Meta:
        abstract = True
        default_permissions: ClassVar[tuple[str, ...]] = ("view",)

    def __str__(self) -> str:
        return self.endl_id

    def contradicts(self, status: str) -> bool:
        """Whether a status cannot follow the one we hold. Each kind knows its own ends."""
        return False


class Pull(models.Model):
    """One list of one customer: when it was last read whole, and what stands in the way."""

    kind = models.CharField(max_length=20)
    customer_endl_id = models.CharField(max_length=128)
    started_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    items = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0)
    trouble = models.TextField(blank=True)
    trouble_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("customer_endl_id", "kind")
        default_permissions = ("view",)
        constraints = (models.UniqueConstraint(fields=("kind", "customer_endl_id"), name="pull_once_a_list"),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.customer_endl_id}"


class Read(models.Model):
    """An assumed read that this connection turned out to lack."""

    name = models.CharField(max_length=40, unique=True)
    off_since = models.DateTimeField(null=True, blank=True)
    why = models.TextField(blank=True)
    tried_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("name",)
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.name
