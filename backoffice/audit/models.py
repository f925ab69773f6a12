"""One row per act and object, written with the act; never changed, never deleted."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Entry(models.Model):
    """What happened once: an act that was done, or one that was refused."""

    class Result(models.TextChoices):
        DONE = "done", "Done"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "Failed"

    # The database's clock, so that no process can move the time of an entry.
    at = models.DateTimeField(db_default=Now(), editable=False)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    # People change their names, and the system acts too ("system: sync"): the name as it was then.
    actor_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60, blank=True)
    object_id = models.CharField(max_length=64, blank=True)
    object_name = models.CharField(max_length=200, blank=True)
    customer_endl_id = models.CharField(max_length=128, blank=True)
    old = models.JSONField(default=dict)
    new = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    result = models.CharField(max_length=10, choices=Result, default=Result.DONE)
    request_id = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=64, blank=True)
    session = models.CharField(max_length=64, blank=True)
    factor = models.CharField(max_length=20, blank=True)
    factor_age_seconds = models.PositiveIntegerField(null=True)
    is_sample = models.BooleanField(default=False)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "entries"
        default_permissions = ("view",)
        indexes = (
            models.Index(fields=("object_type", "object_id"), name="entry_by_object"),
            models.Index(fields=("actor", "-id"), name="entry_by_actor"),
            models.Index(fields=("verb", "-id"), name="entry_by_verb"),
        )

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.verb} {self.object_name}".strip()
