"""Text that came from outside, made fit to show, log and store."""

import re

SHOWN_CHARACTERS = 500
# Masking is quadratic in the worst case and only the first 500 characters are ever shown.
_LOOKED_AT_CHARACTERS = 4000

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_DIGIT_RUN = re.compile(r"(?<![A-Za-z0-9_])[0-9](?:[\s.\u2010-\u2015-]{0,2}[0-9]){12,}(?![A-Za-z0-9_])")
# A security code by its name, however it is quoted: "cvv 123", 'cvc': '123', CVV2=1234, security code: 123.
_NAMED_CODE = re.compile(
    r"""(?ix) (?<![a-z]) (?P<name> (?:cvv2?|cvc2?|cid|security[\ _-]?code) (?![a-z0-9])
    [\\"'\s:=-]{1,8} (?:is\s)? ) [0-9]{3,4} (?![0-9])"""
)
_DIGIT_GROUP = re.compile(r"[0-9]+")


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def storable(text: str) -> str:
    """Return the text with NUL and lone surrogates written out as ``\\u0000``: no database takes them raw."""
    return _UNSTORABLE.sub(_escaped, text)


def shown(text: str) -> str:
    """Return the text as it may stand in a message or a log: masked, escaped, at most 500 characters."""
    masked = mask_card_numbers(_CONTROL.sub(_escaped, text[:_LOOKED_AT_CHARACTERS]))
    return masked if len(masked) <= SHOWN_CHARACTERS else masked[: SHOWN_CHARACTERS - 1] + "…"


def passes_luhn(digits: str) -> bool:
    """Whether the check digit of a run of ASCII digits is right (ISO/IEC 7812)."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(int(digit) for digit in digits[::-2]) + sum(n - 9 if n > 9 else n for n in doubled)) % 10 == 0


def mask_card_numbers(text: str) -> str:
    """Leave only the last four of each run of 13 to 19 digits, spaced or not, whose check digit is right.

    A security code that stands behind its name goes too: it is often written beside the number.
    """
    return mask_codes(_DIGIT_RUN.sub(_masked_run, text))


def mask_codes(text: str) -> str:
    """Mask each security code that stands behind its name."""
    return _NAMED_CODE.sub(lambda found: found["name"] + "***", text)


def _masked_run(found: re.Match[str]) -> str:
    """Mask every window of whole digit groups: a number may be followed by its expiry in the same run."""
    run = list(found[0])
    groups = [(group.start(), group.end()) for group in _DIGIT_GROUP.finditer(found[0])]
    for first, (start, _) in enumerate(groups):
        for _, end in reversed(groups[first : first + 19]):
            _mask_window(run, found[0], start, end)
    return "".join(run)


def _mask_window(run: list[str], text: str, start: int, end: int) -> None:
    places = [place for place in range(start, end) if text[place].isdigit()]
    if 13 <= len(places) <= 19 and passes_luhn("".join(text[place] for place in places)):
        for place in places[:-4]:
            run[place] = "*"
