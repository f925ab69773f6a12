"""Issuing single-use cards. Their details leave once, encrypted."""

from __future__ import annotations

import json

from cryptography.hazmat.primitives.asymmetric import rsa

from backoffice.emulator import clock, ledger, replay, rules
from backoffice.emulator.customers import card_business, new_id
from backoffice.emulator.envelopes import read_public_key, seal
from backoffice.emulator.errors import coded
from backoffice.emulator.numbers import new_details
from backoffice.emulator.wire import Answer, Call, Doc, json_answer
from backoffice.emulator.world import World, shown


def issue_card(world: World, call: Call) -> Answer:
    """Issue a card; a repeat of its key answers as the switch `card_replay` says."""
    wanted = rules.card_request(call, world.switches)
    if before := replay.earlier(world, call):
        if world.switches.card_replay == "first-result":
            return before
        raise coded("ERRCRD_1008")
    card_business(world, call)
    cardholder = _enabled_cardholder(world, call)
    key = _partner_key(world)
    _refuse_by_switch(world, wanted["amountInUSDCents"])
    return _issue(world, call, cardholder, wanted, key)


def _enabled_cardholder(world: World, call: Call) -> Doc:
    cardholder = world.find("cardholders", call.params["cardholderId"])
    if cardholder is None or cardholder.get("customerId") != call.customer:
        raise coded("ERRCRD_1002")
    if cardholder.get("status") != "active":
        raise coded("ERRCRD_1003")
    return cardholder


def _partner_key(world: World) -> rsa.RSAPublicKey:
    pem = world.fact("partner_key")
    if pem is None:
        raise coded("ERRCRD_1004")
    return read_public_key(pem)


def _refuse_by_switch(world: World, cents: int) -> None:
    if not world.switches.issuing_available:
        raise coded("ERRCRD_1007")
    if cents in world.switches.rejected_amounts:
        raise coded("ERRCRD_1006")
    if world.switches.issuing_down:
        raise coded("ERRCRD_1009")


def _issue(world: World, call: Call, cardholder: Doc, wanted: Doc, key: rsa.RSAPublicKey) -> Answer:
    details = _unused_details(world)
    card = _new_card(world, cardholder, wanted, details)
    world.put("cards", card)
    keep_details(world, card["cardId"], details)
    ledger.enter(world, call, object_id=card["cardId"], amount=str(card["amountInUSDCents"]))
    envelope = seal(details, key, world.switches)
    answer = json_answer(world.switches.success_status, {**shown(card), "encryptedDetails": envelope})
    replay.remember(world, call, answer)
    return answer


def _unused_details(world: World) -> Doc:
    while True:
        details = new_details()
        if not world.rows("SELECT 1 FROM details WHERE number = ?", details["number"]):
            return details


def _new_card(world: World, cardholder: Doc, wanted: Doc, details: Doc) -> Doc:
    return {
        "cardId": new_id(world, "crd_"),
        "cardholderId": cardholder["cardholderId"],
        "type": "scoped",
        "last4": details["number"][-4:],
        "expiryMonth": details["expiryMonth"],
        "expiryYear": details["expiryYear"],
        "amountInUSDCents": wanted["amountInUSDCents"],
        "memo": wanted.get("memo"),
        "status": "active",
        "createdAt": clock.stamp(),
    }


def keep_details(world: World, card_id: str, details: Doc) -> None:
    """Keep a card's details, in the clear: they are test numbers, and tests compare them."""
    world.run(
        "INSERT OR REPLACE INTO details (card, number, doc) VALUES (?, ?, ?)",
        card_id,
        details["number"],
        json.dumps(details),
    )


def kept_details(world: World, card_id: str) -> Doc | None:
    """The details of a card that the emulator issued itself; None for any other."""
    found = world.rows("SELECT doc FROM details WHERE card = ?", card_id)
    return json.loads(found[0]["doc"]) if found else None
