"""Fields that are strict with people: what is not exactly right gets a sentence, and nothing is guessed."""

import re
import unicodedata
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold import widgets

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_DIGITS = re.compile(r"[0-9][0-9 \-]{11,25}[0-9]", re.ASCII)
# Joiners that some scripts need within a word; every other invisible character is refused.
_JOINERS = {"\u200c", "\u200d"}


class PlainText(forms.CharField):
    """A line that a person wrote: readable, without hidden characters, and no card number in it."""

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        kwargs.setdefault("widget", widgets.UnfoldAdminTextInputWidget())
        super().__init__(max_length=max_length, strip=True, **kwargs)

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return "" if is_invisible(text) else text

    def validate(self, value: str) -> None:
        super().validate(value)
        if any(is_hidden(character) for character in value):
            raise ValidationError("Take out the control or direction characters; some cannot be seen.")
        if holds_card_number(value):
            raise ValidationError("This looks like a card number. Never write card numbers here.")


class LongText(PlainText):
    """Some lines of plain text, such as a reason."""

    def __init__(self, *, max_length: int = 500, rows: int = 3, **kwargs: Any) -> None:
        kwargs.setdefault("widget", widgets.UnfoldAdminTextareaWidget(attrs={"rows": rows}))
        super().__init__(max_length=max_length, **kwargs)


class EndlId(forms.CharField):
    """An id of Endl's: letters, digits, "-" and "_" only, since it becomes part of an address.

    Args:
        prefix: the documented one, such as "cus_"; named in the sentence, and not demanded of other ids.
    """

    def __init__(self, *, prefix: str, **kwargs: Any) -> None:
        self.prefix = prefix
        kwargs.setdefault("widget", widgets.UnfoldAdminTextInputWidget(attrs={"placeholder": f"{prefix}…"}))
        super().__init__(max_length=128, strip=True, **kwargs)

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and _ID.fullmatch(value) is None:
            raise ValidationError(
                f"Copy the id from Endl, such as {self.prefix}1Xb7: only letters, digits, “-” and “_”."
            )


def is_hidden(character: str) -> bool:
    """Whether a character cannot be seen and is no joiner: controls, direction marks, lone surrogates."""
    return (
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and character not in _JOINERS
    )


def is_invisible(text: str) -> bool:
    """Whether nothing of a text can be seen, though it has characters."""
    return all(unicodedata.category(character)[0] in "CZ" for character in text)


def holds_card_number(text: str) -> bool:
    """Whether a text holds 13 to 19 digits that pass the check of card numbers (Luhn)."""
    runs = ("".join(filter(str.isdigit, match)) for match in _DIGITS.findall(text))
    return any(13 <= len(run) <= 19 and _passes_luhn(run) for run in runs)


def _passes_luhn(digits: str) -> bool:
    doubled = [int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
