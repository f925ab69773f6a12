"""The pages of wallets: typed in by people, or seen at Endl in money's movements."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path, reverse
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.delivery import pages as road
from backoffice.money import plain
from backoffice.pages.forms import FormAdmin
from backoffice.pages.objects import the_person
from backoffice.pages.parts import (
    Act,
    Fact,
    Panel,
    Table,
    badge,
    code,
    endl_status,
    link,
    money,
    name,
    when,
)
from cards.scoping import Scoped
from funding import deposits, wallets
from funding.forms import AddWalletForm, WalletDetailsForm
from funding.models import DepositRequest, Wallet

_LATEST = 10


@admin.register(Wallet)
class WalletAdmin(Scoped, FormAdmin):
    """The wallets that deposits are paid from."""

    scope_path = "customer"
    add_form_class = AddWalletForm
    act_names = ("details",)
    list_display = (
        "shown_name",
        "shown_customer",
        "shown_currency",
        "chain",
        "shown_source",
        "in_use",
        "added",
    )
    list_filter = ("source", "is_active", "currency", ("currency", admin.EmptyFieldListFilter))
    allowed_lookups: ClassVar[frozenset[str]] = frozenset({"currency__isempty"})
    list_select_related = ("customer",)
    search_fields = ("endl_id", "label", "customer__name", "customer__endl_id")
    ordering = ("customer__name", "label")

    @display(description="Wallet", ordering="label")
    def shown_name(self, wallet: Wallet) -> Any:
        return name(wallet.label or wallet.endl_id)

    @display(description="Customer", ordering="customer__name")
    def shown_customer(self, wallet: Wallet) -> Any:
        return name(wallet.customer.name)

    @display(description="Currency", ordering="currency")
    def shown_currency(self, wallet: Wallet) -> Any:
        return wallet.currency or badge("waiting", "No currency yet")

    @display(description="Source", ordering="source")
    def shown_source(self, wallet: Wallet) -> Any:
        return _source(wallet)

    @display(description="In use", boolean=True, ordering="is_active")
    def in_use(self, wallet: Wallet) -> bool:
        return wallet.is_active

    @display(description="Added", ordering="added_at")
    def added(self, wallet: Wallet) -> Any:
        return when(wallet.added_at)

    def get_urls(self) -> list[URLPattern]:
        pick = path("pick/", self.admin_site.admin_view(self.pick_view), name="funding_wallet_pick")
        return [pick, *super().get_urls()]

    def pick_view(self, request: HttpRequest) -> HttpResponseBase:
        """Find wallets by what is typed, for a form with too many to list."""
        return UsableWallets.as_view(admin_site=self.admin_site)(request)

    def acts(self, request: HttpRequest, obj: Wallet) -> Iterable[Act]:
        person = the_person(request)
        if person.has_perm("funding.change_wallet"):
            yield Act("details", "Change details", partial(_change, obj, person), form=WalletDetailsForm)
        if person.has_perm("funding.add_depositrequest"):
            where = f"{reverse('admin:funding_depositrequest_add')}?wallet={obj.pk}"
            why_not = deposits.why_no_deposit(obj)
            yield Act("deposit", "Request deposit", href=where, why_not=why_not, tone="primary")

    def panels(self, request: HttpRequest, obj: Wallet) -> Iterable[Panel]:
        yield Panel("Wallet", list(_facts(obj)))
        yield _requests(obj)
        yield _deposits(obj)


class UsableWallets(AutocompleteJsonView):
    """The wallets that this person can have a deposit paid from, each with its customer's name."""

    def get_queryset(self) -> QuerySet[Any]:
        return super().get_queryset().filter(is_active=True).exclude(currency="").select_related("customer")

    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, str]:
        return {"id": str(obj.pk), "text": f"{obj.customer.name}: {obj}"}


def _source(wallet: Wallet) -> Any:
    is_learned = wallet.source == Wallet.Source.LEARNED
    return badge(wallet.source, wallet.get_source_display(), tone="wait" if is_learned else "quiet")


def _facts(wallet: Wallet) -> Iterable[Fact]:
    yield Fact("Endl id", code(wallet.endl_id))
    yield Fact("Customer", link(wallet.customer), wallet.customer.endl_id)
    yield Fact("Label", name(wallet.label))
    yield Fact("Currency", wallet.currency, "" if wallet.currency else "Complete it to request deposits.")
    yield Fact("Chain", name(wallet.chain))
    yield Fact(
        "Source", _source(wallet), "" if wallet.added_by_id else "It appeared in a deposit or withdrawal."
    )
    yield Fact("In use", "Yes" if wallet.is_active else "No")
    yield Fact("Added", when(wallet.added_at), str(wallet.added_by or ""))


def _requests(wallet: Wallet) -> Panel:
    rows = [
        (
            link(wish),
            money(plain(wish.amount), wish.currency),
            road.state_badge(wish),
            str(wish.maker),
            when(wish.created_at),
        )
        for wish in DepositRequest.objects.filter(wallet=wallet).select_related("maker")[:_LATEST]
    ]
    table = Table(("Request", "Amount", "State", "Requested by", "Requested"), rows, numeric=(1,))
    more = ("All", f"{reverse('admin:funding_depositrequest_changelist')}?q={wallet.endl_id}")
    return Panel("Latest requests", table=table, more=more, empty="No deposit was requested from it yet.")


def _deposits(wallet: Wallet) -> Panel:
    rows = [
        (
            link(made),
            money(made.amount_text, made.currency),
            endl_status(made.status, made.KNOWN_STATUSES),
            when(made.created_at),
        )
        for made in wallet.deposits.all()[:_LATEST]
    ]
    table = Table(("Deposit", "Amount", "Status", "Created"), rows, numeric=(1,))
    return Panel("Latest deposits", table=table, empty="Endl has shown no deposit from it yet.")


def _change(wallet: Wallet, person: User, given: dict[str, Any]) -> str:
    return f"{wallets.change_wallet(wallet=wallet, by=person, **given)} is changed."
