"""What a person is asked before they see a card: why, and that it is they."""

import unicodedata
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from backoffice.access.stepup import StepUpForm
from backoffice.pages.fields import PlainText
from backoffice.pages.forms import say_what_is_missing
from cards.models import CardReveal

SHORTEST, LONGEST = 5, 200


class Sentence(PlainText):
    """Why, in the person's own words: enough of them to be of use to whoever reads the ledger."""

    def validate(self, value: str) -> None:
        super().validate(value)
        visible = sum(unicodedata.category(character)[0] not in "CZ" for character in value)
        if value and visible < SHORTEST:
            raise ValidationError(f"Say it in a few words: at least {SHORTEST} letters or digits.")


class RevealForm(StepUpForm):
    """Reason and second factor. The factor is always asked for, however lately it was proved."""

    kind = forms.ChoiceField(
        label="What is it for?", choices=[("", "Choose a reason"), *CardReveal.Kind.choices]
    )
    reason = Sentence(
        label="Say more",
        max_length=LONGEST,
        help_text="Such as the invoice or the ticket. Never the card's number.",
        widget=forms.TextInput(),
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, request=request, always=True, **kwargs)
        self.order_fields(["kind", "reason", "factor"])
        for name, field in self.fields.items():
            field.widget.attrs["aria-describedby"] = f"{name}-help {name}-error"
            field.widget.attrs.setdefault("autocomplete", "off")
        say_what_is_missing(self)

    def clean_factor(self) -> str:
        """Checked last, and only when the rest is right: a code works once."""
        return "" if self.errors else super().clean_factor()

    def typed(self) -> dict[str, str]:
        """Reason and its kind, as far as they are sound: for the ledger, when the try came to nothing."""
        cleaned = getattr(self, "cleaned_data", {})
        return {name: str(cleaned[name]) for name in ("kind", "reason") if cleaned.get(name)}
