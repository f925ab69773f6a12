"""What people ask for: a cardholder to be registered, a card to be issued."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from backoffice.delivery.models import Request, State
from cards.models.customers import Customer
from cards.models.mirrors import Card, Cardholder

SMALLEST_CENTS, LARGEST_CENTS = 1, 10_000_000


class CardholderRequest(Request):
    """A wish to register a person under a business."""

    kind: ClassVar[str] = "registration"
    ready: ClassVar[tuple[State, ...]] = (State.REQUESTED,)

    customer = models.ForeignKey(Customer, models.PROTECT, related_name="registrations")
    first_name = models.CharField(max_length=100)
    last_name = models.CharField(max_length=100)
    email = models.CharField("e-mail", max_length=254)
    phone = models.CharField(max_length=16, blank=True)
    cardholder = models.OneToOneField(
        Cardholder, models.PROTECT, null=True, blank=True, related_name="registration"
    )

    class Meta(Request.Meta):
        verbose_name = "registration"
        default_permissions = ("add", "view")
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *Request.Meta.constraints,
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "requested",
                        "sending",
                        "registered",
                        "cancelled",
                        "expired",
                        "refused",
                        "unknown",
                    ]
                ),
                name="registration_known_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="registered") | Q(cardholder__isnull=False),
                name="registration_has_its_cardholder",
            ),
        )

    def __str__(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    @property
    def customer_endl_id(self) -> str:
        return self.customer.endl_id


class CardOrder(Request):
    """A wish for one single-use card. It is never issued a second time by itself."""

    kind: ClassVar[str] = "card_order"
    ready: ClassVar[tuple[State, ...]] = (State.APPROVED,)

    cardholder = models.ForeignKey(Cardholder, models.PROTECT, related_name="orders")
    amount_cents = models.PositiveIntegerField(
        validators=(MinValueValidator(SMALLEST_CENTS), MaxValueValidator(LARGEST_CENTS))
    )
    purpose = models.CharField(max_length=140, blank=True)
    card = models.OneToOneField(Card, models.PROTECT, null=True, blank=True, related_name="order")

    class Meta(Request.Meta):
        verbose_name = "card order"
        default_permissions = ("add", "view")
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *Request.Meta.constraints,
            models.CheckConstraint(
                condition=Q(amount_cents__gte=SMALLEST_CENTS, amount_cents__lte=LARGEST_CENTS),
                name="cardorder_amount_in_range",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "requested",
                        "approved",
                        "sending",
                        "issued",
                        "rejected",
                        "cancelled",
                        "expired",
                        "refused",
                        "unknown",
                        "details_lost",
                    ]
                ),
                name="cardorder_known_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="issued") | Q(card__isnull=False), name="cardorder_issued_has_its_card"
            ),
            models.CheckConstraint(condition=Q(approval__isnull=False), name="cardorder_has_its_approval"),
        )

    def __str__(self) -> str:
        return f"Card for {self.cardholder}"

    @property
    def customer_endl_id(self) -> str:
        return self.cardholder.customer.endl_id
