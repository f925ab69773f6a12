"""Looking customers up, with the refusals that Endl documents for them."""

from __future__ import annotations

import secrets
import uuid

from backoffice.emulator.errors import coded, uncoded
from backoffice.emulator.wire import Call, Doc
from backoffice.emulator.world import World


def known_customer(world: World, call: Call) -> Doc:
    """The customer of the path, whatever its type."""
    customer = world.find("customers", call.customer)
    if customer is None:
        raise coded("ERRREF_1001")
    return customer


def card_business(world: World, call: Call) -> Doc:
    """The customer of the path, which must be a business that is enabled for cards."""
    customer = known_customer(world, call)
    if customer.get("type") != "business":
        raise coded("ERRCRD_1000")
    if not customer.get("cardsEnabled", True):
        raise coded("ERRCRD_1001")
    return customer


def funding_customer(world: World, call: Call) -> Doc:
    """The customer of the path, which must be allowed to deposit: no employee, and enrolled."""
    customer = known_customer(world, call)
    if customer.get("type") == "employee":
        raise uncoded(400, "Deposits for an employee are refused")
    if customer.get("enrolment", "active") != "active":
        raise uncoded(403, "The customer is not enrolled, or its enrolment is not active")
    return customer


def fresh_id(prefix: str = "") -> str:
    """A new opaque id."""
    return prefix + secrets.token_hex(10)


def new_id(world: World, prefix: str) -> str:
    """The id of something new, in the form that a switch asks for."""
    match world.switches.id_form:
        case "uuid":
            return str(uuid.uuid4())
        case "number":
            return str(secrets.randbelow(10**12) + 10**12)
        case _:
            return fresh_id(prefix)
