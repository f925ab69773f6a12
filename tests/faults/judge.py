"""Endl's ledger says what really happened; a request that says otherwise is a bad history."""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

from backoffice import vault
from backoffice.approvals.models import Approval
from backoffice.delivery import raw
from backoffice.delivery.models import ENDS, Attempt, RawAnswer, Request, State
from backoffice.endl import EnvelopeError, load_private_key, open_envelope
from cards import issuing
from cards.models import SealedDetails
from tests.faults.desk import MODELS, History, patiently
from tests.faults.office import Office

Doc = dict[str, Any]
# The states that say that something came into being at Endl.
HAPPENED = {
    State.SUBMITTED,
    State.COMPLETED,
    State.FAILED,
    State.ISSUED,
    State.REGISTERED,
    State.DETAILS_LOST,
}
SORTS = ("doubled", "lost", "misstated", "stuck")


@dataclass(frozen=True)
class Bad:
    """What is wrong with a history: one of SORTS, and a sentence."""

    sort: str
    sentence: str


class Ledger:
    """What the emulator's file says, read past the emulator."""

    def __init__(self, office: Office) -> None:
        with sqlite3.connect(f"file:{office.world}?mode=ro", uri=True, timeout=30) as world:
            world.row_factory = sqlite3.Row
            self.entries = [dict(row) for row in world.execute("SELECT * FROM ledger ORDER BY seq")]
            things = world.execute("SELECT kind, id, doc FROM things").fetchall()
            details = world.execute("SELECT card, doc FROM details").fetchall()
        world.close()
        self.things: dict[tuple[str, str], Doc] = {
            (row["kind"], row["id"]): json.loads(row["doc"]) for row in things
        }
        self.details: dict[str, Doc] = {row["card"]: json.loads(row["doc"]) for row in details}
        self.by_key: dict[str, list[Doc]] = defaultdict(list)
        for entry in self.entries:
            self.by_key[entry["key"] or ""].append(entry)


class Judge:
    """Compares requests with the ledger. Our rows are never asked whether they are right."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.ledger = Ledger(office)

    def judge(self, history: History) -> list[Bad]:
        """Everything that is wrong with one history."""
        found = patiently(lambda: self._look_at(history))
        if found:
            # A request that went on since the ledger was read is looked at again, ahead of the ledger.
            row = history.row
            self.ledger = Ledger(self.office)
            found = patiently(lambda: self._wrong_with(row, history))
        return found

    def _look_at(self, history: History) -> list[Bad]:
        return self._wrong_with(history.row, history)

    def _wrong_with(self, row: Any, history: History) -> list[Bad]:
        return [*self._effects(row), *self._word(row), *self._details(row, history)]

    def strays(self) -> list[Bad]:
        """Effects that no request of ours accounts for."""
        ours: set[str] = set()
        for model in MODELS.values():
            ours.update(model._default_manager.values_list("idempotency_key", flat=True))
        return [
            Bad(
                "doubled",
                f"Endl did something that nobody asked for: {entry['operation']} {entry['object_id']}.",
            )
            for entry in self.ledger.entries
            if entry["key"] not in ours
        ]

    def _effects(self, row: Request) -> Iterator[Bad]:
        effects = self.ledger.by_key[row.idempotency_key]
        if len(effects) > 1:
            yield Bad("doubled", f"Endl did it {len(effects)} times.")
        for effect in effects:
            if effect["body_sha256"] != hashlib.sha256(bytes(row.body)).hexdigest():
                yield Bad("doubled", "Endl did something else than the bytes that were approved.")
            if row.approval is not None and row.approval.state != Approval.State.APPROVED:
                yield Bad("doubled", f"Endl did it although the approval is {row.approval.state}.")

    def _word(self, row: Request) -> Iterator[Bad]:
        effects = self.ledger.by_key[row.idempotency_key]
        if row.state in HAPPENED and not effects:
            yield Bad("misstated", f"It is {row.state}, and Endl did nothing.")
        if row.state in ENDS - HAPPENED and effects:
            yield Bad("misstated", f"It is {row.state}, and Endl did it.")
        made = _made_by(row)
        if made is not None and effects and made.endl_id != effects[0]["object_id"]:
            yield Bad("misstated", f"It points at {made.endl_id}, and Endl made {effects[0]['object_id']}.")
        if row.kind == "deposit" and effects and row.state in (State.COMPLETED, State.FAILED):
            truth = self.ledger.things["deposits", effects[0]["object_id"]]["status"]
            if truth != row.state:
                yield Bad("misstated", f"It is {row.state}, and Endl's deposit is {truth}.")

    def _details(self, row: Request, history: History) -> Iterator[Bad]:
        effects = self.ledger.by_key[row.idempotency_key]
        if row.kind != "card_order" or not effects:
            return
        truth = self.ledger.details[effects[0]["object_id"]]["number"]
        kept = SealedDetails.objects.filter(order_id=row.pk).first()
        if kept is not None:
            if self._number_in(kept) != truth:
                yield Bad("lost", "The stored envelope is not that of this card.")
        elif row.state == State.ISSUED:
            yield Bad("misstated", "It is issued, and no envelope is here.")
        elif not history.may_lose and not self._is_kept_raw(row):
            yield Bad("lost", f"It is {row.state}, and the details that came are nowhere.")

    def _number_in(self, details: SealedDetails) -> str | None:
        if details.envelope is None:
            return None
        try:
            envelope = vault.unseal(bytes(details.envelope), about=issuing.about_details(details.order))
            return open_envelope(json.loads(envelope), [_private_key(str(self.office.private_key))]).pan
        except (vault.CannotUnseal, EnvelopeError):
            return None

    def _is_kept_raw(self, row: Request) -> bool:
        """Whether an answer with an envelope lies in the database or in the spool."""
        kept = RawAnswer.objects.filter(attempt__kind=row.kind, attempt__request_id=row.pk)
        if any(b"encryptedDetails" in raw.unpack(copy).body for copy in kept.select_related("attempt")):
            return True
        return any(settings.SPOOL_DIR.glob(f"{row.kind}-{row.pk}-*.sealed"))


def is_at_rest(row: Request) -> bool:
    """Whether nothing more happens to a request by itself."""
    return row.state in ENDS or (row.state == State.UNKNOWN and row.needs_person)


def explain(history: History) -> Iterator[str]:
    """The rows of a bad history, without anything secret."""
    row = history.row
    yield f"{history.kind} {history.pk} ({row.idempotency_key}): {row.state}, needs_person={row.needs_person}"
    yield f"  unclear since {row.unclear_at}, {row.attempts} attempts, next {row.next_attempt_at}"
    yield f"  {row.outcome_message}"
    for attempt in Attempt.objects.filter(kind=row.kind, request_id=row.pk).order_by("number"):
        yield (
            f"  attempt {attempt.number}: {attempt.started_at:%H:%M:%S.%f} {attempt.outcome} "
            f"{attempt.http_status} {attempt.endl_code} {attempt.message[:80]}"
        )


def _made_by(row: Any) -> Any:
    return getattr(row, {"deposit": "deposit", "card_order": "card", "registration": "cardholder"}[row.kind])


@cache
def _private_key(path: str) -> Any:
    with open(path, "rb") as file:  # noqa: PTH123  (cached by its name)
        return load_private_key(file.read())
