"""What is looked for: numbers and codes that the run made itself, in every form that they may leak in."""

import base64
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from backoffice.endl.text import passes_luhn

ENCODINGS = ("plain", "spaces", "dashes", "reversed", "base64", "base64url", "hex", "URL-encoded")


@dataclass(frozen=True, repr=False)
class Canary:
    """A card number with its code. Shows neither."""

    number: str
    cvv: str

    def __repr__(self) -> str:
        return f"Canary(…{self.number[-4:]})"

    def needles(self) -> Iterable[tuple[str, bytes]]:
        """Each encoding by its name, with the bytes to look for."""
        number = self.number
        groups = [number[at : at + 4] for at in range(0, len(number), 4)]
        yield "plain", number.encode()
        yield "plain", number.encode("utf-16-le")
        yield "plain", number.encode("utf-16-be")
        for separator in (" ", "\u00a0"):
            yield "spaces", separator.join(groups).encode()
        yield "dashes", "-".join(groups).encode()
        yield "reversed", number[::-1].encode()
        yield from (("base64", core) for core in base64_cores(number.encode(), b"+/"))
        # Of digits alone both alphabets make the same; beside a separator they may not.
        for text in (number, " ".join(groups), "-".join(groups)):
            yield from (("base64url", core) for core in base64_cores(text.encode(), b"-_"))
        yield "hex", number.encode().hex().encode()
        yield "hex", " ".join(f"{byte:02x}" for byte in number.encode()).encode()
        for text in (number, " ".join(groups)):
            yield "URL-encoded", "".join(f"%{byte:02X}" for byte in text.encode()).encode()
        yield "URL-encoded", quote(" ".join(groups)).encode()
        yield "URL-encoded", "+".join(groups).encode()


def base64_cores(content: bytes, alphabet: bytes) -> Iterable[bytes]:
    """What base64 makes of the bytes wherever they stand in a text: the part that no neighbour touches."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + content, alphabet)
        yield encoded[-(-before * 8 // 6) : (before + len(content)) * 8 // 6]


def a_canary() -> Canary:
    """A number that nobody issued, of the emulator's kind."""
    while True:
        number = f"400000{secrets.randbelow(10**10):010d}"
        if passes_luhn(number):
            return Canary(number, f"{secrets.randbelow(10_000):04d}")
