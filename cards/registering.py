"""Registering cardholders under a business."""

from datetime import datetime

from backoffice import endl as api
from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from backoffice.delivery import desk
from backoffice.delivery.models import Hold, State
from backoffice.delivery.road import GateClosed, Road
from cards import customers, scope, sync
from cards.models import Cardholder, CardholderRequest, Customer


class NoCards(Refusal):
    """This customer cannot have cardholders."""


class AlreadyThere(Refusal):
    """Somebody with this e-mail is registered under the business, or about to be."""


@operation("registration.request", about="customer")
def register_cardholder(
    *,
    customer: Customer,
    first_name: str,
    last_name: str,
    email: str,
    phone: str,
    form_token: str,
    by: User,
    now: datetime,
) -> CardholderRequest:
    """Ask for a person to be registered under a business. It is sent without an approval.

    Args:
        phone: E.164, or blank.
        form_token: of the page that was posted; a second click finds what the first one made.

    Raises: NotAllowed, NoCards, AlreadyThere.
    """
    scope.check(by, "cards.add_cardholderrequest", customer)
    if posted := desk.posted_before(CardholderRequest, form_token, by=by):
        return posted
    _check_can_register(customer, email)
    call = api.call_register_cardholder(
        customer_id=customer.endl_id,
        first_name=first_name,
        last_name=last_name,
        email=email,
        phone=phone or None,
    )
    wish = CardholderRequest(
        customer=customer,
        first_name=first_name,
        last_name=last_name,
        email=email,
        phone=phone,
        form_token=form_token,
        **desk.committed(call, by=by, now=now),
    )
    wish, is_new = desk.commit(wish, by=by)
    if is_new:
        record("registration.request", wish, by=by, new={"customer": customer.endl_id})
    return wish


@operation("registration.cancel", about="request")
def cancel_registration(
    *, request: CardholderRequest, by: User, now: datetime, reason: str = ""
) -> CardholderRequest:
    """Take back a registration that was not sent yet. Raises NotTheMaker, TooLate."""
    return desk.cancel(request, by=by, reason=reason, now=now)


def _check_can_register(customer: Customer, email: str) -> None:
    # Two people who register the same person at the same moment wait for each other here.
    Customer.objects.select_for_update().get(pk=customer.pk)
    if reason := why_no_cards(customer):
        raise NoCards(reason)
    under_way = (State.REQUESTED, State.SENDING, State.UNKNOWN)
    if (
        Cardholder.objects.filter(customer=customer, email__iexact=email, missing_since=None).exists()
        or CardholderRequest.objects.filter(
            customer=customer, email__iexact=email, state__in=under_way
        ).exists()
    ):
        raise AlreadyThere(f"{customer} already has a cardholder with this e-mail, or one on the way.")


def why_no_cards(customer: Customer) -> str:
    """Say why a customer cannot hold cards; blank when it can, as far as we know."""
    if not customer.is_active:
        return f"{customer} is not in use here."
    if customer.is_known is False:
        return f"Endl does not know {customer.endl_id}: correct the customer first."
    if customer.type != Customer.Type.BUSINESS or customer.is_business is False:
        return f"{customer} is not a business: only a business has cardholders."
    if customer.is_enabled is False:
        return f"{customer} is not enabled for cards: ask your Endl contact to enable it, then sync it."
    return ""


def _gate(wish: CardholderRequest, now: datetime) -> None:
    if reason := why_no_cards(wish.customer):
        raise GateClosed(reason)


def _look(wish: CardholderRequest, endl: api.Client) -> api.Cardholder | None:
    """Endl may ignore the key of a registration, so the list is asked first: matched by e-mail."""
    listed = endl.list_cardholders(wish.customer.endl_id)
    same = [holder for holder in listed.items if (holder.email or "").casefold() == wish.email.casefold()]
    return same[0] if same else None


def _arrive(wish: CardholderRequest, made: api.Cardholder, now: datetime) -> None:
    holder = sync.take_in_cardholder(wish.customer, made, now=now)
    row = CardholderRequest.objects.select_for_update().get(pk=wish.pk)
    if row.has_ended:
        _alarm_if_against_our_end(row, holder)
        return
    CardholderRequest.objects.filter(pk=wish.pk).update(
        state=State.REGISTERED, state_at=now, cardholder=holder, lease_until=None, needs_person=False
    )
    record("registration.registered", wish, by="system: sender", new={"cardholder": holder.endl_id})


def _alarm_if_against_our_end(wish: CardholderRequest, holder: Cardholder) -> None:
    """A cardholder that came although the registration ended without one is an alarm for a person."""
    if wish.cardholder_id is None:
        told = f"Endl registered them, although the registration is {wish.state}."
        Cardholder.objects.filter(pk=holder.pk).update(contradiction=told)
        record("registration.contradiction", wish, by="system: sender", new={"told": told})


def _refused(wish: CardholderRequest, error: api.EndlError, now: datetime) -> None:
    customers.learn_refused(wish.customer, error, now=now)


ROAD: Road[CardholderRequest, api.Cardholder] = Road(
    model=CardholderRequest,
    hold=Hold.Scope.CARDS,
    made="cardholder",
    read=api.read_cardholder,
    gate=_gate,
    arrive=_arrive,
    look=_look,
    refused=_refused,
)
