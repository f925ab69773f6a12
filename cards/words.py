"""A person's recorded word on a card order or a registration whose outcome nobody knows."""

from datetime import datetime

from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation
from backoffice.delivery import unknown
from backoffice.delivery.models import State
from cards import scope
from cards.models import Cardholder, CardholderRequest, CardOrder, Customer

Wish = CardOrder | CardholderRequest


class NotThisCardholder(Refusal):
    """The cardholder is no one that this registration can have become."""


@operation("request.ask_now", about="request")
def ask_now(*, request: Wish, by: User, now: datetime) -> None:
    """Try an unknown request again at once, with its key and bytes. Raises NotAllowed, NotUnknown."""
    scope.check(by, f"cards.view_{request._meta.model_name}", _customer_of(request))
    unknown.ask_now(request, by=by, now=now)


@operation("request.record_outcome", about="request")
def record_nothing_happened(*, request: Wish, said: str, by: User, now: datetime) -> Wish:
    """Record that Endl said nothing happened. Raises NotAllowed, OwnWord, NoWord, NotUnknown."""
    scope.check(by, unknown.PERMISSION, _customer_of(request))
    unknown.check_word(request, by=by, said=said)
    return unknown.nothing_happened(request, by=by, said=said, now=now)


@operation("card_order.record_outcome", about="request")
def record_card_exists(*, request: CardOrder, said: str, by: User, now: datetime) -> CardOrder:
    """Record that Endl said the card was issued: its details never came, so they are lost.

    Raises: NotAllowed, OwnWord, NoWord, NotUnknown.
    """
    scope.check(by, unknown.PERMISSION, request.cardholder.customer)
    unknown.check_word(request, by=by, said=said)
    return unknown.it_happened(request, State.DETAILS_LOST, by=by, said=said, now=now)


@operation("registration.record_outcome", about="request")
def record_registered(
    *, request: CardholderRequest, cardholder: Cardholder, said: str, by: User, now: datetime
) -> CardholderRequest:
    """Record which cardholder Endl said a registration became.

    Raises: NotAllowed, OwnWord, NoWord, NotUnknown, NotThisCardholder.
    """
    scope.check(by, unknown.PERMISSION, request.customer)
    unknown.check_word(request, by=by, said=said)
    if cardholder.customer_id != request.customer_id or hasattr(cardholder, "registration"):
        raise NotThisCardholder("This cardholder belongs to another customer or another registration.")
    return unknown.it_happened(request, State.REGISTERED, by=by, said=said, now=now, cardholder=cardholder)


def _customer_of(request: Wish) -> Customer:
    return request.customer if isinstance(request, CardholderRequest) else request.cardholder.customer
