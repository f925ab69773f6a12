"""What a person can do about an order or a registration whose outcome nobody knows."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.forms import Form
from django.utils import timezone

from backoffice.access.models import User
from backoffice.delivery import bell, unknown
from backoffice.delivery.models import State
from backoffice.pages.parts import Act
from cards import tasks, words
from cards.models import CardholderRequest, CardOrder
from cards.outcome_forms import NOTHING, RecordOrderForm, RecordRegistrationForm

ACT_NAMES = ("ask", "outcome")
_OWN = "You made this request: another person records what Endl said."


def acts(wish: CardOrder | CardholderRequest, person: User) -> Iterable[Act]:
    """The acts on an unclear request; none on any other."""
    if wish.state != State.UNKNOWN:
        return
    is_theirs = person.has_perm(f"cards.add_{wish._meta.model_name}") or person.has_perm(unknown.PERMISSION)
    if is_theirs and not wish.needs_person:
        yield Act("ask", "Try again now", partial(_ask_now, wish, person))
    if person.has_perm(unknown.PERMISSION):
        form, do = _how_to_record(wish)
        yield Act(
            "outcome",
            "Record what Endl said",
            partial(do, wish, person),
            form=form,
            why_not=_OWN if wish.maker_id == person.pk else "",
            lead="Ask Endl first. Your name and your words stay with this request.",
        )


def _how_to_record(wish: CardOrder | CardholderRequest) -> tuple[type[Form], Callable[..., str]]:
    if isinstance(wish, CardOrder):
        return RecordOrderForm, _record_order
    return RecordRegistrationForm, _record_registration


def _ask_now(wish: CardOrder | CardholderRequest, person: User, _given: dict[str, Any]) -> str:
    words.ask_now(request=wish, by=person, now=timezone.now())
    bell.ring(tasks.SEND_ORDER if isinstance(wish, CardOrder) else tasks.SEND_REGISTRATION, wish.pk)
    return "It is asked for again, with the same key and the same bytes."


def _record_order(order: CardOrder, person: User, given: dict[str, Any]) -> str:
    said, now = given["said"], timezone.now()
    if given["outcome"] == NOTHING:
        words.record_nothing_happened(request=order, said=said, by=person, now=now)
        return f"It is recorded that nothing came of “{order}”."
    words.record_card_exists(request=order, said=said, by=person, now=now)
    return "It is recorded that the card exists. Its details are lost."


def _record_registration(wish: CardholderRequest, person: User, given: dict[str, Any]) -> str:
    said, now = given["said"], timezone.now()
    if given["outcome"] == NOTHING:
        words.record_nothing_happened(request=wish, said=said, by=person, now=now)
        return f"It is recorded that nothing came of the registration of {wish}."
    words.record_registered(request=wish, cardholder=given["cardholder"], said=said, by=person, now=now)
    return f"It is recorded that {wish} is registered."
