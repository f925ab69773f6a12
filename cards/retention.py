"""When card details go: with their card, when looks or time are used up, or when a person says so."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from backoffice.access.models import User
from backoffice.audit.trail import Actor, Refusal, operation, record
from backoffice.delivery import raw
from cards import scope
from cards.models import Card, CardOrder, CardReveal, SealedDetails

PERMISSION = "cards.destroy_details"
_ACTIVE = ("active", "")
_BY = "system: retention"
_LOOK = Q(reveals__purpose=CardReveal.Purpose.REVEAL, reveals__result__in=("started", "done"))


class AlreadyDestroyed(Refusal):
    """The details are gone already."""


def destroy_due_details(*, now: datetime) -> int:
    """Destroy every envelope whose time has come, and raw copies that outlived it. Returns how many went."""
    gone = sum(_destroy(details, _because(details, now), by=_BY, now=now) for details in due(now=now))
    raw.let_go_of_old(before=oldest(now))
    return gone


@operation("card.destroy_details", about="details")
def destroy_now(*, details: SealedDetails, reason: str, by: User, now: datetime) -> None:
    """Destroy the details of a card before their time.

    Args:
        reason: why, in the person's words.

    Raises: NotAllowed, AlreadyDestroyed.
    """
    scope.check(by, PERMISSION, details.order.cardholder.customer)
    if not _destroy(details, f"{by.get_username()} destroyed them: {reason}"[:200], by=by, now=now):
        raise AlreadyDestroyed("The details are destroyed already.")


def due(*, now: datetime) -> QuerySet[SealedDetails]:
    """The envelopes that are kept and whose time has come."""
    kept = SealedDetails.objects.filter(destroyed_at=None).select_related("order__card")
    found: QuerySet[SealedDetails] = _with_looks(kept, now).filter(_by_time(now) | _by_card() | _by_looks())
    return found


def overdue(*, now: datetime, grace: timedelta) -> QuerySet[SealedDetails]:
    """The envelopes that should have gone at least `grace` ago, as far as anything tells since when."""
    before = now - grace
    kept = _with_looks(SealedDetails.objects.filter(destroyed_at=None), before)
    by_card = _by_card() & Q(order__card__changed_at__lte=before)
    by_looks = _by_looks() & Q(has_recent_look=False)
    found: QuerySet[SealedDetails] = kept.filter(_by_time(before) | by_card | by_looks)
    return found


def oldest(now: datetime) -> datetime:
    """What came before this moment has had its time."""
    return now - timedelta(hours=settings.DETAILS_HOURS)


def _by_time(now: datetime) -> Q:
    return Q(received_at__lte=oldest(now))


def _by_card() -> Q:
    if not settings.DESTROY_WHEN_NOT_ACTIVE:
        return Q(pk__in=())
    return Q(order__card__isnull=False) & ~Q(order__card__status__in=_ACTIVE)


def _by_looks() -> Q:
    """Every look is used up and the last one is over: while it lasts, the CVV may still be asked for."""
    if not settings.DESTROY_WHEN_LOOKS_ARE_USED_UP:
        return Q(pk__in=())
    return Q(looks__gte=settings.REVEALS_PER_CARD, is_looked_at=False)


def _with_looks(rows: QuerySet[SealedDetails], now: datetime) -> Any:
    looks = CardReveal.objects.filter(details=OuterRef("pk"), purpose=CardReveal.Purpose.REVEAL)
    return rows.annotate(
        looks=Count("reveals", filter=_LOOK),
        is_looked_at=Exists(looks.filter(visible_until__gt=now, hidden_at=None)),
        has_recent_look=Exists(looks.filter(started_at__gt=now)),
    )


def _because(details: SealedDetails, now: datetime) -> str:
    card: Card | None = details.order.card
    if settings.DESTROY_WHEN_NOT_ACTIVE and card is not None and card.status not in _ACTIVE:
        return f"the card is {card.status}"
    if details.received_at <= oldest(now):
        return f"{settings.DETAILS_HOURS} hours have passed"
    return f"they were looked at {settings.REVEALS_PER_CARD} times"


def _destroy(details: SealedDetails, because: str, *, by: Actor, now: datetime) -> int:
    """Let go of an envelope and of every raw copy it may be in. Returns whether it was there."""
    with transaction.atomic():
        # The lock that a look takes too: either it is on record first, or it finds them gone.
        locked = SealedDetails.objects.select_for_update().get(pk=details.pk)
        if locked.is_destroyed:
            return 0
        locked.envelope, locked.destroyed_at, locked.destroyed_because = None, now, because[:200]
        locked.save(update_fields=["envelope", "destroyed_at", "destroyed_because"])
        raw.let_go_of_request(CardOrder.kind, locked.order_id)
        record("card.destroy_details", locked, by=by, reason=because)
        transaction.on_commit(_empty_journal, robust=True)
    return 1


def _empty_journal() -> None:
    """Move SQLite's journal into the database file and cut it off: it holds pages as they were before."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
