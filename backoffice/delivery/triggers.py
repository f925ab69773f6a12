"""What the database refuses of every kind of request."""

from backoffice.delivery.models import ENDS
from backoffice.triggers import Trigger

_BYTES = "NEW.{0} {{differs}} OLD.{0}"
_FROZEN = (
    "operation",
    "path",
    "body",
    "idempotency_key",
    "base_url",
    "maker_id",
    "created_at",
)


def request_triggers(table: str, *facts: str) -> tuple[Trigger, ...]:
    """The triggers of a request's table: its bytes and facts never change, an end never turns back.

    Args:
        table: the table of a kind of request.
        facts: its own columns that say what was asked for.
    """
    changed = " OR ".join(_BYTES.format(column) for column in (*_FROZEN, *facts))
    ends = ", ".join(f"'{state}'" for state in sorted(ENDS))
    unapproved = (
        "NEW.state IN ('approved', 'sending') AND NEW.approval_id IS NOT NULL AND (SELECT a.state FROM "
        "approvals_approval a WHERE a.id = NEW.approval_id) <> 'approved'"
    )
    # Only for an approval that was drawn up anew in the place of the old one, and waits.
    other_approval = (
        "NEW.approval_id {differs} OLD.approval_id AND NOT (OLD.state = 'requested' "
        "AND NEW.state = 'requested' AND EXISTS (SELECT 1 FROM approvals_approval a "
        "JOIN approvals_approval b ON b.id = a.replaces_id WHERE a.id = NEW.approval_id "
        "AND a.state = 'pending' AND b.id = OLD.approval_id "
        "AND b.state = 'redrawn'))"
    )
    return (
        Trigger(
            f"{table}_keeps_its_approval", table, "UPDATE", other_approval, "a request keeps its approval"
        ),
        Trigger(f"{table}_keeps_its_bytes", table, "UPDATE", changed, "a request keeps its bytes"),
        Trigger(
            f"{table}_end_is_an_end",
            table,
            "UPDATE",
            f"OLD.state IN ({ends}) AND NEW.state {{differs}} OLD.state "
            "AND NOT (OLD.state = 'details_lost' AND NEW.state = 'issued')",
            "an end does not turn back",
        ),
        Trigger(
            f"{table}_only_goes_down",
            table,
            "UPDATE",
            "(OLD.state = 'submitted' AND NEW.state NOT IN ('submitted', 'completed', 'failed')) "
            "OR (OLD.unclear_at IS NOT NULL AND (NEW.unclear_at IS NULL OR NEW.state IN "
            "('requested', 'approved', 'rejected', 'cancelled', 'expired')))",
            "what may have happened is not forgotten",
        ),
        Trigger(f"{table}_sent_only_approved", table, "UPDATE", unapproved, "sent only when approved"),
        Trigger(
            f"{table}_starts_approved_only", table, "INSERT", unapproved, "starts approved only when it is"
        ),
        Trigger(f"{table}_stays", table, "DELETE", "OLD.id IS NOT NULL", "requests stay"),
    )
