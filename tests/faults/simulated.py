"""What the simulator's world is made of: the request, Endl, a letter between them, and a bad end."""

from dataclasses import dataclass, field

from backoffice.delivery.rules import Word


@dataclass
class Endl:
    """What Endl remembers of the one request: its keys, and what it really did."""

    knows_keys: bool
    replays: bool
    refuses: bool
    effects: int = 0

    def receive(self) -> tuple[Word, bool]:
        """Do what is asked. Returns the word, and whether the details are in the answer."""
        if self.effects and self.knows_keys:
            return (Word.MADE, True) if self.replays else (Word.KEY_WAS_USED, False)
        if self.refuses:
            return Word.REFUSED, False
        self.effects += 1
        return Word.MADE, True


@dataclass
class Row:
    """The request, as the database has it."""

    kind: str
    state: str = "ready"
    fence: int = 0
    lease_until: float = 0.0
    next_at: float = 0.0
    first_at: float | None = None
    is_unclear: bool = False
    needs_person: bool = False
    has_begun: bool = False
    # The answers that were stored and not understood yet, by the fence of their attempt, each with its time.
    stored: dict[int, tuple[float, Word, bool]] = field(default_factory=dict)
    has_details: bool = False
    is_same_line: bool = True
    # A whole answer with the details came to a process that lived on.
    was_told: bool = False
    past: list[str] = field(default_factory=list)

    def is_due(self, now: float) -> bool:
        waits = self.state in ("ready", "unknown") and not self.needs_person and self.next_at <= now
        return waits or (self.state == "sending" and self.lease_until < now)


@dataclass(eq=False)
class Letter:
    """A request on its way to Endl; whether its sender lives or not, it arrives."""

    at: float
    answer: tuple[Word, bool] | None = None


class Broken(AssertionError):
    """A history came out as none may: in which way, and the sentence."""

    def __init__(self, sort: str, sentence: str) -> None:
        super().__init__(sentence)
        self.sort, self.sentence = sort, sentence


@dataclass(frozen=True)
class Wrong:
    """A bad history: in which way, and what happened in it."""

    sort: str
    sentence: str
    past: list[str]
