"""Setting a personal limit: lowering holds at once, raising waits for another administrator."""

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold import widgets

from backoffice.access.factors import is_stepped_up
from backoffice.access.models import User
from backoffice.access.stepup import StepUpForm
from backoffice.approvals import limits
from backoffice.approvals.models import LimitChange
from backoffice.money import MOST_PLACES, NotAnAmount, parse_amount, places_of
from backoffice.pages.fields import LongText
from backoffice.pages.forms import OperationForm, choice


class SetLimitForm(OperationForm):
    """Asks whose limit, in which currency, how much, and why."""

    submit_label = "Set limit"
    lead = (
        "A first limit, and a lower one, hold at once. A higher one waits until another administrator "
        "agrees. Without a limit, only the rules limit a person."
    )
    refusal_fields: ClassVar[dict[str, str]] = {
        "OwnLimit": "approver", "NotALimit": "per_day", "RaiseWaits": "approver", "NoReason": "reason",
    }  # fmt: skip

    approver = choice(User.objects.none(), label="Person", empty_label="Choose a person")
    currency = forms.CharField(
        label="Currency",
        max_length=12,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"placeholder": "USDC", "autocomplete": "off"}),
        help_text="The code in capital letters, such as USDC.",
    )
    per_decision = forms.CharField(
        label="Up to, per decision",
        max_length=30,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    per_day = forms.CharField(
        label="Up to, in any 24 hours",
        max_length=30,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    reason = LongText(label="Reason", max_length=500, help_text="It stays on record.")

    def prepare(self) -> None:
        """Offer whoever decides; ask for the factor where it is not fresh."""
        deciders = [
            person.pk
            for person in User.objects.filter(is_active=True)
            if any(each.startswith("approvals.decide_") for each in person.get_all_permissions())
        ]
        self.fields["approver"].queryset = User.objects.filter(  # type: ignore[attr-defined]
            pk__in=deciders
        ).order_by("username")
        if not is_stepped_up(self.request):
            self.fields["factor"] = StepUpForm(request=self.request).fields["factor"]

    def clean_factor(self) -> str:
        """Check the factor as every other form of this house does."""
        asking = StepUpForm({"factor": self.cleaned_data["factor"]}, request=self.request)
        if not asking.is_valid():
            raise ValidationError(asking.errors["factor"][0])
        return ""

    def clean_currency(self) -> str:
        """Leave the code as it was typed: another spelling is another currency."""
        return str(self.cleaned_data["currency"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        for name in ("per_decision", "per_day"):
            if text := given.get(name):
                given[name] = self._amount(name, text, str(given.get("currency", "")))
        return given

    def _amount(self, name: str, text: str, currency: str) -> Decimal | None:
        if text.strip("0.") == "" and text[:1] == "0":
            return Decimal(0)
        try:
            return parse_amount(text, places=places_of(currency) if currency else MOST_PLACES)
        except NotAnAmount as problem:
            self.add_error(name, str(problem))
            return None

    def perform(self, *, now: datetime) -> Any:
        given = self.cleaned_data
        return limits.set_limit(
            person=given["approver"],
            currency=given["currency"],
            per_decision=given["per_decision"],
            per_day=given["per_day"],
            reason=given["reason"],
            by=self.person,
            now=now,
        )

    def done(self, made: Any) -> str:
        if isinstance(made, LimitChange):
            return "The raise waits for another administrator. Until then the limit stays as it is."
        return f"{made} holds now."
