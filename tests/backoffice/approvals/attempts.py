"""The list of attempts to get around an approval: each test of it names its door and the rule it tries.

`python -m tests.backoffice.approvals.write_attempts` writes the list into docs/security.md; a test checks
that the page and the tests agree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

PAGE = Path(__file__).resolve().parents[3] / "docs" / "security.md"
BEGIN, END = "<!-- attempts: begin -->", "<!-- attempts: end -->"
MODULES = ("test_pages", "test_bulk", "test_operations", "test_database", "test_gate")
Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass(frozen=True)
class Attempt:
    """One way to try it.

    Attributes:
        door: through what.
        rule: which rule it tries to get around.
        what: what is done, in a sentence.
        place: where its test stands.
    """

    door: str
    rule: str
    what: str
    place: tuple[int, int]


_NOTED: list[Attempt] = []


def attempt(door: str, rule: str) -> Callable[[Test], Test]:
    """Put a test on the list; its docstring says what is tried."""

    def note(test: Test) -> Test:
        place = MODULES.index(test.__module__.rpartition(".")[2]), test.__code__.co_firstlineno
        _NOTED.append(Attempt(door, rule, (test.__doc__ or "").strip(), place))
        return test

    return note


def all_attempts() -> list[Attempt]:
    """Every attempt, in the order of the tests, whichever of them were run."""
    for name in MODULES:
        import_module(f"tests.backoffice.approvals.test_bypasses.{name}")
    return sorted(_NOTED, key=lambda each: each.place)


def as_table() -> str:
    """The list as the page shows it."""
    rows = [
        f"| {number} | {each.door} | {each.rule} | {each.what} |"
        for number, each in enumerate(all_attempts(), 1)
    ]
    return "\n".join(["| | door | rule | what is tried |", "|---|---|---|---|", *rows])


def page_with(table: str) -> str:
    """The page as it would be with this table."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"
