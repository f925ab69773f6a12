"""Running a command as a person at a terminal does: its output, and whether it ends well."""

from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

import pytest
from django.core.management import CommandError, call_command


@dataclass(frozen=True)
class Ran:
    """What a command said; its exit code is 1 when it ended with a problem."""

    lines: list[str]
    exit_code: int

    @property
    def summary(self) -> str:
        return self.lines[-1]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


Run = Callable[..., Ran]


@pytest.fixture
def run(db: None) -> Run:
    """Run a command by name. A CommandError is what makes the real exit code 1; its words come last."""

    def run_command(*words: str) -> Ran:
        out = StringIO()
        try:
            call_command(*words, stdout=out)
        except CommandError as problem:
            return Ran([*out.getvalue().splitlines(), *str(problem).splitlines()], 1)
        return Ran(out.getvalue().splitlines(), 0)

    return run_command
