"""Telephone numbers as people write them, made E.164 or refused; no country is guessed."""

import re

import phonenumbers

_WRITTEN = re.compile(r"\+[0-9][0-9 ().\-/]{4,30}", re.ASCII)
_WANTED = "Write it with + and country code, such as +14155552671"


class NotAPhoneNumber(ValueError):
    """What was typed is no international number; the text says what is wanted."""


def to_e164(text: str) -> str:
    """Read an international number, with its usual spaces and brackets, as E.164.

    Args:
        text: what was typed, such as "+1 (415) 555-2671".

    Raises: NotAPhoneNumber, with a sentence that names the wanted form.
    """
    typed = text.strip()
    if not typed.startswith("+"):
        raise NotAPhoneNumber(f"{_WANTED}: no country is guessed.")
    if _WRITTEN.fullmatch(typed) is None:
        raise NotAPhoneNumber(f"{_WANTED}: only the digits 0 to 9, and no extension.")
    try:
        number = phonenumbers.parse(typed, None)
    except phonenumbers.NumberParseException:
        raise NotAPhoneNumber(f"{_WANTED}: there is no such country code.") from None
    if not phonenumbers.is_possible_number(number):
        raise NotAPhoneNumber(f"{_WANTED}: this one has too many or too few digits.")
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
