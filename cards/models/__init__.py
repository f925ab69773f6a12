"""The nouns of the card programme. Ours are what people ask for and record; the mirrors are Endl's."""

from cards.models.customers import Assignment, Customer
from cards.models.details import CardReveal, SealedDetails
from cards.models.keys import EncryptionKey
from cards.models.mirrors import Card, Cardholder
from cards.models.requests import CardholderRequest, CardOrder
from cards.models.retention import RetentionReport
from cards.models.reviews import CardholderReview

__all__ = [
    "Assignment",
    "Card",
    "CardOrder",
    "CardReveal",
    "Cardholder",
    "CardholderRequest",
    "CardholderReview",
    "Customer",
    "EncryptionKey",
    "RetentionReport",
    "SealedDetails",
]
