"""The pages of deposits: Endl's, to be looked at."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.pages.parts import NOTHING, Fact, Panel, badge, code, link, name
from funding import deposits, sync
from funding.admin.movements import MovementAdmin, alarm, fees_panel, money_facts
from funding.models import Deposit, DepositRequest


@admin.register(Deposit)
class DepositAdmin(MovementAdmin):
    """Money onto card balances."""

    pull_kind = sync.DEPOSITS
    list_display = (
        "shown_amount",
        "shown_customer",
        "shown_wallet",
        "method",
        "shown_status",
        "created",
        "completed",
        "confirmed",
    )
    list_select_related = ("customer", "wallet")

    @display(description="Wallet")
    def shown_wallet(self, deposit: Deposit) -> Any:
        return name(deposit.wallet.label or deposit.wallet.endl_id) if deposit.wallet else NOTHING

    def panels(self, request: HttpRequest, obj: Deposit) -> Iterable[Panel]:
        wish = DepositRequest.objects.filter(deposit=obj).select_related("wallet__customer").first()
        yield from alarm(obj, deposits.difference(wish, obj) if wish else "")
        yield Panel("Deposit", list(_facts(obj, wish)))
        yield fees_panel(obj)
        yield self.provenance(obj)
        yield self.as_it_came(obj)


def _facts(deposit: Deposit, wish: DepositRequest | None) -> Iterable[Fact]:
    yield from money_facts(deposit)
    yield Fact("Method", name(deposit.method))
    yield Fact("From wallet", _wallet(deposit))
    yield Fact("Request", link(wish) if wish else "Not asked for here")
    if deposit.is_not_reread:
        hint = "Endl has no read for it: the state rests on a signed webhook or on a person's word alone."
        yield Fact("Not re-read", badge("unclear", "Not re-read"), hint)


def _wallet(deposit: Deposit) -> Any:
    told = deposit.payload.get("walletId") if isinstance(deposit.payload, dict) else None
    return link(deposit.wallet) if deposit.wallet else code(str(told or "")[:200])
