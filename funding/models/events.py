"""What Endl's webhooks said, stored before it is understood."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class WebhookEvent(models.Model):
    """One event, as it came. It is a hint: the object is read again before a state is believed."""

    class State(models.TextChoices):
        RECEIVED = "received", "Received"
        HANDLED = "handled", "Handled"
        WAITING = "waiting", "Waiting for its object"
        UNKNOWN_TYPE = "unknown_type", "Type not known"
        FAILED = "failed", "Failed"

    event_id = models.CharField(max_length=200, unique=True)
    type = models.CharField(max_length=200, blank=True)
    data = models.JSONField(encoder=DjangoJSONEncoder, default=dict)
    raw_sha256 = models.CharField(max_length=64)
    received_at = models.DateTimeField()
    deliveries = models.PositiveIntegerField(default=1)
    # The same id came again with other content: the first one counts, and a person should look.
    has_conflict = models.BooleanField(default=False)
    state = models.CharField(max_length=12, choices=State, default=State.RECEIVED)
    handled_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    outcome = models.TextField(blank=True)
    object_endl_id = models.CharField("object", max_length=128, blank=True)
    customer_endl_id = models.CharField("customer", max_length=128, blank=True)

    class Meta:
        ordering = ("-received_at", "-id")
        default_permissions = ("view",)
        indexes = (
            models.Index(fields=("state", "next_attempt_at"), name="event_queue"),
            models.Index(fields=("object_endl_id",), name="event_by_object"),
        )

    def __str__(self) -> str:
        return f"{self.type or 'event'} {self.event_id}"
