"""The list of attempts to get around an approval: each test of it names its door and the rule it tries.

`python -m tests.backoffice.approvals.write_attempts` writes the list into docs/security.md; a test checks
that the page and the tests agree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

PAGE = Path(__file__).resolve().parents[3] / "docs" / "security.md"
BEGIN, END = "<!-- attempts: begin -->", "<!-- attempts: end -->"
Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass(frozen=True)
class Attempt:
    """One way to try it.

    Attributes:
        door: through what.
        rule: which rule it tries to get around.
        what: what is done, in a sentence.
    """

    door: str
    rule: str
    what: str


ATTEMPTS: list[Attempt] = []


def attempt(door: str, rule: str) -> Callable[[Test], Test]:
    """Put a test on the list; its docstring says what is tried."""

    def note(test: Test) -> Test:
        ATTEMPTS.append(Attempt(door, rule, (test.__doc__ or "").strip()))
        return test

    return note


def as_table() -> str:
    """The list as the page shows it, in the order of the tests."""
    rows = [
        f"| {number} | {each.door} | {each.rule} | {each.what} |" for number, each in enumerate(ATTEMPTS, 1)
    ]
    return "\n".join(["| | door | rule | what is tried |", "|---|---|---|---|", *rows])


def page_with(table: str) -> str:
    """The page as it would be with this table."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"
