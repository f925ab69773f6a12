"""Amounts as people type and read them: exact, never a float."""

import re
from decimal import Decimal

# How many places people may type; a currency that is not here takes as many as the column holds.
PLACES = {"USD": 2, "EUR": 2, "GBP": 2, "USDC": 6, "USDT": 6, "JPY": 0}
MOST_PLACES = 6
_PLAIN = re.compile(r"(0|[1-9][0-9]{0,11})(\.([0-9]+))?", re.ASCII)


class NotAnAmount(ValueError):
    """What was typed is no amount; the text says what is wanted."""


def places_of(currency: str) -> int:
    """How many decimal places an amount in this currency may have."""
    return PLACES.get(currency, MOST_PLACES)


def parse_amount(text: str, *, places: int) -> Decimal:
    """Read an amount as typed: plain ASCII digits and at most one point. Nothing is guessed.

    Args:
        text: what was typed; spaces around it are forgiven.
        places: how many decimal places are allowed.

    Raises: NotAnAmount, with a sentence that names the wanted form.
    """
    typed = text.strip(" ")
    example = f"1250.{'5'.ljust(places, '0')[:places]}" if places else "1250"
    match = _PLAIN.fullmatch(typed)
    if match is None:
        raise NotAnAmount(
            f"Write the amount in plain digits with a point, such as {example}: {_hint(typed)}."
        )
    if len(match[3] or "") > places:
        wanted = f"at most {places} decimal places" if places else "no decimal places"
        raise NotAnAmount(f"This currency takes {wanted}, such as {example}.")
    amount = Decimal(typed)
    if amount <= 0:
        raise NotAnAmount("The amount must be more than zero.")
    return amount


def _hint(typed: str) -> str:
    if "," in typed:
        return "no thousands separators, and a point instead of a comma"
    if typed.startswith(("-", "+", "\u2212")):
        return "no sign"
    if not typed.isascii():
        return "only the digits 0 to 9"
    if re.fullmatch(r"[0-9]{13,}(\..*)?", typed):
        return "at most twelve digits before the point"
    return "no letters, spaces or signs"


def plain(amount: Decimal) -> str:
    """Write an amount with two places at least and no more than it needs."""
    trimmed = amount.normalize()
    exponent = trimmed.as_tuple().exponent
    places = max(2, -exponent) if isinstance(exponent, int) else 2
    return f"{amount:.{places}f}"


def parse_dollars(text: str, *, least_cents: int, most_cents: int) -> int:
    """Read US dollars as typed into whole cents, by integers alone: a float would lose a cent now and then.

    Args:
        text: what was typed; spaces around it are forgiven.
        least_cents, most_cents: the limits, both allowed.

    Raises: NotAnAmount, with a sentence that names the wanted form or the limit.
    """
    amount = parse_amount(text, places=PLACES["USD"])
    cents = int(amount.scaleb(PLACES["USD"]))
    if not least_cents <= cents <= most_cents:
        raise NotAnAmount(f"Give an amount from {dollars(least_cents)} to {dollars(most_cents)} USD.")
    return cents


def dollars(cents: int) -> str:
    """Write whole cents as dollars for people, such as 1,250.50."""
    return f"{cents // 100:,}.{cents % 100:02d}"
