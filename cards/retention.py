"""When card details go: the card is no longer active, or 72 hours have passed."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from backoffice.audit.trail import record
from backoffice.delivery.models import RawAnswer
from cards.models import Card, SealedDetails

_ACTIVE = "active"


def destroy_due_details(*, now: datetime) -> int:
    """Destroy every envelope whose time has come, and raw copies that outlived it. Returns how many went."""
    oldest = now - timedelta(hours=settings.DETAILS_HOURS)
    kept = SealedDetails.objects.filter(destroyed_at=None).select_related("order__card")
    used = Q(order__card__isnull=False) & ~Q(order__card__status__in=(_ACTIVE, ""))
    due = kept.filter(used | Q(received_at__lte=oldest))
    gone = sum(_destroy(details, _because(details.order.card), now) for details in due)
    RawAnswer.objects.filter(received_at__lte=oldest).delete()
    return gone


def _because(card: Card | None) -> str:
    if card is not None and card.status not in (_ACTIVE, ""):
        return f"the card is {card.status}"
    return f"{settings.DETAILS_HOURS} hours have passed"


def _destroy(details: SealedDetails, because: str, now: datetime) -> int:
    with transaction.atomic():
        gone = SealedDetails.objects.filter(pk=details.pk, destroyed_at=None).update(
            envelope=None, destroyed_at=now, destroyed_because=because
        )
        if gone:
            record("card.destroy_details", details, by="system: retention", reason=because)
    return gone
