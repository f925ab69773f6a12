"""The forms of money. What is not exactly right gets a sentence at its field."""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.forms.models import ModelChoiceIterator
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold import widgets

from backoffice.access.models import User
from backoffice.connections import open_endl
from backoffice.money import NotAnAmount, parse_amount, places_of, plain
from backoffice.pages.fields import EndlId, LongText, PlainText
from backoffice.pages.forms import SHORT_LIST, ActForm, OperationForm, choice
from cards import scope
from cards.models import Customer
from funding import deposits, wallets, withdrawals
from funding.models import DepositRequest, Wallet, Withdrawal

_CURRENCY = re.compile(r"[A-Z0-9]{2,12}", re.ASCII)


class ByCustomer(ModelChoiceIterator):  # type: ignore[type-arg]  # not subscriptable when it runs
    """The wallets under the names of their customers."""

    def __iter__(self) -> Iterator[Any]:
        yield ("", self.field.empty_label)
        for name, group in groupby(self.queryset, key=lambda wallet: wallet.customer.name):
            yield (name, [self.choice(wallet) for wallet in group])


class WalletChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # not subscriptable when it runs
    """One of the wallets that a deposit can be paid from."""

    iterator = ByCustomer


class PickWallet(AutocompleteSelect):
    """Searches for a wallet, where there are too many for a list."""

    def get_url(self) -> str:
        return reverse("admin:funding_wallet_pick")


class CurrencyField(forms.CharField):
    """A currency's code, exactly: capital letters and digits. Nothing is trimmed or turned into capitals."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"autocomplete": "off", "autocapitalize": "characters", "placeholder": "USDC"}
        kwargs.setdefault("widget", widgets.UnfoldAdminTextInputWidget(attrs=attrs))
        super().__init__(label="Currency", max_length=40, strip=False, **kwargs)

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and _CURRENCY.fullmatch(value) is None:
            raise ValidationError(
                "Write the code in capital letters, such as USDC: 2 to 12 of A to Z and 0 to 9, no spaces."
            )


class RequestDepositForm(OperationForm):
    """Ask for a deposit from one of the customer's wallets."""

    submit_label = "Request deposit"
    lead = "Another person approves it before anything is sent to Endl."

    wallet = WalletChoice(
        Wallet.objects.none(),
        label="From wallet",
        empty_label="Choose a wallet",
        widget=widgets.UnfoldAdminSelectWidget(),
    )
    amount = forms.CharField(
        label="Amount",
        max_length=60,
        help_text="In the wallet's currency: plain digits with a point, such as 1250.50.",
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    chain = PlainText(
        label="Chain", max_length=40, required=False, help_text="Leave empty for the wallet's own network."
    )
    note = PlainText(label="Note", max_length=140, required=False, help_text="Kept here; not sent to Endl.")
    second = forms.BooleanField(
        label="Yes, a second deposit", required=False, widget=widgets.UnfoldBooleanWidget()
    )
    replaces = forms.CharField(max_length=20, required=False, widget=forms.HiddenInput)
    refusal_fields = {"NoDeposit": "wallet"}

    def prepare(self) -> None:
        mine = scope.limit(Wallet.objects.filter(is_active=True), self.person, "customer")
        usable = mine.exclude(currency="").select_related("customer").order_by("customer__name", "pk")
        field = self.fields["wallet"]
        assert isinstance(field, WalletChoice)
        if usable.count() > SHORT_LIST:
            field.widget = PickWallet(DepositRequest._meta.get_field("wallet"), admin.site)
            field.widget.is_required = True
        field.queryset = usable
        field.help_text = self._hint(mine.filter(currency="").count())
        if not self.is_bound:
            del self.fields["second"]
            if not usable.exists():
                self.lead = _no_wallet_yet(may_add=self.person.has_perm("funding.add_wallet"))

    def _hint(self, incomplete: int) -> str:
        if not incomplete:
            return ""
        url = reverse("admin:funding_wallet_changelist") + "?currency__isempty=1"
        return format_html(
            '{} without a currency cannot be chosen: <a class="link" href="{}">complete them first</a>.',
            "1 wallet" if incomplete == 1 else f"{incomplete} wallets",
            url,
        )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        wallet, typed = cleaned.get("wallet"), cleaned.get("amount")
        if wallet is not None and typed is not None:
            try:
                cleaned["amount"] = parse_amount(typed, places=places_of(wallet.currency))
            except NotAnAmount as problem:
                self.add_error("amount", str(problem))
        self._ask_about_second(cleaned)
        return cleaned

    def _ask_about_second(self, cleaned: dict[str, Any]) -> None:
        """An equal deposit within a day is more often a slip than meant: ask, and only then."""
        is_readable = not self.errors.get("amount") and cleaned.get("wallet") is not None
        alike = self._alike(cleaned) if is_readable else None
        if alike is None:
            del self.fields["second"]
        elif not cleaned.pop("second", False):
            self.fields["second"].required = True
            told = f"{alike.maker} requested {plain(alike.amount)} {alike.currency} from this wallet"
            self.add_error(
                "second", f"{told} at {alike.created_at:%Y-%m-%d %H:%M %Z}. Tick if this is another one."
            )
        cleaned.pop("second", None)

    def _alike(self, cleaned: dict[str, Any]) -> DepositRequest | None:
        found = deposits.alike(wallet=cleaned["wallet"], amount=cleaned["amount"], now=timezone.now())
        # A second click on the same page finds what the first one made: that is no second deposit.
        return found.exclude(form_token=cleaned.get("form_token", "")).select_related("maker").first()

    def clean_replaces(self) -> DepositRequest | None:
        """The request that this one corrects; whatever is not one of the person's is quietly left out."""
        return replaceable(self.cleaned_data["replaces"], self.person)

    def perform(self, *, now: datetime) -> DepositRequest:
        given = self.cleaned_data
        old = given.pop("replaces")
        if old is not None and old.wallet.customer_id != given["wallet"].customer_id:
            old = None
        return deposits.request_deposit(by=self.person, now=now, replaces=old, **given)

    def done(self, made: Any) -> str:
        return f"{made} is requested. It is sent when another person has approved it."


def replaceable(key: str, person: User) -> DepositRequest | None:
    """The ended request of that key, where this person may see it; None for anything else."""
    if not (is_key(key) and person.has_perm("funding.view_depositrequest")):
        return None
    mine = scope.limit(DepositRequest.objects.all(), person, "wallet__customer")
    ended = mine.filter(pk=int(key), state__in=deposits.CAN_BE_REPLACED)
    return ended.select_related("wallet__customer").first()


def is_key(text: str) -> bool:
    """Whether a text from an address can be the key of a row."""
    return text.isascii() and text.isdigit() and len(text) < 19


def _no_wallet_yet(*, may_add: bool) -> str:
    if not may_add:
        return "There is no wallet to pay from yet: a finance maker adds one."
    return format_html(
        'There is no wallet to pay from yet. <a class="link" href="{}">Add wallet</a> first.',
        reverse("admin:funding_wallet_add"),
    )


class AddWalletForm(OperationForm):
    """Add a customer's wallet by its Endl id: Endl has no list of wallets to choose from."""

    submit_label = "Add wallet"
    lead = "Endl has no list of wallets, so they are typed in here. Nothing is sent to Endl."

    customer = choice(Customer.objects.none(), label="Customer", empty_label="Choose a customer")
    endl_id = EndlId(prefix="wlt_", label="Endl id")
    label = PlainText(label="Label", max_length=100, required=False, help_text="What people here call it.")
    chain = PlainText(label="Chain", max_length=40, required=False, help_text="Its network, such as base.")
    currency = CurrencyField(help_text="What it holds, such as USDC.")
    refusal_fields = {"WalletExists": "endl_id", "NotAllowed": "customer"}

    def prepare(self) -> None:
        _offer_customers(self)

    def perform(self, *, now: datetime) -> Wallet:
        given = self.cleaned_data
        del given["form_token"]
        return wallets.add_wallet(by=self.person, now=now, **given)

    def done(self, made: Any) -> str:
        return f"{made} is added."


class WalletDetailsForm(ActForm):
    """What we say of a wallet ourselves."""

    label = PlainText(label="Label", max_length=100, required=False)
    chain = PlainText(label="Chain", max_length=40, required=False)
    currency = CurrencyField(required=False, help_text="Without one, no deposit can be asked for.")
    is_active = forms.BooleanField(
        label="In use",
        required=False,
        help_text="Unticked, it is offered nowhere.",
        widget=widgets.UnfoldBooleanWidget(),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.initial = getattr(self.about, name, None)


class RecordOutcomeForm(ActForm):
    """What Endl said of a deposit that nobody knows the outcome of, in the words of the person who asked."""

    needs_step_up = True
    NOTHING = "nothing"

    outcome = forms.ChoiceField(
        label="What happened",
        choices=[
            ("", "Choose what Endl said"),
            (NOTHING, "Nothing happened: there is no deposit"),
            ("pending", "There is a deposit, and it is pending"),
            ("completed", "There is a deposit, and it is completed"),
            ("failed", "There is a deposit, and it failed"),
        ],
        widget=widgets.UnfoldAdminSelectWidget(),
    )
    deposit_id = EndlId(
        prefix="cdp_",
        label="Deposit id",
        required=False,
        help_text="Endl's id of the deposit, if there is one.",
    )
    said = LongText(label="What Endl said", max_length=500, help_text="And who said it, and when.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        outcome, deposit_id = cleaned.get("outcome"), cleaned.get("deposit_id")
        if outcome and outcome != self.NOTHING and not deposit_id and "deposit_id" not in self.errors:
            self.add_error("deposit_id", "Write down the deposit's id, as Endl named it.")
        if outcome == self.NOTHING and deposit_id:
            self.add_error("deposit_id", "Leave this empty where there is no deposit.")
        return cleaned


class RecordEndForm(ActForm):
    """How a submitted deposit ended, where Endl can be asked by nobody but a person."""

    needs_step_up = True

    status = forms.ChoiceField(
        label="How it ended",
        choices=[("", "Choose what Endl said"), ("completed", "It is completed"), ("failed", "It failed")],
        widget=widgets.UnfoldAdminSelectWidget(),
    )
    said = LongText(label="What Endl said", max_length=500, help_text="And who said it, and when.")


class FollowWithdrawalForm(OperationForm):
    """Look a withdrawal up at Endl by its id. It is kept only as Endl answers."""

    submit_label = "Follow a withdrawal"
    lead = "It is looked up at Endl now, which takes some seconds, and followed until it ends."

    customer = choice(Customer.objects.none(), label="Customer", empty_label="Choose a customer")
    endl_id = EndlId(prefix="cwd_", label="Withdrawal id")
    refusal_fields = {
        "NoSuchWithdrawal": "endl_id",
        "NoWord": "endl_id",
        "NoSuchCustomer": "customer",
        "NotAllowed": "customer",
    }

    def prepare(self) -> None:
        _offer_customers(self)

    def perform(self, *, now: datetime) -> Withdrawal:
        given = self.cleaned_data
        # One exchange at most, 25 seconds: the person waits for this page and can press again.
        return withdrawals.fetch_withdrawal(
            customer=given["customer"],
            endl_id=given["endl_id"],
            endl=open_endl(retries=0),
            by=self.person,
            now=now,
        )

    def done(self, made: Any) -> str:
        return f"{made} is followed: Endl says {made.status or 'no status'}."


def _offer_customers(form: OperationForm) -> None:
    """Let the person choose among their customers; a long list can be searched."""
    field = form.fields["customer"]
    assert isinstance(field, forms.ModelChoiceField)
    mine = scope.customers_for(form.person).filter(is_active=True)
    if mine.count() > SHORT_LIST:
        field.widget = widgets.UnfoldAdminSelect2Widget()
    field.queryset = mine
