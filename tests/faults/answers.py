"""Every way in which an answer can go wrong, before and after Endl has done what was asked."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.faults.desk import OPERATIONS, History
from tests.faults.office import CALL_SECONDS
from tests.faults.report import Outcome
from tests.faults.stage import Group, Stage

KINDS = ("deposit", "card", "registration")
# So many cells are played at the same moment, each with a customer of its own.
AT_ONCE = 24
_TOO_LONG = CALL_SECONDS * 1.3


@dataclass(frozen=True)
class Fault:
    """One thing that the emulator does to an answer.

    Attributes:
        name: for people.
        how: the fault, as the emulator takes it.
        is_clear: Endl says a clear no, and nothing happened.
        keeps_details: the whole envelope arrives all the same.
        kinds: the requests that it is for.
    """

    name: str
    how: dict[str, Any]
    is_clear: bool = False
    keeps_details: bool = False
    kinds: tuple[str, ...] = KINDS


def _breaks() -> Iterator[Fault]:
    """The connection, the time, the transport."""
    for when in ("before", "after"):
        yield Fault(f"drop {when}", {"kind": "drop", "when": when})
        yield Fault(f"close {when}", {"kind": "close", "when": when})
        yield Fault(f"redirect {when}", {"kind": "redirect", "when": when})
        yield Fault(f"bomb {when}", {"kind": "bomb", "when": when, "size": 3_000_000})
    yield Fault("hang before, then silence", {"kind": "hang", "when": "before", "seconds": _TOO_LONG})
    yield Fault(
        "hang before, then do it late",
        {"kind": "hang", "when": "before", "seconds": _TOO_LONG, "then": "answer"},
    )
    yield Fault("hang after, then silence", {"kind": "hang", "when": "after", "seconds": 1, "then": "close"})
    yield Fault("hang after, answer too late", {"kind": "hang", "when": "after", "seconds": _TOO_LONG})
    yield Fault(
        "hang after, answer in time", {"kind": "hang", "when": "after", "seconds": 1}, keeps_details=True
    )
    yield Fault("slow, too slow", {"kind": "slow", "bytes_per_second": 60})
    yield Fault("slow, in time", {"kind": "slow", "bytes_per_second": 4000}, keeps_details=True)


def _statuses() -> Iterator[Fault]:
    """Statuses that prove nothing, with and without a body."""
    for when in ("before", "after"):
        for status in (500, 502, 503, 504, 408):
            yield Fault(f"{status} {when}", {"kind": "status", "code": status, "when": when})
        yield Fault(f"502 page {when}", {"kind": "status", "code": 502, "html": True, "when": when})
        yield Fault(f"200 page {when}", {"kind": "status", "code": 200, "html": True, "when": when})
        for name, body in (
            ("nothing", ""),
            ("null", "null"),
            ("a list", "[]"),
            ("a word", '"yes"'),
            ("{}", "{}"),
        ):
            how = {"kind": "status", "code": 200, "body": body, "when": when}
            yield Fault(f"200 with {name} {when}", how)
        yield Fault(f"202 with nothing {when}", {"kind": "status", "code": 202, "body": "", "when": when})
    yield Fault("502 again and again", {"kind": "status", "code": 502, "when": "before", "times": 2})
    yield Fault(
        "502 and then it is done unheard", {"kind": "status", "code": 502, "when": "after", "times": 2}
    )


def _refusals() -> Iterator[Fault]:
    """Endl's clear words, each for the requests that can hear it."""
    of_cards = ("ERRCRD_1002", "ERRCRD_1003", "ERRCRD_1004", "ERRCRD_1006")
    for code in ("ERRCRD_1000", "ERRCRD_1001", "ERRCRD_1005", "ERRREF_1001", "ERRCRD_1010", *of_cards):
        kinds = ("card",) if code in of_cards else KINDS
        yield Fault(code, {"kind": "error", "code": code}, is_clear=True, kinds=kinds)
    yield Fault("ERRCRD_1009", {"kind": "error", "code": "ERRCRD_1009"}, kinds=("card",))
    for status in (400, 403, 404, 409, 422):
        yield Fault(f"{status} without a code", {"kind": "status", "code": status}, is_clear=True)


def _cuts() -> Iterator[Fault]:
    """Bodies that end too early, with and without a Content-Length that knows it."""
    for at in (0, 1, 40, 200):
        yield Fault(f"cut at {at}", {"kind": "truncate", "at": at})
        yield Fault(f"cut at {at}, and it says so", {"kind": "truncate", "at": at, "length": "cut"})


_OWN_ID = {"deposit": "depositId", "card": "cardId", "registration": "cardholderId"}


def _mutations() -> Iterator[Fault]:
    """Fields of another type or value than agreed."""
    for kind, name in _OWN_ID.items():
        for mutation in ("absent", "null", "list", "number", "huge", "surrogate", "nul", "empty"):
            how = {"kind": "mutate", "field": name, "mutation": mutation}
            # An answer over the size limit is never read whole.
            yield Fault(f"own id {mutation}", how, keeps_details=mutation != "huge", kinds=(kind,))
    for mutation in ("absent", "null", "list", "number", "unknown", "nul", "surrogate"):
        how = {"kind": "mutate", "field": "status", "mutation": mutation}
        yield Fault(f"status {mutation}", how, keeps_details=True)
    for mutation in ("absent", "null", "exponent", "nan", "big_number", "negative", "nul"):
        how = {"kind": "mutate", "field": "amount.amount", "mutation": mutation}
        yield Fault(f"amount {mutation}", how, kinds=("deposit",))
        how = {"kind": "mutate", "field": "amountInUSDCents", "mutation": mutation}
        yield Fault(f"cents {mutation}", how, keeps_details=True, kinds=("card",))
    for mutation in ("absent", "null", "list", "number", "empty"):
        how = {"kind": "mutate", "field": "encryptedDetails", "mutation": mutation}
        yield Fault(f"envelope {mutation}", how, kinds=("card",))


def faults(quick: bool) -> list[Fault]:
    """All of them, or a sample with every kind of fault in it."""
    every = [*_breaks(), *_statuses(), *_refusals(), *_cuts(), *_mutations()]
    return [*_a_sample(every)] if quick else every


def _a_sample(every: Iterable[Fault]) -> Iterator[Fault]:
    seen: set[tuple[Any, ...]] = set()
    for fault in every:
        sort = (fault.how["kind"], fault.how.get("when"), fault.how.get("mutation", "")[:4])
        if sort not in seen:
            seen.add(sort)
            yield fault


def groups(quick: bool) -> list[Group]:
    """The faults, many at once: each strikes a customer of its own."""
    cells = [(fault, kind) for fault in faults(quick) for kind in fault.kinds]
    batches = [cells[start : start + AT_ONCE] for start in range(0, len(cells), AT_ONCE)]
    return [Group(tuple(map(_name, batch)), partial(_play, batch)) for batch in batches]


def _name(cell: tuple[Fault, str]) -> str:
    fault, kind = cell
    return f"answer {fault.name} x {kind}"


@dataclass
class _Cell:
    fault: Fault
    kind: str
    histories: list[History] = field(default_factory=list)


def _play(batch: list[tuple[Fault, str]], stage: Stage) -> Iterator[Outcome]:
    cells = [_Cell(fault, kind) for fault, kind in batch]
    for cell in cells:
        cell.histories = [_begin(stage, cell)]
    since = time.monotonic()
    stage.settle([history for cell in cells for history in cell.histories], since=since)
    for cell in cells:
        recovery = stage.settle(cell.histories, since=since)
        yield stage.close(_name((cell.fault, cell.kind)), cell.histories, recovery=max(recovery, 0.0))


def _begin(stage: Stage, cell: _Cell) -> History:
    place = stage.desk.place()
    stage.office.endl(
        "faults", operation=OPERATIONS[cell.kind], customer=place.customer.endl_id, **cell.fault.how
    )
    history = stage.desk.wish(cell.kind, place)
    history.may_lose = not cell.fault.keeps_details
    history.note = f"customer {place.customer.endl_id}, fault {cell.fault.how}"
    stage.desk.ring(history)
    return history
