"""What everybody may see of a card: its last four and its expiry, from wherever they are known."""

from dataclasses import dataclass

from django.conf import settings

from cards.models import Card, CardReveal, SealedDetails


@dataclass(frozen=True)
class Mask:
    """Last four and expiry; blank or None where nobody knows them yet."""

    last4: str
    exp_month: int | None
    exp_year: int | None

    @property
    def is_whole(self) -> bool:
        return bool(self.last4 and self.exp_month and self.exp_year)

    @property
    def number(self) -> str:
        return f"•••• •••• •••• {self.last4 or '••••'}"

    @property
    def expiry(self) -> str:
        if not (self.exp_month and self.exp_year):
            return "••/••"
        return f"{self.exp_month:02d}/{self.exp_year % 100:02d}"


def details_of(card: Card) -> SealedDetails | None:
    """The sealed details that came with the card's order; None for a card that was not ordered here."""
    order = getattr(card, "order", None)
    return getattr(order, "details", None)


def mask_of(card: Card) -> Mask:
    """The mask of a card: Endl's own word first, then what was learned from the envelope."""
    details = details_of(card)
    if details is None:
        return Mask(card.last4, card.exp_month, card.exp_year)
    return Mask(
        card.last4 or details.last4, card.exp_month or details.exp_month, card.exp_year or details.exp_year
    )


def masked_of(card: Card) -> str:
    """The masked number, for lists."""
    return mask_of(card).number


def can_be_opened(card: Card) -> bool:
    """Whether the envelope could still say what the mask lacks."""
    details = details_of(card)
    return (
        details is not None
        and not details.is_destroyed
        and details.quarantined_at is None
        and not mask_of(card).is_whole
    )


def opens_by_itself(card: Card) -> bool:
    """Whether the page may ask by itself: once. What failed before waits for a person's press."""
    details = details_of(card)
    if details is None or not settings.ENDL_PRIVATE_KEY_FILES:
        return False
    return not details.reveals.filter(purpose=CardReveal.Purpose.MASK).exists()
