"""The rows of the road to Endl: the abstract Request, its attempts, raw answers and pauses."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Length, Now

from backoffice.approvals.models import Approval

models.CharField.register_lookup(Length)


class State(models.TextChoices):
    """Where a request is on its way. Which of them a kind of request can have, its model says."""

    REQUESTED = "requested", "Requested"
    APPROVED = "approved", "Approved"
    SENDING = "sending", "Sending"
    SUBMITTED = "submitted", "Submitted"
    COMPLETED = "completed", "Completed"
    FAILED = "failed", "Failed"
    ISSUED = "issued", "Issued"
    REGISTERED = "registered", "Registered"
    DETAILS_LOST = "details_lost", "Details lost"
    REJECTED = "rejected", "Rejected"
    CANCELLED = "cancelled", "Cancelled"
    EXPIRED = "expired", "Expired"
    REFUSED = "refused", "Refused"
    UNKNOWN = "unknown", "Outcome unknown"


# What a request in this state means, in a sentence for the person who looks at it.
MEANING: dict[str, str] = {
    State.REQUESTED: "Waiting: nothing was sent to Endl yet.",
    State.APPROVED: "Approved; it is sent within seconds.",
    State.SENDING: "On its way to Endl right now.",
    State.SUBMITTED: "Endl has taken it and is working on it.",
    State.COMPLETED: "Done.",
    State.FAILED: "Endl took it, and it failed there.",
    State.ISSUED: "The card was issued.",
    State.REGISTERED: "Endl knows this cardholder.",
    State.DETAILS_LOST: "The card exists at Endl, but its number never reached us and cannot be had again.",
    State.REJECTED: "A checker rejected it. Nothing was sent.",
    State.CANCELLED: "It was cancelled. Nothing was sent.",
    State.EXPIRED: "Its approval no longer holds. Nothing was sent.",
    State.REFUSED: "Endl said no, and nothing happened there.",
    State.UNKNOWN: "It was sent, and no clear answer came: it may have happened. It is not sent anew.",
}

ENDS = frozenset(
    {
        State.COMPLETED,
        State.FAILED,
        State.ISSUED,
        State.REGISTERED,
        State.DETAILS_LOST,
        State.REJECTED,
        State.CANCELLED,
        State.EXPIRED,
        State.REFUSED,
    }
)


class Request(models.Model):
    """What a person asked for: committed, with its key and its exact bytes, before anything is sent.

    Only operations and the sender write it. Nobody edits it: a change is a cancelled request and a new one.
    """

    # A word for messages and log lines; each kind has its own.
    kind: ClassVar[str]
    # The states from which the sender starts.
    ready: ClassVar[tuple[State, ...]]

    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=State, default=State.REQUESTED)
    state_at = models.DateTimeField()
    approval = models.OneToOneField(Approval, models.PROTECT, null=True, blank=True, related_name="+")
    # The page that was posted: a second click on it finds the row that the first one made.
    form_token = models.CharField(max_length=64, unique=True)

    operation = models.CharField(max_length=40)
    path = models.CharField(max_length=400)
    body = models.BinaryField()
    idempotency_key = models.CharField(max_length=64, unique=True)
    base_url = models.CharField(max_length=200)

    # The claim: who sends owns the row until the lease ends; the fence tells an owner from a later one.
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    first_attempt_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    # Since when it may have happened without our knowing; blank while nothing was unclear.
    unclear_at = models.DateTimeField(null=True, blank=True)
    needs_person = models.BooleanField(default=False)

    outcome_code = models.CharField(max_length=60, blank=True)
    outcome_message = models.TextField(blank=True)
    outcome_field = models.CharField(max_length=100, blank=True)
    outcome_remedy = models.TextField(blank=True)
    outcome_request_id = models.CharField(max_length=128, blank=True)

    class Meta:
        abstract = True
        ordering = ("-created_at",)
        indexes = (models.Index(fields=("state", "next_attempt_at"), name="%(class)s_road"),)
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(idempotency_key__length__gte=20), name="%(class)s_key_is_long_enough"
            ),
            models.CheckConstraint(
                condition=~Q(state="sending") | Q(lease_until__isnull=False),
                name="%(class)s_sending_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~Q(state="unknown") | Q(unclear_at__isnull=False), name="%(class)s_unknown_since"
            ),
        )

    @property
    def meaning(self) -> str:
        """The sentence that says what the state means."""
        return MEANING.get(self.state, "")

    @property
    def has_ended(self) -> bool:
        return self.state in ENDS

    @property
    def customer_endl_id(self) -> str:
        """The Endl id of the customer that this is for."""
        raise AttributeError("Each kind of request says whose it is.")


class Attempt(models.Model):
    """One try to send a request: when, what came of it, how long it took. No bodies."""

    class Outcome(models.TextChoices):
        STARTED = "started", "Started"
        ANSWERED = "answered", "Answered"
        REFUSED = "refused", "Refused"
        NOT_SENT = "not_sent", "Not sent"
        THROTTLED = "throttled", "Slowed down by Endl"
        PAUSED = "paused", "Paused"
        UNCLEAR = "unclear", "No clear answer"

    kind = models.CharField(max_length=20)
    request_id = models.PositiveBigIntegerField()
    number = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.STARTED)
    http_status = models.PositiveSmallIntegerField(null=True)
    endl_code = models.CharField(max_length=60, blank=True)
    endl_request_id = models.CharField(max_length=128, blank=True)
    message = models.TextField(blank=True)
    duration_ms = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ("-started_at",)
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=("kind", "request_id", "number"), name="attempt_number_once"),
        )

    def __str__(self) -> str:
        return f"Attempt {self.number} of {self.kind} {self.request_id}"


class RawAnswer(models.Model):
    """An answer as it came, sealed, kept from before it is understood until its parts are committed."""

    attempt = models.OneToOneField(Attempt, models.PROTECT)
    sealed = models.BinaryField()
    received_at = models.DateTimeField(db_default=Now())
    # When it was tried and could not be understood; such a copy stays until retention.
    read_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Answer to {self.attempt}"


class Pause(models.Model):
    """Since when, and why, nothing of a kind is sent. At most one is open for each scope."""

    class Scope(models.TextChoices):
        EVERYTHING = "everything", "Everything"
        ISSUING = "issuing", "Card issuing"

    scope = models.CharField(max_length=12, choices=Scope)
    code = models.CharField(max_length=60, blank=True)
    message = models.TextField()
    remedy = models.TextField(blank=True)
    since = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.CharField(max_length=150, blank=True)
    last_try_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-since",)
        default_permissions = ("view", "change")
        constraints = (
            models.UniqueConstraint(
                fields=("scope",), condition=Q(lifted_at=None), name="pause_one_open_a_scope"
            ),
        )
        permissions = (("record_outcome", "Can record what Endl said of an unknown outcome"),)

    def __str__(self) -> str:
        return f"{self.get_scope_display()}: {self.message}"


class Hold(models.Model):
    """A pause that a person ordered, with a reason; another person lifts it. What waits, waits."""

    class Scope(models.TextChoices):
        EVERYTHING = "everything", "Everything"
        MONEY = "money", "Deposits"
        CARDS = "cards", "Registrations and card orders"

    scope = models.CharField("what is held", max_length=12, choices=Scope)
    reason = models.TextField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    set_at = models.DateTimeField()
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    lifted_at = models.DateTimeField(null=True, blank=True)
    lift_reason = models.TextField(blank=True)

    class Meta:
        ordering = ("-set_at",)
        default_permissions = ("add", "view")
        constraints = (
            models.UniqueConstraint(
                fields=("scope",), condition=Q(lifted_at=None), name="hold_one_open_a_scope"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="hold_has_a_reason"),
            models.CheckConstraint(
                condition=Q(lifted_by=None) | ~Q(lifted_by=models.F("set_by")), name="hold_lifted_by_another"
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lifted_by=None)
                | Q(lifted_at__isnull=False, lifted_by__isnull=False),
                name="hold_lifted_by_somebody",
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_scope_display()} held"


class Line(models.Model):
    """What is known of the line to Endl: one row, shared by all processes."""

    THE_ONE = 1

    # Endl asked everybody to slow down until then.
    slow_until = models.DateTimeField(null=True, blank=True)
    # The pace of all processes: when the next request would come at an even rate.
    pace_at = models.DateTimeField(null=True, blank=True)
    # The business whose cardholder list answered last: the question to ask when something seems wrong.
    probe_customer = models.CharField(max_length=128, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    trouble = models.TextField(blank=True)
    trouble_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ("view",)
        constraints = (models.CheckConstraint(condition=Q(pk=1), name="line_is_one_row"),)

    def __str__(self) -> str:
        return "Line to Endl"


class Alert(models.Model):
    """Something that a person has to look at: open until what caused it is gone."""

    kind = models.CharField(max_length=40)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=64)
    object_name = models.CharField(max_length=200)
    customer_endl_id = models.CharField(max_length=128, blank=True)
    message = models.TextField()
    since = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-since",)
        default_permissions = ("view",)
        indexes = (models.Index(fields=("cleared_at", "-since"), name="alert_open_first"),)
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "object_type", "object_id"),
                condition=Q(cleared_at=None),
                name="alert_open_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.object_name}: {self.message}"
