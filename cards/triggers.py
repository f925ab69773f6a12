"""What the database refuses of registrations, orders, reviews and reveals."""

from backoffice.delivery.triggers import request_triggers
from backoffice.triggers import Trigger

TRIGGERS = (
    *request_triggers("cards_cardholderrequest", "customer_id", "first_name", "last_name", "email", "phone"),
    *request_triggers("cards_cardorder", "cardholder_id", "amount_cents", "purpose"),
    Trigger(
        "review_stays_as_it_is",
        "cards_cardholderreview",
        "UPDATE",
        "OLD.id IS NOT NULL",
        "reviews never change",
    ),
    Trigger("review_stays", "cards_cardholderreview", "DELETE", "OLD.id IS NOT NULL", "reviews stay"),
    Trigger(
        "envelope_is_kept_or_destroyed",
        "cards_sealeddetails",
        "UPDATE",
        "NEW.envelope IS NOT NULL AND NEW.envelope {differs} OLD.envelope",
        "an envelope is kept as it came or destroyed",
    ),
    Trigger("details_stay", "cards_sealeddetails", "DELETE", "OLD.id IS NOT NULL", "sealed details stay"),
    Trigger("reveal_stays", "cards_cardreveal", "DELETE", "OLD.id IS NOT NULL", "reveals stay on record"),
)
