"""The forms of money. What is not exactly right gets a sentence at its field."""

from datetime import datetime
from typing import Any

from django import forms
from unfold import widgets

from backoffice.money import NotAnAmount, parse_amount, places_of
from backoffice.pages.fields import PlainText
from backoffice.pages.forms import OperationForm, choice
from cards import scope
from funding import deposits
from funding.models import DepositRequest, Wallet


class RequestDepositForm(OperationForm):
    """Ask for a deposit from one of the customer's wallets."""

    submit_label = "Request deposit"
    lead = "Another person approves it before anything is sent to Endl."

    wallet = choice(Wallet.objects.none(), label="From wallet", empty_label="Choose a wallet")
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
    refusal_fields = {"NoDeposit": "wallet"}

    def prepare(self) -> None:
        wallets = scope.limit(Wallet.objects.filter(is_active=True), self.person, "customer")
        field = self.fields["wallet"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = wallets.select_related("customer").order_by("customer__name", "label")
        field.label_from_instance = _wallet_label  # type: ignore[assignment]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        wallet, typed = cleaned.get("wallet"), cleaned.get("amount")
        if wallet is not None and typed is not None:
            try:
                cleaned["amount"] = parse_amount(typed, places=places_of(wallet.currency))
            except NotAnAmount as problem:
                self.add_error("amount", str(problem))
        return cleaned

    def perform(self, *, now: datetime) -> DepositRequest:
        given = self.cleaned_data
        return deposits.request_deposit(by=self.person, now=now, **given)

    def done(self, made: Any) -> str:
        return f"{made} is requested. It is sent when another person has approved it."


def _wallet_label(wallet: Wallet) -> str:
    return f"{wallet.customer}: {wallet}"
