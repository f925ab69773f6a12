"""What the home page says of cards: what waits for this person, each count leading to its list."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from backoffice.access.models import User
from backoffice.delivery.models import State
from backoffice.pages.parts import Fact, Panel
from cards import issuing, scope
from cards.models import Cardholder, CardholderRequest, CardOrder

# What came to a bad end stays on the home page for a week.
_LATELY = timedelta(days=7)
_OPEN = (State.REQUESTED, State.APPROVED, State.SENDING, State.UNKNOWN)


def panels(person: User) -> list[Panel]:
    """The panels of this application, for this person."""
    waiting = [*_to_do(person), *_gone_wrong(person), *_own(person)]
    return [Panel("Cards", waiting)] if waiting else []


def _to_do(person: User) -> Iterable[Fact]:
    """What this person's roles are asked to decide."""
    if person.has_perm("cards.add_cardholderreview"):
        unreviewed = {"review_state__exact": Cardholder.Review.UNREVIEWED}
        yield _tile(person, Cardholder, "Cardholders to review", "customer", unreviewed)
    if person.has_perm(issuing.PERMISSION) and person.has_perm("cards.view_cardorder"):
        requested = {"state__exact": State.REQUESTED}
        yield _tile(person, CardOrder, "Card orders to decide", "cardholder__customer", requested)


def _gone_wrong(person: User) -> Iterable[Fact]:
    since = {"state_at__gte": f"{timezone.now() - _LATELY:%Y-%m-%d} 00:00:00+00:00"}
    if person.has_perm("cards.view_cardorder"):
        path = "cardholder__customer"
        unknown, lost = {"state__exact": State.UNKNOWN}, {"state__exact": State.DETAILS_LOST, **since}
        yield _tile(person, CardOrder, "Orders with unknown outcome", path, unknown)
        yield _tile(person, CardOrder, "Orders that need a person", path, {"needs_person__exact": "1"})
        yield _tile(person, CardOrder, "Details lost in a week", path, lost)
    if person.has_perm("cards.view_cardholderrequest"):
        refused = {"state__exact": State.REFUSED, **since}
        yield _tile(person, CardholderRequest, "Registrations refused in a week", "customer", refused)


def _own(person: User) -> Iterable[Fact]:
    if person.has_perm("cards.add_cardorder"):
        mine = {"maker__id__exact": person.pk, "state__in": ",".join(_OPEN)}
        yield _tile(person, CardOrder, "My open orders", "cardholder__customer", mine)


def _tile(person: User, model: Any, label: str, path: str, filters: dict[str, Any]) -> Fact:
    """A count that leads to the list it counts: both are made of the same filters."""
    count = scope.limit(_counted(model, filters), person, path).count()
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    url = f"{address}?{urlencode(filters)}"
    return Fact(label, format_html('<a class="link" href="{}">{}</a>', url, count))


def _counted(model: Any, filters: dict[str, Any]) -> QuerySet[Any]:
    listed = {name: value.split(",") if name.endswith("__in") else value for name, value in filters.items()}
    rows: QuerySet[Any] = model.objects.filter(**listed)
    return rows
