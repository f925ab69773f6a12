"""What all cells share: the office, the desk, how long to wait, and how to judge."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from backoffice.delivery import invariants
from backoffice.delivery.models import Alert, State
from tests.faults.browser import Browser
from tests.faults.desk import MODELS, Desk, History, patiently
from tests.faults.ground import until
from tests.faults.judge import Bad, Judge, explain, is_at_rest
from tests.faults.office import Office
from tests.faults.report import Outcome

RECOVERY_SECONDS = 60.0
# After the loss of the whole broker.
LONG_RECOVERY_SECONDS = 300.0
# A good deal less than the step-up is good for.
_FRESH_SECONDS = 60.0


@dataclass
class Stage:
    """Where cells are played."""

    office: Office
    desk: Desk
    seed: int
    is_quick: bool
    say: Callable[[str], None]
    number: int = 0
    browsers: dict[str, tuple[float, Browser]] = field(default_factory=dict)

    def rng(self, name: str) -> random.Random:
        """Dice of a cell's own: the same for the same seed, whatever else runs."""
        return random.Random(f"{self.seed}:{name}")

    def browser(self, username: str) -> Browser:
        """Somebody at their browser, with the second factor fresh."""
        signed_in_at, browser = self.browsers.get(username, (0.0, None))
        if browser is None or time.monotonic() - signed_in_at > _FRESH_SECONDS:
            browser = Browser(self.office.web_port, username)
            self.browsers[username] = (time.monotonic(), browser)
        return browser

    def next_number(self) -> str:
        self.number += 1
        return f"{self.number:05d}"

    def settle(
        self, histories: Sequence[History], *, since: float, within: float = RECOVERY_SECONDS
    ) -> float:
        """Wait until all are at rest, or time is up. Returns the seconds since the fault's end."""
        until(lambda: self.are_at_rest(histories), within - (time.monotonic() - since), every=0.15)
        return max((history.rested_at or time.monotonic()) - since for history in histories)

    def are_at_rest(self, histories: Sequence[History]) -> bool:
        """Whether all are at rest; each is told when it was first seen so."""
        return not self._open(histories)

    def _open(self, histories: Sequence[History]) -> list[History]:
        def look() -> list[History]:
            rows = {
                (kind, row.pk): row
                for kind, model in MODELS.items()
                for row in model._default_manager.filter(pk__in=[h.pk for h in histories if h.kind == kind])
            }
            for history in histories:
                if history.rested_at is None and is_at_rest(rows[history.kind, history.pk]):
                    history.rested_at = time.monotonic()
            return [history for history in histories if history.rested_at is None]

        return patiently(look)

    def close(
        self,
        name: str,
        histories: Sequence[History],
        *,
        recovery: float | None = None,
        more: Iterable[Bad] = (),
        note: str = "",
    ) -> Outcome:
        """Judge the histories of a cell. `more` is what else the cell found wrong."""
        judge = Judge(self.office)
        bad: list[tuple[Bad, list[str]]] = [(each, []) for each in more]
        for history in histories:
            found = [*judge.judge(history), *self._rest(history)]
            bad += [(each, [history.note, *patiently(lambda h=history: list(explain(h)))]) for each in found]  # type: ignore[misc]
        return Outcome(name, len(histories), bad, recovery, note)

    def _rest(self, history: History) -> Iterator[Bad]:
        row = history.row
        if not is_at_rest(row):
            yield Bad("stuck", f"It is still {row.state} when it should have come to rest.")
        elif row.state == State.UNKNOWN and not history.may_wait:
            yield Bad("stuck", "It waits for a person, although Endl can tell what became of it.")
        elif row.state == State.UNKNOWN and not self._has_alert(history):
            yield Bad("stuck", "It waits for a person, and no alert says so.")

    def _has_alert(self, history: History) -> bool:
        invariants.watch_deadlines(now=timezone.now())
        label = MODELS[history.kind]._meta.label_lower
        return Alert.objects.filter(object_type=label, object_id=str(history.pk), cleared_at=None).exists()


@dataclass(frozen=True)
class Group:
    """Cells that are played together: their names, and how."""

    names: tuple[str, ...]
    play: Callable[[Stage], Iterable[Outcome]]
    # A group that the quick form plays as well.
    is_quick: bool = True
