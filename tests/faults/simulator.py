"""A small world in one thread: senders, a database, a network and Endl, under a clock that the dice move.

The decisions are those of `backoffice.delivery.rules`, which the real sender asks too; everything around them
is a model. Each history has a seed, and the same seed plays the same history.
"""

import argparse
import random
import sys
import time
from collections.abc import Generator
from datetime import timedelta

from backoffice.delivery import rules
from backoffice.delivery.rules import Before, Then, Word
from tests.faults.simulated import Broken, Endl, Letter, Row, Wrong

CALL_SECONDS, LEASE_SECONDS, SWEEP_SECONDS = 25.0, 35.0, 10.0
HORIZON = timedelta(hours=24)
# Weather lasts so long; then everything works, and all must come to rest.
WEATHER_SECONDS, CALM_SECONDS = 600.0, 1200.0
MOST_WRONG = 10
ENDS = frozenset({"done", "lost", "refused", "expired", "cancelled"})


# What a proxy may say, or a server that asks everybody to wait.
_BY_OTHERS = (Word.UNCLEAR, Word.SLOW_DOWN, Word.STOP, Word.REFUSED_WITHOUT_CODE)

Steps = Generator[float, None, None]


class World:
    """One history."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.now = 0.0
        kind = self.dice.choice(("deposit", "card", "registration"))
        self.row = Row(kind)
        self.endl = Endl(
            # A registration's key may be ignored; there the list is asked first.
            knows_keys=kind != "registration" or self.dice.random() < 0.5,
            replays=kind != "card" or self.dice.random() < 0.3,
            refuses=self.dice.random() < 0.1,
        )
        self.trouble = self.dice.choice((0.1, 0.3, 0.6, 0.9))
        self.senders: list[tuple[float, int, Steps]] = []
        self.mail: list[Letter] = []
        self.born = 0

    @property
    def is_calm(self) -> bool:
        return self.now > WEATHER_SECONDS

    def happens(self, chance: float) -> bool:
        """Whether something goes wrong now: never once the weather is over."""
        return not self.is_calm and self.dice.random() < chance * self.trouble

    def play(self) -> Row:
        """Let it run until all is at rest, or must be. Raises Broken."""
        sweep_at = 0.0
        while self.now < WEATHER_SECONDS + CALM_SECONDS:
            if sweep_at <= self.now:
                self._wake()
                sweep_at = self.now + SWEEP_SECONDS
            self._one_step(until=sweep_at)
            self._check()
            if self.row.state in ENDS and not (self.senders or self.mail or self.row.stored):
                break
        self._check_rest()
        return self.row

    def _wake(self) -> None:
        """What bells and the sweep do: now and then more than one sender at once."""
        if self.happens(0.02):
            self.row.is_same_line = False
        self._take_in_late()
        if self.row.is_due(self.now):
            for _ in range(1 + self.happens(0.4)):
                self.born += 1
                self.senders.append((self.now, self.born, self._send()))

    def _one_step(self, until: float) -> None:
        """Let the sender go on whose time has come first; or let it die, or sleep past its lease."""
        letter = min(self.mail, default=None, key=lambda letter: letter.at)
        due = min(self.senders, default=None, key=lambda sender: sender[:2])
        if letter is not None and letter.at < until and (due is None or letter.at <= due[0]):
            self._deliver(letter)
            return
        if due is None or due[0] >= until:
            self.now = until
            return
        self.senders.remove(due)
        at, number, steps = due
        self.now = max(self.now, at)
        if self.happens(0.12):
            self._say(f"sender {number} dies")
            return
        nap = self.dice.uniform(0, 3 * LEASE_SECONDS) if self.happens(0.1) else 0.0
        try:
            self.senders.append((self.now + next(steps) + nap, number, steps))
        except StopIteration:
            return

    # --- The sender, step by step: each yield is a moment at which it may die -------------------------

    def _send(self) -> Steps:
        row = self.row
        yield 0.0
        if not row.is_due(self.now):
            return
        has_begun = row.state == "sending" and row.has_begun and row.fence not in row.stored
        row.is_unclear = rules.is_unclear_when_left(was_unclear=row.is_unclear, has_begun=has_begun)
        row.state, row.fence, row.lease_until = "sending", row.fence + 1, self.now + LEASE_SECONDS
        fence = row.fence
        self._say(f"claimed {fence}")
        yield 0.01
        if row.stored:
            latest = max(row.stored)
            yield from self._conclude(fence, latest, *row.stored[latest][1:])
            return
        may_send = yield from self._look(fence)
        if may_send and row.fence == fence and row.state == "sending":
            row.has_begun, row.lease_until = True, self.now + LEASE_SECONDS
            row.first_at = self.now if row.first_at is None else row.first_at
            yield 0.01
            yield from self._ask(fence)

    def _look(self, fence: int) -> Generator[float, None, bool]:
        row = self.row
        step = rules.before_attempt(
            is_unclear=row.is_unclear,
            is_same_line=row.is_same_line,
            can_look=row.kind == "registration",
            key_age=timedelta(seconds=self.now - (self.now if row.first_at is None else row.first_at)),
            horizon=HORIZON,
        )
        if step is Before.LOOK:
            if self.happens(0.4):
                self._move(fence, "unknown", wait=5.0)
                return False
            found = self.endl.effects > 0
            yield 0.2
            if found:
                self._move(fence, "done")
            return not found
        if step is Before.STOP:
            self._move(fence, "expired")
        elif step is Before.ASK_A_PERSON:
            self._move(fence, "unknown", needs_person=True)
        return step in (Before.SEND, Before.PASS_THE_GATE)

    def _ask(self, fence: int) -> Steps:
        """The call: it may never arrive, arrive unheard, or be answered by somebody on the way."""
        lease_left = timedelta(seconds=self.row.lease_until - self.now if self.row.fence == fence else 0)
        if not rules.may_still_send(lease_left=lease_left, call=timedelta(seconds=CALL_SECONDS)):
            self._draw(fence, Word.NOT_SENT)
            return
        if self.happens(0.15):
            yield self.dice.uniform(0.05, CALL_SECONDS)
            self._draw(fence, Word.NOT_SENT)
            return
        letter = Letter(self.now + self.dice.uniform(0.0, CALL_SECONDS))
        self.mail.append(letter)
        hears_at = letter.at + self.dice.uniform(0.0, CALL_SECONDS * 0.3)
        timeout = self.now + CALL_SECONDS
        yield min(hears_at, timeout) - self.now
        word, tells = letter.answer or (Word.UNCLEAR, False)
        if hears_at > timeout or self.happens(0.4) or word is Word.UNCLEAR:
            self._draw(fence, Word.UNCLEAR)
            return
        # The answer is in memory; from here on it is this process's to lose, until it is stored.
        yield 0.0
        self.row.was_told = self.row.was_told or tells
        self.row.stored[fence] = (self.now, word, tells)
        yield 0.01
        yield from self._conclude(fence, fence, word, tells)

    def _deliver(self, letter: Letter) -> None:
        """The request comes to Endl, or to somebody on the way who answers in its place."""
        self.mail.remove(letter)
        self.now = max(self.now, letter.at)
        if self.happens(0.15):
            letter.answer = (self.dice.choice(_BY_OTHERS), False)
        else:
            letter.answer = self.endl.receive()
            self._say(f"Endl: {letter.answer[0].name}")

    def _conclude(self, fence: int, attempt: int, word: Word, tells: bool) -> Steps:
        """Understand the answer of an attempt, mine or one that was left behind."""
        if word is Word.MADE:
            if self.row.kind == "card" and tells:
                self.row.has_details = True
                yield 0.01
            self._arrive()
        else:
            self._draw(fence, word)
            yield 0.01
        self.row.stored.pop(attempt, None)

    def _take_in_late(self) -> None:
        """What the sweep does with answers whose request had moved on."""
        for attempt, (at, word, tells) in list(self.row.stored.items()):
            if at < self.now - LEASE_SECONDS:
                if word is Word.MADE:
                    self.row.has_details = self.row.has_details or (self.row.kind == "card" and tells)
                    self._arrive()
                del self.row.stored[attempt]

    def _arrive(self) -> None:
        """Take in what Endl made, whoever holds the claim; an end turns back for late details only."""
        row = self.row
        is_made = row.kind != "card" or row.has_details
        if row.state not in ENDS or (row.state == "lost" and is_made):
            row.state, row.needs_person, row.has_begun = ("done" if is_made else "lost"), False, False
            self._say(row.state)

    def _draw(self, fence: int, word: Word) -> None:
        row = self.row
        then = rules.after_attempt(word, was_unclear=row.is_unclear, has_details=row.kind == "card")
        self._say(f"{word.name} so {then.name}")
        if row.fence == fence:
            row.has_begun = False
        match then:
            case Then.PUT_BACK:
                self._move(fence, "unknown" if row.is_unclear else "ready", wait=5.0)
            case Then.WAIT_UNKNOWN:
                self._move(fence, "unknown", wait=8.0, is_unclear=True)
            case Then.LOSE_DETAILS:
                self._move(fence, "lost")
            case Then.ASK_A_PERSON:
                self._move(fence, "unknown", needs_person=True, is_unclear=True)
            case Then.REFUSE:
                self._move(fence, "refused")

    def _move(
        self,
        fence: int,
        state: str,
        *,
        wait: float = 0.0,
        needs_person: bool = False,
        is_unclear: bool = False,
    ) -> None:
        row = self.row
        if row.fence != fence or row.state != "sending":
            self._say(f"claim {fence} was lost")
            return
        row.state, row.next_at, row.needs_person = state, self.now + wait, needs_person
        row.is_unclear = row.is_unclear or is_unclear
        self._say(state)

    # --- What must hold -------------------------------------------------------------------------------

    def _check(self) -> None:
        row = self.row
        if self.endl.effects > 1:
            raise Broken("doubled", f"Endl did it {self.endl.effects} times")
        if row.state in ("refused", "expired") and self.endl.effects:
            raise Broken("misstated", f"{row.state}, and Endl did it")
        if row.state in ("done", "lost") and not self.endl.effects:
            raise Broken("misstated", f"{row.state}, and Endl did nothing")

    def _check_rest(self) -> None:
        row = self.row
        if row.state not in ENDS and not row.needs_person:
            raise Broken("stuck", f"{row.state} after {self.now:.0f} s")
        if row.kind == "card" and row.was_told and not row.has_details and not row.stored:
            raise Broken("lost", "the details came, and are nowhere")

    def _say(self, what: str) -> None:
        self.row.past.append(f"{self.now:9.2f} {what}")


def simulate(histories: int, first_seed: int) -> list[Wrong]:
    """Play histories, one seed each. Returns what is wrong; stops at the tenth."""
    wrong: list[Wrong] = []
    for seed in range(first_seed, first_seed + histories):
        world = World(seed)
        try:
            world.play()
        except Broken as problem:
            sentence = f"{world.row.kind}, seed {seed} of the simulator: {problem.sentence}"
            wrong.append(Wrong(problem.sort, sentence, world.row.past))
            if len(wrong) == MOST_WRONG:
                break
    return wrong


def main() -> int:
    """`python -m tests.faults.simulator [--histories N] [--seed N]`."""
    parser = argparse.ArgumentParser(description="Play the rules of the road against every weather.")
    parser.add_argument("--histories", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    wrong = simulate(options.histories, options.seed)
    for each in wrong:
        sys.stdout.write("\n    ".join([f"{each.sort}: {each.sentence}", *each.past]) + "\n")
    seconds = time.monotonic() - began
    sys.stdout.write(f"simulated {options.histories} histories, wrong {len(wrong)}, seconds {seconds:.0f}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
