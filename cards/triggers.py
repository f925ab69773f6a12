"""What the database refuses of registrations, orders, reviews and reveals."""

from backoffice.delivery.triggers import request_triggers
from backoffice.triggers import Trigger

# Who looked, at what, why, from where: as it was when the look began.
_LOOK_FACTS = (
    "details_id", "by_id", "purpose", "kind", "reason", "started_at", "refused_because", "address", "session",
    "token_hash",
)  # fmt: skip
# How it went: each written once.
_LOOK_ENDS = ("cvv_shown_at", "extended_at", "hidden_at")
_LOOK_CHANGES = " OR ".join(
    (
        *(f"NEW.{column} {{differs}} OLD.{column}" for column in _LOOK_FACTS),
        *(f"(OLD.{column} IS NOT NULL AND NEW.{column} {{differs}} OLD.{column})" for column in _LOOK_ENDS),
        "(OLD.result <> 'started' AND NEW.result <> OLD.result)",
        "(OLD.ending <> '' AND NEW.ending <> OLD.ending)",
        "NEW.visible_until < OLD.visible_until",
        "substr(NEW.copied, 1, length(OLD.copied)) <> OLD.copied",
    )
)

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
    Trigger(
        "reveal_stays_as_it_was",
        "cards_cardreveal",
        "UPDATE",
        f"({_LOOK_CHANGES})",
        "of a look only its end is written, once",
    ),
    Trigger("reveal_stays", "cards_cardreveal", "DELETE", "OLD.id IS NOT NULL", "reveals stay on record"),
)
