"""Wallets and what they hold, per currency and chain."""

from __future__ import annotations

from decimal import Decimal

from backoffice.emulator.errors import uncoded
from backoffice.emulator.rules import broken
from backoffice.emulator.wire import Doc
from backoffice.emulator.world import World


def paying_wallet(world: World, customer: str, wallet_id: str) -> Doc:
    """The customer's own wallet of that id."""
    wallet = world.find("wallets", wallet_id)
    if wallet is None or wallet.get("customerId") != customer:
        raise uncoded(400, "The wallet is not the customer's")
    return wallet


def reserve(world: World, wallet: Doc, chain: str, money: Doc) -> None:
    """Take an amount out of a wallet, or refuse."""
    pot = _pot(world, wallet, chain, str(money["currency"]))
    left = Decimal(pot["amount"]) - Decimal(money["amount"])
    if left < 0:
        raise uncoded(409, "Not enough funds in the wallet")
    pot["amount"] = f"{left:f}"
    world.put("wallets", wallet)


def give_back(world: World, deposit: Doc) -> None:
    """Return what a failed deposit had reserved; a wallet that is gone gets nothing."""
    wallet = world.find("wallets", str(deposit.get("walletId")))
    money, chain = deposit["amount"], deposit.get("chain")
    for pot in (wallet or {}).get("balances", []):
        if pot["chain"] == chain and pot["currency"] == money["currency"]:
            pot["amount"] = f"{Decimal(pot['amount']) + Decimal(money['amount']):f}"
    if wallet:
        world.put("wallets", wallet)


def _pot(world: World, wallet: Doc, chain: str, currency: str) -> Doc:
    on_chain: list[Doc] = [pot for pot in wallet.get("balances", []) if pot["chain"] == chain]
    if not on_chain:
        raise uncoded(400, "The wallet's chain is not supported")
    for pot in on_chain:
        if pot["currency"] == currency:
            return pot
    raise broken("amount.currency", "is not held by the wallet on this chain", world.switches)
