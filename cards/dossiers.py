"""What a card order's dossier tells of its parties, and the checks that only this application can make."""

from backoffice.approvals.checks import Check, Tells, Told
from backoffice.delivery import holds
from backoffice.delivery.models import Hold
from cards import issuing
from cards.models import Card, CardOrder


def tell(order: CardOrder) -> Tells:
    """Who a card is for, and whether it could be issued at all."""
    holder, customer = order.cardholder, order.cardholder.customer
    return Tells(
        parties=(
            Told("Customer", customer.name, f"{customer.endl_id}, {customer.get_type_display().lower()}"),
            Told("Cardholder", str(holder), f"{holder.endl_id}, {holder.email or 'no e-mail address'}"),
            Told("Review", holder.get_review_state_display()),
            Told("Purpose", order.purpose or "None"),
            Told("Requested by", str(order.maker)),
        ),
        checks=(_can_be_issued(order), _has_no_other(order), _is_not_held()),
    )


def _can_be_issued(order: CardOrder) -> Check:
    if reason := issuing.why_not_issue(order.cardholder):
        return Check("Cardholder", "stop", reason)
    return Check("Cardholder", "pass", "Compliance approved the cardholder, and the customer can hold cards.")


def _has_no_other(order: CardOrder) -> Check:
    active = Card.objects.filter(cardholder=order.cardholder, status="active", missing_since=None).count()
    if active:
        cards = "an active card" if active == 1 else f"{active} active cards"
        return Check("Other cards", "look", f"The cardholder has {cards} already.")
    return Check("Other cards", "pass", "The cardholder has no other active card.")


def _is_not_held() -> Check:
    if holds.is_held(Hold.Scope.CARDS):
        return Check("Hold", "look", "Cards are held: what is approved waits until the hold is lifted.")
    return Check("Hold", "pass", "Nobody holds cards back.")
