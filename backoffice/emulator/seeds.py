"""Putting things into the world from outside, as if Endl had always known them."""

from __future__ import annotations

import secrets
from typing import Any

from backoffice.emulator import clock
from backoffice.emulator.customers import fresh_id
from backoffice.emulator.deposits import plan_settlement
from backoffice.emulator.wire import Doc
from backoffice.emulator.world import KINDS, World

_PREFIXES = {
    "customers": "cus_",
    "wallets": "wlt_",
    "cardholders": "chd_",
    "cards": "crd_",
    "deposits": "cdp_",
    "withdrawals": "cwd_",
}


class BadSeed(ValueError):
    """A seed names a kind that does not exist, lacks its owner, or is no list of objects."""


def sow(world: World, kinds: dict[str, Any]) -> dict[str, list[str]]:
    """Create or update things; answers the ids by kind.

    Where a seed is silent about a known thing, that stays as it is.
    """
    with world.transaction():
        # In the order of ownership, so that one call can bring a whole family.
        strangers = set(kinds) - set(KINDS)
        if strangers:
            raise BadSeed(f"{min(strangers)} is not a kind; kinds are {', '.join(KINDS)}")
        return {kind: [_sow(world, kind, seed) for seed in kinds[kind]] for kind in KINDS if kind in kinds}


def _sow(world: World, kind: str, seed: Any) -> str:
    if not isinstance(seed, dict):
        raise BadSeed(f"{kind} must be a list of objects")
    id_name, parent_name = KINDS[kind]
    identity = str(seed.get(id_name) or fresh_id(_PREFIXES[kind]))
    before = world.find(kind, identity)
    doc = {**(before or _usual(kind, seed)), **_given(kind, seed), id_name: identity}
    if parent_name and not doc.get(parent_name):
        raise BadSeed(f"{kind}: {parent_name} is needed")
    world.put(kind, doc)
    if kind == "deposits" and "settleInSeconds" in seed:
        plan_settlement(world, identity, clock.now() + float(seed["settleInSeconds"]))
    return identity


def _given(kind: str, seed: Doc) -> Doc:
    given = {name: value for name, value in seed.items() if name not in ("settleInSeconds", "balance")}
    if kind == "wallets" and "balance" in seed:
        pot = {"currency": seed.get("currency", "USD"), "chain": seed.get("chain", "base")}
        given["balances"] = [{**pot, "amount": str(seed["balance"])}]
    return given


def _usual(kind: str, seed: Doc) -> Doc:
    match kind:
        case "customers":
            return {"name": "A customer", "type": "business", "cardsEnabled": True, "enrolment": "active"}
        case "wallets":
            return {"label": "A wallet", "chain": "base", "currency": "USD", "balances": []}
        case "cardholders":
            return _usual_cardholder()
        case "cards":
            return _usual_card()
        case "deposits":
            method = "endl_account" if seed.get("walletId") else "external"
            return {"method": method, **_usual_transfer(seed)}
        case _:
            return {"destination": {"address": "0x" + secrets.token_hex(20)}, **_usual_transfer(seed)}


def _usual_cardholder() -> Doc:
    return {
        "firstName": "Robin",
        "lastName": "Sample",
        "email": f"robin.{secrets.token_hex(4)}@example.com",
        "phone": None,
        "status": "active",
        "createdAt": clock.stamp(),
    }


def _usual_card() -> Doc:
    return {
        "type": "scoped",
        "last4": f"{secrets.randbelow(10_000):04d}",
        "expiryMonth": 12,
        "expiryYear": 2029,
        "amountInUSDCents": 5000,
        "memo": None,
        "status": "active",
        "createdAt": clock.stamp(),
    }


def _usual_transfer(seed: Doc) -> Doc:
    created = seed.get("createdAt", clock.stamp())
    completed = seed.get("status", "completed") == "completed"
    return {
        "amount": {"amount": "100.00", "currency": "USD"},
        "chain": "base",
        "transactionHash": "0x" + secrets.token_hex(32) if completed else None,
        "fees": [],
        "status": "completed",
        "failureReason": None,
        "createdAt": created,
        "completedAt": created if completed else None,
    }
