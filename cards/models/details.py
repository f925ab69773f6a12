"""The sealed details of a card, and every time somebody looked."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from cards.models.requests import CardOrder


class SealedDetails(models.Model):
    """What Endl told once of a card, encrypted to our RSA key, and sealed again with STORAGE_KEYS.

    Only the process that shows details to people holds the key that opens the envelope.
    """

    order = models.OneToOneField(CardOrder, models.PROTECT, related_name="details")
    envelope = models.BinaryField(null=True)
    key_fingerprint = models.CharField(max_length=64, blank=True)
    last4 = models.CharField("last four", max_length=4, blank=True)
    exp_month = models.PositiveSmallIntegerField(null=True, blank=True)
    exp_year = models.PositiveSmallIntegerField(null=True, blank=True)
    received_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True)
    quarantined_at = models.DateTimeField(null=True, blank=True)
    destroyed_at = models.DateTimeField(null=True, blank=True)
    destroyed_because = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "sealed details"
        default_permissions = ("view",)
        permissions = (
            ("open_mask", "Can let the server open the masked details"),
            ("destroy_details", "Can destroy the details of a card before their time"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(last4="") | Q(last4__regex=r"\A[0-9]{4}\Z"), name="details_last_four_only"
            ),
            models.CheckConstraint(
                condition=Q(envelope__isnull=False, destroyed_at=None)
                | Q(envelope=None, destroyed_at__isnull=False),
                name="details_are_kept_or_destroyed",
            ),
        )

    def __str__(self) -> str:
        return f"Details of order {self.order_id}"

    def __repr__(self) -> str:
        return f"<SealedDetails {self.pk}>"

    @property
    def is_destroyed(self) -> bool:
        return self.destroyed_at is not None


class CardReveal(models.Model):
    """One look at card details, or a try that was refused: by whom, why, and how it went.

    A look is committed before the envelope is opened. Later only its end is written: result, CVV, more time,
    what was copied, when it was hidden. The database refuses every other change.
    """

    class Purpose(models.TextChoices):
        MASK = "mask", "To learn last four and expiry"
        REVEAL = "reveal", "Shown to a person"

    class Result(models.TextChoices):
        STARTED = "started", "Started"
        DONE = "done", "Done"
        FAILED = "failed", "Could not be opened"
        REFUSED = "refused", "Refused"

    class Kind(models.TextChoices):
        PAYMENT = "payment", "Pay a supplier"
        SUBSCRIPTION = "subscription", "Set up a subscription"
        TRAVEL = "travel", "Book travel"
        SUPPORT = "support", "Help the cardholder"
        OTHER = "other", "Something else"

    class Ending(models.TextChoices):
        TIME = "time", "Time was up"
        PERSON = "person", "Hidden by the person"
        LEFT = "left", "The page was left"

    details = models.ForeignKey(SealedDetails, models.PROTECT, related_name="reveals")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    purpose = models.CharField("what for", max_length=10, choices=Purpose)
    kind = models.CharField("kind of reason", max_length=20, choices=Kind, blank=True)
    reason = models.CharField(max_length=250)
    started_at = models.DateTimeField("when")
    result = models.CharField(max_length=10, choices=Result, default=Result.STARTED)
    refused_because = models.CharField(max_length=300, blank=True)
    address = models.CharField("from where", max_length=64, blank=True)
    # A hash: the ledger must not let anybody into a session, nor show a look again.
    session = models.CharField(max_length=64, blank=True)
    token_hash = models.CharField(max_length=64, blank=True)
    visible_until = models.DateTimeField(null=True, blank=True)
    extended_at = models.DateTimeField(null=True, blank=True)
    cvv_shown_at = models.DateTimeField("CVV shown", null=True, blank=True)
    # The names of the copied fields, each as often as it was copied, with a space after each.
    copied = models.CharField(max_length=200, blank=True)
    hidden_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField("how it ended", max_length=10, choices=Ending, blank=True)

    class Meta:
        ordering = ("-started_at",)
        default_permissions = ("view",)
        permissions = (
            ("reveal_card", "Can reveal the details of a card"),
            ("copy_details", "Can copy revealed details to the clipboard"),
        )
        indexes = (
            models.Index(fields=("by", "-started_at"), name="reveal_by_person"),
            models.Index(fields=("-started_at",), name="reveal_by_time"),
        )
        constraints = (
            models.CheckConstraint(condition=~Q(reason=""), name="reveal_has_a_reason"),
            models.CheckConstraint(
                condition=Q(result="refused", refused_because__gt="")
                | (~Q(result="refused") & Q(refused_because="")),
                name="reveal_refused_says_why",
            ),
            models.UniqueConstraint(
                fields=("token_hash",), condition=~Q(token_hash=""), name="reveal_token_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_purpose_display()}, by {self.by}"

    @property
    def seconds_shown(self) -> int | None:
        """How long a person could see something, in whole seconds; None where nothing was shown to anybody.

        Where the browser never said when it hid them, the time that they were given.
        """
        end = self.hidden_at or self.visible_until
        if end is None or self.result != self.Result.DONE:
            return None
        return max(0, round((end - self.started_at).total_seconds()))

    @property
    def copied_fields(self) -> list[str]:
        """The fields that were copied, in order."""
        return self.copied.split()
