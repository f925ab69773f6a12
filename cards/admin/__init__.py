"""The pages of cards: one file a noun."""

from cards.admin import (  # noqa: F401
    assignments,
    card_orders,
    cardholders,
    cards,
    customers,
    keys,
    registrations,
    retention,
    reveals,
    reviews,
    sealed_details,
)
