"""The forms where a person writes down what Endl said of a request whose outcome nobody knows."""

from typing import Any

from django import forms
from unfold import widgets

from backoffice.pages.fields import LongText
from backoffice.pages.forms import ActForm, choice
from cards.models import Cardholder

NOTHING, IT_HAPPENED = "nothing", "happened"


def _outcome_field(nothing: str, happened: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        label="What happened",
        choices=[("", "Choose what Endl said"), (NOTHING, nothing), (IT_HAPPENED, happened)],
        widget=widgets.UnfoldAdminSelectWidget(),
    )


def _said_field() -> LongText:
    return LongText(label="What Endl said", max_length=500, help_text="And who said it, and when.")


class RecordOrderForm(ActForm):
    """What Endl said of a card order."""

    needs_step_up = True

    outcome = _outcome_field(
        "Nothing happened: no card was issued", "A card was issued; its details are lost"
    )
    said = _said_field()


class RecordRegistrationForm(ActForm):
    """What Endl said of a registration, and whom it made."""

    needs_step_up = True

    outcome = _outcome_field("Nothing happened: nobody was registered", "They are registered")
    cardholder = choice(
        Cardholder.objects.none(),
        label="As which cardholder",
        required=False,
        empty_label="Nobody",
        help_text="From the business's list, as last synced, without those registered here.",
    )
    said = _said_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["cardholder"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Cardholder.objects.filter(customer=self.about.customer, registration=None)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        outcome, holder = cleaned.get("outcome"), cleaned.get("cardholder")
        if outcome == IT_HAPPENED and holder is None and "cardholder" not in self.errors:
            self.add_error(
                "cardholder", "Choose the cardholder; sync the business first if they are missing."
            )
        if outcome == NOTHING and holder is not None:
            self.add_error("cardholder", "Choose nobody where nobody was registered.")
        return cleaned
