"""The cards' part of the sample activity: customers, cardholders, orders of three months, some open today."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backoffice.delivery import sender
from backoffice.delivery.models import State
from backoffice.practice.sample import Sample
from cards import customers, issuing, registering, retention, review, sync
from cards.models import Cardholder, CardholderRequest, CardholderReview, CardOrder, Customer

_LEFT_TO_REVIEW = "chd_birch_12"
_REJECTED = {"chd_aurora_6": "The identity document had expired, and no new one was given."}


@dataclass(frozen=True)
class Wish:
    """One order of the past: when, for whom, what for, and what became of it."""

    days: float
    holder: str
    dollars: int
    purpose: str
    fate: str


# What becomes of a card at Endl is its status there; the rest is about the order.
_ORDERS = (
    Wish(84, "chd_aurora_1", 420, "Flight to Lisbon", "used"),
    Wish(77, "chd_aurora_2", 95, "Design software, monthly", "used"),
    Wish(70, "chd_aurora_3", 640, "Hotel, trade fair", "used"),
    Wish(63, "chd_aurora_1", 1_850, "Conference booth", "used"),
    Wish(55, "chd_birch_8", 310, "Courier, August", "expired"),
    Wish(47, "chd_birch_9", 2_600, "Laptop", "rejected"),
    Wish(41, "chd_aurora_5", 150, "Train tickets", "used"),
    Wish(33, "chd_aurora_2", 95, "Design software, monthly", "cancelled"),
    Wish(26, "chd_birch_10", 780, "Workshop room", "used"),
    Wish(19, "chd_aurora_4", 60, "Parking", "refused"),
    Wish(12, "chd_aurora_7", 240, "Team lunch", "withdrawn"),
    Wish(6, "chd_birch_8", 515, "Spare parts", "used"),
    Wish(2.1, "chd_aurora_1", 330, "Flight to Vienna", "active"),
    Wish(1.3, "chd_aurora_3", 1_400, "Server rack", "active"),
    Wish(0.8, "chd_birch_9", 75, "Domain names", "active"),
    Wish(0.3, "chd_aurora_5", 205, "Catering", "active"),
    Wish(0.2, "chd_birch_10", 187, "Printing", "lost"),
    Wish(0.02, "chd_aurora_2", 2_400, "Trade fair stand", "waiting"),
)


def make(sample: Sample) -> int:
    """Make customers, reviews, registrations and orders. Returns how many requests there are."""
    businesses = [added for added in _add_customers(sample) if added.type == Customer.Type.BUSINESS]
    _sync(sample, businesses)
    _review_cardholders(sample)
    _register(sample)
    aged = [card for number, wish in enumerate(_ORDERS) if (card := _order(sample, number, wish))]
    sample.seed(cards=aged)
    _sync(sample, businesses)
    retention.destroy_due_details(now=sample.now)
    return CardOrder.objects.count() + CardholderRequest.objects.count()


def _add_customers(sample: Sample) -> list[Customer]:
    return [_add_customer(sample, seed) for seed in sample.world["customers"]]


def _add_customer(sample: Sample, seed: dict[str, Any]) -> Customer:
    known = Customer.objects.filter(endl_id=seed["customerId"]).first()
    return known or customers.add_customer(
        endl_id=seed["customerId"],
        name=seed["name"],
        type=seed["type"],
        by=sample.by("manager"),
        now=sample.ago(days=92),
    )


def _sync(sample: Sample, businesses: list[Customer]) -> None:
    for business in businesses:
        sync.sync_cardholders(customer=business, endl=sample.endl, by="system: sample", now=sample.now)


def _review_cardholders(sample: Sample) -> None:
    for holder in Cardholder.objects.filter(reviews=None).exclude(endl_id=_LEFT_TO_REVIEW):
        reason = _REJECTED.get(holder.endl_id, "")
        arrived = holder.created_at or sample.now
        review.review_cardholder(
            cardholder=holder,
            verdict=CardholderReview.Verdict.REJECTED if reason else CardholderReview.Verdict.APPROVED,
            reason=reason,
            by=sample.by("compliance"),
            now=min(arrived + timedelta(days=1), sample.ago(hours=1)),
        )


def _register(sample: Sample) -> None:
    """One registration that Endl refused, and one from this morning that waits for compliance."""
    if not CardholderRequest.objects.exists():
        sample.plan_fault("register_cardholder", kind="error", code="ERRCRD_1010")
    _registration(sample, "cus_birch", ("Pavel", "Novotný"), sample.ago(days=17))
    _registration(sample, "cus_aurora", ("Noor", "Rahman"), sample.ago(hours=3))


def _registration(sample: Sample, business: str, name: tuple[str, str], moment: datetime) -> None:
    first_name, last_name = name
    email = f"{first_name.lower()}@{business.removeprefix('cus_')}.example.com"
    wish = registering.register_cardholder(
        customer=Customer.objects.get(endl_id=business),
        first_name=first_name,
        last_name=last_name,
        email=email,
        phone="",
        form_token=f"sample-{email}",
        by=sample.by("manager"),
        now=moment,
    )
    sender.deliver(registering.ROAD, wish.pk, endl=sample.endl, clock=lambda: moment)


def _order(sample: Sample, number: int, wish: Wish) -> dict[str, Any] | None:
    """Make an order and let its fate come true. Returns what the emulator should say of its card."""
    moment = sample.ago(days=wish.days)
    order = issuing.request_card(
        cardholder=Cardholder.objects.select_related("customer").get(endl_id=wish.holder),
        amount_cents=wish.dollars * 100,
        purpose=wish.purpose,
        form_token=f"sample-order-{number}",
        by=sample.by("manager"),
        now=moment,
    )
    _decide(sample, order, wish.fate, moment + timedelta(minutes=25))
    if wish.fate == "lost" and order.state == State.APPROVED:
        # The answer goes astray; asked again, Endl says that the key was used before.
        sample.plan_fault("issue_card", kind="drop", when="after")
    for minutes in (30, 40):
        _deliver(sample, order, moment + timedelta(minutes=minutes))
    order.refresh_from_db()
    if order.state != State.ISSUED or order.card is None:
        return None
    written = (moment + timedelta(minutes=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"cardId": order.card.endl_id, "status": wish.fate, "createdAt": written}


def _decide(sample: Sample, order: CardOrder, fate: str, moment: datetime) -> None:
    """What people did with an order: the checker above the ceiling, the manager who took it back."""
    if fate == "withdrawn" and order.state == State.APPROVED:
        issuing.cancel_order(request=order, by=sample.by("manager"), now=moment, reason="Paid in cash.")
    if order.state != State.REQUESTED or fate == "waiting":
        return
    assert order.approval is not None
    seen, checker = order.approval.facts_hash, sample.by("checker")
    if fate == "rejected":
        reason = "Hardware goes through procurement."
        issuing.reject_order(request=order, by=checker, seen=seen, reason=reason, now=moment)
    else:
        issuing.approve_order(request=order, by=checker, seen=seen, now=moment)


def _deliver(sample: Sample, order: CardOrder, moment: datetime) -> None:
    sender.deliver(issuing.ROAD, order.pk, endl=sample.endl, clock=lambda: min(moment, sample.now))
