"""Registering cardholders and listing them with their cards."""

from __future__ import annotations

from backoffice.emulator import clock, ledger, replay, rules
from backoffice.emulator.customers import card_business, new_id
from backoffice.emulator.errors import coded
from backoffice.emulator.listing import listed
from backoffice.emulator.wire import Answer, Call, Doc, json_answer
from backoffice.emulator.world import World, shown


def register_cardholder(world: World, call: Call) -> Answer:
    """Register a cardholder; the same key and bytes bring the first one back."""
    wanted = rules.cardholder_request(call, world.switches)
    if before := replay.earlier(world, call):
        return before
    business = card_business(world, call)
    _refuse_duplicate_email(world, call.customer, wanted["email"])
    cardholder = _new_cardholder(world, business, wanted)
    world.put("cardholders", cardholder)
    ledger.enter(world, call, object_id=cardholder["cardholderId"])
    answer = json_answer(world.switches.success_status, with_cards(world, cardholder))
    replay.remember(world, call, answer)
    return answer


def _refuse_duplicate_email(world: World, customer: str, email: str) -> None:
    if world.switches.duplicate_emails:
        return
    same = world.rows(
        "SELECT 1 FROM things WHERE kind = 'cardholders' AND parent = ?"
        " AND lower(json_extract(doc, '$.email')) = lower(?) LIMIT 1",
        customer,
        email,
    )
    if same:
        raise coded("ERRCRD_1010", "email belongs to another cardholder of this business")


def _new_cardholder(world: World, business: Doc, wanted: Doc) -> Doc:
    return {
        "cardholderId": new_id(world, "chd_"),
        "customerId": business["customerId"],
        "firstName": wanted["firstName"],
        "lastName": wanted["lastName"],
        "email": wanted["email"],
        "phone": wanted.get("phone"),
        "status": world.switches.cardholder_status,
        "createdAt": clock.stamp(),
    }


def list_cardholders(world: World, call: Call) -> Answer:
    """The cardholders of a business with their cards."""
    card_business(world, call)
    return listed(world, call, "cardholders", name="cardUsers", show=lambda doc: with_cards(world, doc))


def with_cards(world: World, cardholder: Doc) -> Doc:
    """A cardholder as the API shows it."""
    cards = world.children("cards", cardholder["cardholderId"])
    return {**shown(cardholder), "cards": [shown(card) for card in cards]}
