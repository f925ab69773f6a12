"""Issuing single-use cards: asked for, approved by rule or by a checker, sent once."""

import json
from datetime import datetime
from typing import Any

from django.conf import settings

from backoffice import endl as api
from backoffice import vault
from backoffice.access.models import User
from backoffice.approvals import rules
from backoffice.approvals.books import Book
from backoffice.audit.trail import Refusal, operation, record
from backoffice.delivery import desk
from backoffice.delivery.models import Hold, Pause, State
from backoffice.delivery.road import GateClosed, Road
from cards import customers, keys, registering, scope, sync
from cards.models import Card, Cardholder, CardOrder, SealedDetails

PERMISSION = "approvals.decide_card_orders"
COMPLIANCE_PERMISSION = "approvals.decide_as_compliance"


class NotEligible(Refusal):
    """No card can be issued to this cardholder now."""


@operation("card_order.request", about="cardholder")
def request_card(
    *, cardholder: Cardholder, amount_cents: int, purpose: str, form_token: str, by: User, now: datetime
) -> CardOrder:
    """Ask for a single-use card. The active rules approve it at once or say who must.

    Args:
        amount_cents: US cents, from 1 to 10,000,000.
        purpose: what the card is for; kept here, and sent only where a setting says so.
        form_token: of the page that was posted; a second click finds what the first one made.

    Raises: NotAllowed, NotEligible.
    """
    scope.check(by, "cards.add_cardorder", cardholder.customer)
    if posted := desk.posted_before(CardOrder, form_token, by=by):
        return posted
    if reason := why_not_issue(cardholder):
        raise NotEligible(reason)
    call = api.call_issue_card(
        customer_id=cardholder.customer.endl_id,
        cardholder_id=cardholder.endl_id,
        amount_cents=amount_cents,
        memo=purpose if settings.ENDL_SEND_MEMO and purpose else None,
    )
    order = CardOrder(
        cardholder=cardholder,
        amount_cents=amount_cents,
        purpose=purpose,
        form_token=form_token,
        **desk.committed(call, by=by, now=now),
    )
    desk.ask(order, now=now)
    order, is_new = desk.commit(order, by=by)
    if is_new:
        record("card_order.request", order, by=by, reason=purpose, new=_told(order))
    return order


@operation("card_order.approve", about="request")
def approve_order(*, request: CardOrder, by: User, seen: str, now: datetime, reason: str = "") -> CardOrder:
    """Approve a card order that people must decide on. Raises: see `desk.approve`, and NotAllowed."""
    _check_decider(by, request)
    return desk.approve(request, by=by, seen=seen, reason=reason, now=now)


@operation("card_order.reject", about="request")
def reject_order(*, request: CardOrder, by: User, seen: str, reason: str, now: datetime) -> CardOrder:
    """Reject a card order. Raises: see `desk.reject`, and NotAllowed."""
    _check_decider(by, request)
    return desk.reject(request, by=by, seen=seen, reason=reason, now=now)


@operation("card_order.cancel", about="request")
def cancel_order(*, request: CardOrder, by: User, now: datetime, reason: str = "") -> CardOrder:
    """Take back a card order that was not sent yet. Raises NotTheMaker, TooLate."""
    return desk.cancel(request, by=by, reason=reason, now=now)


def _check_decider(by: User, order: CardOrder) -> None:
    """The roles that the rules may ask; which of them the step that waits wants, the decision checks."""
    permission = next((held for held in BOOK.roles.values() if by.has_perm(held)), PERMISSION)
    scope.check(by, permission, order.cardholder.customer)


def why_not_issue(cardholder: Cardholder) -> str:
    """Say why no card can be issued to a cardholder now; blank when one can."""
    if reason := registering.why_no_cards(cardholder.customer):
        return reason
    if cardholder.missing_since is not None:
        return f"{cardholder} is gone at Endl since {cardholder.missing_since:%Y-%m-%d}."
    if cardholder.status == "disabled":
        return f"{cardholder} is disabled at Endl: review the cardholder with Endl."
    if cardholder.review_state == Cardholder.Review.REJECTED:
        return f"Compliance rejected {cardholder}: no card can be issued."
    if cardholder.review_state != Cardholder.Review.APPROVED:
        return f"Compliance has not approved {cardholder} yet: no card can be issued until they do."
    return ""


def facts_of(order: CardOrder) -> dict[str, Any]:
    """What an approval of this order binds to."""
    return desk.facts_of(
        order,
        cardholder=order.cardholder.endl_id,
        amount=_dollars(order.amount_cents),
        currency="USD",
        purpose=order.purpose,
    )


def _dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _told(order: CardOrder) -> dict[str, Any]:
    return {
        "amount": f"{_dollars(order.amount_cents)} USD",
        "cardholder": order.cardholder.endl_id,
        "state": order.state,
    }


def _gate(order: CardOrder, now: datetime) -> None:
    if reason := why_not_issue(order.cardholder):
        raise GateClosed(reason)


def _keep_details(order: CardOrder, made: api.IssuedCard, now: datetime) -> None:
    """Commit the envelope before anything else is done with the answer: it comes this once."""
    envelope = made.encrypted_details
    if envelope is None:
        return
    SealedDetails.objects.get_or_create(
        order=order,
        defaults={
            "envelope": vault.seal(json.dumps(envelope).encode(), about=about_details(order)),
            "key_fingerprint": keys.fingerprint_for(envelope),
            **sync.masked_columns(made.card),
            "received_at": now,
        },
    )


def about_details(order: CardOrder) -> str:
    """What the sealed envelope of an order is bound to."""
    return f"cards.details:{order.pk}:{order.idempotency_key}"


def _arrive(order: CardOrder, made: api.IssuedCard, now: datetime) -> None:
    """Settle the order: issued when its details are here, else lost; a late envelope still mends that."""
    row = CardOrder.objects.select_for_update().get(pk=order.pk)
    if row.has_ended and row.state != State.DETAILS_LOST:
        _alarm_if_against_our_end(row, made, now)
        return
    state = State.ISSUED if SealedDetails.objects.filter(order=row).exists() else State.DETAILS_LOST
    card = sync.take_in_card(order.cardholder, made.card, now=now)
    CardOrder.objects.filter(pk=row.pk).update(
        state=state,
        state_at=now,
        card=card,
        lease_until=None,
        needs_person=False,
        outcome_code="",
        outcome_message="",
        outcome_field="",
        outcome_remedy="",
    )
    record(f"card_order.{state}", row, by="system: sender", new={"card": card.endl_id, "state": state})


def _alarm_if_against_our_end(order: CardOrder, made: api.IssuedCard, now: datetime) -> None:
    """A card that came although its order ended without one is an alarm for a person."""
    if order.card_id is not None:
        return
    card = sync.take_in_card(order.cardholder, made.card, now=now)
    told = f"Endl issued it, although its order is {order.state}."
    Card.objects.filter(pk=card.pk).update(contradiction=told)
    record("card_order.contradiction", order, by="system: sender", new={"card": card.endl_id, "told": told})


def _refused(order: CardOrder, error: api.EndlError, now: datetime) -> None:
    """Keep what a refusal says of the business, and that a cardholder is gone at Endl."""
    customers.learn_refused(order.cardholder.customer, error, now=now)
    if error.code == "ERRCRD_1002":
        Cardholder.objects.filter(pk=order.cardholder_id, missing_since=None).update(missing_since=now)


BOOK = Book(
    kind=CardOrder.kind,
    model=CardOrder,
    roles={rules.CHECKER: PERMISSION, rules.COMPLIANCE: COMPLIANCE_PERMISSION},
    facts=facts_of,
    summary=lambda order: f"{order}: {_dollars(order.amount_cents)} USD",
    amount="amount_cents",
    shift=2,
    currency="USD",
    customer="cardholder__customer__endl_id",
    wallet="cardholder__endl_id",
    select=("cardholder__customer", "approval__rule_set", "maker"),
)
ROAD: Road[CardOrder, api.IssuedCard] = Road(
    model=CardOrder,
    hold=Hold.Scope.CARDS,
    made="card",
    facts=facts_of,
    read=api.read_issued_card,
    gate=_gate,
    arrive=_arrive,
    keep_first=_keep_details,
    refused=_refused,
    pauses=(Pause.Scope.ISSUING,),
)
