"""The pages of withdrawals: found by sync or looked up by id, and followed until they end."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.delivery import bell
from backoffice.pages.forms import FormAdmin
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, code, link, name, when
from funding import sync, tasks, withdrawals
from funding.admin.movements import MovementAdmin, alarm, fees_panel, money_facts
from funding.forms import FollowWithdrawalForm
from funding.models import Withdrawal


@admin.register(Withdrawal)
class WithdrawalAdmin(MovementAdmin, FormAdmin):
    """Money off card balances."""

    pull_kind = sync.WITHDRAWALS
    add_form_class = FollowWithdrawalForm
    act_names = ("look",)
    list_display = (
        "shown_amount",
        "shown_customer",
        "destination",
        "shown_status",
        "created",
        "completed",
        "confirmed",
    )
    list_select_related = ("customer", "destination_wallet")
    search_fields = (*MovementAdmin.search_fields, "destination_address")

    @display(description="Destination")
    def destination(self, withdrawal: Withdrawal) -> Any:
        if withdrawal.destination_wallet:
            return name(withdrawal.destination_wallet.label or withdrawal.destination_wallet.endl_id)
        return code(withdrawal.destination_address)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return the_person(request).has_perm("funding.add_withdrawal")

    def state_of(self, obj: Withdrawal) -> str:
        """A look that found nothing new is news too: the page says when it was."""
        return f"{obj.status} {obj.looked_at:%H%M%S}" if obj.looked_at else obj.status

    def confirmed_at(self, obj: Any, pull: Any) -> Any:
        return max(
            filter(None, (super().confirmed_at(obj, pull), None if obj.missing_since else obj.looked_at))
        )

    def acts(self, request: HttpRequest, obj: Withdrawal) -> Iterable[Act]:
        if self.has_add_permission(request):
            ended = "It has ended: there is nothing more to look for." if obj.has_ended else ""
            yield Act("look", "Look again now", partial(_look, obj, the_person(request)), why_not=ended)

    def panels(self, request: HttpRequest, obj: Withdrawal) -> Iterable[Panel]:
        yield from alarm(obj)
        yield Panel("Withdrawal", list(_facts(obj)))
        yield fees_panel(obj)
        yield self.provenance(obj)
        yield self.as_it_came(obj)


def _facts(withdrawal: Withdrawal) -> Iterable[Fact]:
    yield from money_facts(withdrawal)
    yield Fact("To wallet", link(withdrawal.destination_wallet))
    yield Fact("To address", code(withdrawal.destination_address))
    yield Fact("Last looked at", when(withdrawal.looked_at), "A pending one is looked at by itself.")


def _look(withdrawal: Withdrawal, person: User, _given: dict[str, Any]) -> str:
    withdrawals.ask_to_look(withdrawal=withdrawal, by=person)
    bell.ring(tasks.FOLLOW_WITHDRAWAL, withdrawal.pk)
    return "It is looked up at Endl now; the page shows what comes."
