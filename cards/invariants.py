"""What must hold of cards at any moment, beside what holds of every request."""

from collections.abc import Iterator
from datetime import datetime

from backoffice.delivery.alerts import Finding
from backoffice.delivery.invariants import Check, unrecorded
from backoffice.delivery.models import State
from cards.models import CardOrder, CardReveal, SealedDetails

_MAY_HAVE_DETAILS = (State.ISSUED, State.SENDING, State.UNKNOWN)


def i4_envelopes_are_kept(now: datetime) -> Iterator[Finding]:
    """An issued card has its envelope, or the record of its destruction."""
    for order in CardOrder.objects.filter(state=State.ISSUED, details=None):
        yield Finding(order, "The card is issued, and its details are not here.")
    for details in SealedDetails.objects.exclude(order__state__in=_MAY_HAVE_DETAILS):
        yield Finding(details, "Details are here of a card that is not issued.")


def i7_looks_are_on_record(now: datetime) -> Iterator[Finding]:
    """Whoever looked at card details stands in the trail."""
    looks = CardReveal.objects.all()
    yield from unrecorded(
        looks, "card.", "Somebody looked off the record.", of="cards.sealeddetails", by="details_id"
    )


CHECKS: dict[str, Check] = {"I4": i4_envelopes_are_kept, "I7-looks": i7_looks_are_on_record}
