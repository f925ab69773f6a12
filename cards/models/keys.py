"""The keys that Endl seals card details to: what is known of each, and never its private half."""

from django.db import models
from django.db.models import Q


class EncryptionKey(models.Model):
    """One RSA key of the office. The private half stays in its file, which only the web process reads."""

    class State(models.TextChoices):
        PENDING = "pending", "Pending"
        ACTIVE = "active", "Active"
        DECRYPT_ONLY = "decrypt_only", "Decrypt only"
        DESTROYED = "destroyed", "Destroyed"

    fingerprint = models.CharField("fingerprint (SHA-256)", max_length=64, unique=True)
    bits = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State, default=State.PENDING)
    public_pem = models.TextField()
    # Where its private half was last seen, so that a person knows which file to destroy.
    file = models.CharField(max_length=500, blank=True)
    first_seen_at = models.DateTimeField("first seen")
    activated_at = models.DateTimeField("activated", null=True, blank=True)
    retired_at = models.DateTimeField("retired", null=True, blank=True)
    destroyed_at = models.DateTimeField("destroyed", null=True, blank=True)
    destroyed_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("-first_seen_at", "-pk")
        verbose_name = "key"
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=("state",), condition=Q(state="active"), name="key_one_is_active"),
            models.CheckConstraint(
                condition=Q(fingerprint__regex=r"\A[0-9a-f]{64}\Z"), name="key_fingerprint_is_sha256"
            ),
            models.CheckConstraint(condition=Q(bits__gte=2048), name="key_is_long_enough"),
            models.CheckConstraint(
                condition=Q(state="destroyed", destroyed_at__isnull=False, destroyed_by__gt="")
                | (~Q(state="destroyed") & Q(destroyed_at=None, destroyed_by="")),
                name="key_destroyed_by_somebody",
            ),
            # Whatever goes wrong in the code, no private key is stored.
            models.CheckConstraint(condition=~Q(public_pem__contains="PRIVATE"), name="key_public_half_only"),
        )

    def __str__(self) -> str:
        return f"Key {self.fingerprint[:16]}"
