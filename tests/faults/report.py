"""What a fault run says: a line per cell while it runs, a bar on a terminal, and the sum at the end."""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.faults.judge import SORTS, Bad

_BAR = 30


@dataclass
class Outcome:
    """What came of one cell.

    Attributes:
        name: of the cell.
        histories: how many there were.
        bad: what is wrong, each with the lines that explain it.
        recovery_seconds: from the fault's end until the last row was at rest; None where that says nothing.
        note: what was measured.
    """

    name: str
    histories: int
    bad: list[tuple[Bad, list[str]]] = field(default_factory=list)
    recovery_seconds: float | None = None
    note: str = ""


class Report:
    """Counts, and says it."""

    def __init__(self, total: int, seed: int) -> None:
        self.total, self.seed = total, seed
        self.started = time.monotonic()
        self.cells = self.histories = 0
        self.sorts: Counter[str] = Counter()
        self.slowest = 0.0
        self.is_terminal = sys.stdout.isatty()

    def say(self, line: str) -> None:
        """A line of its own."""
        sys.stdout.write(("\r\033[K" if self.is_terminal else "") + line + "\n")
        self._bar()
        sys.stdout.flush()

    def cell(self, outcome: Outcome) -> None:
        """Put down what came of a cell."""
        self.cells += 1
        self.histories += outcome.histories
        self.slowest = max(self.slowest, outcome.recovery_seconds or 0.0)
        for bad, _ in outcome.bad:
            self.sorts[bad.sort] += 1
        recovered = (
            "" if outcome.recovery_seconds is None else f", at rest after {outcome.recovery_seconds:.1f} s"
        )
        note = f", {outcome.note}" if outcome.note else ""
        verdict = "BAD" if outcome.bad else "ok "
        self.say(f"{verdict} {outcome.name}: {outcome.histories} histories{recovered}{note}")
        for bad, lines in outcome.bad:
            self.say(f"    {bad.sort}: {bad.sentence} (seed {self.seed})")
            for line in lines:
                self.say(f"      {line}")

    def finish(self) -> int:
        """Say the sum. Returns the exit code."""
        if self.is_terminal:
            sys.stdout.write("\r\033[K")
        self.is_terminal = False
        self.say(f"slowest recovery {self.slowest:.1f} s, seed {self.seed}")
        counts = ", ".join(f"{sort} {self.sorts[sort]}" for sort in SORTS)
        seconds = int(time.monotonic() - self.started)
        self.say(f"cells {self.cells}, histories {self.histories}, {counts}, seconds {seconds}")
        return 1 if sum(self.sorts.values()) else 0

    def _bar(self) -> None:
        if self.is_terminal and self.total:
            done = min(_BAR, _BAR * self.cells // self.total)
            sys.stdout.write(f"[{'#' * done}{'.' * (_BAR - done)}] {self.cells} of {self.total}")
