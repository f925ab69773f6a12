"""The fault plan: which of the coming calls go wrong, and how."""

from __future__ import annotations

import json
import random
from fnmatch import fnmatchcase
from typing import Any

from backoffice.emulator.errors import TABLE
from backoffice.emulator.spoiling import MUTATIONS
from backoffice.emulator.wire import Doc
from backoffice.emulator.world import World

CALL_KINDS = frozenset(
    {"drop", "close", "hang", "status", "error", "truncate", "mutate", "slow", "redirect", "throttle", "bomb"}
)
WEBHOOK_KINDS = frozenset({"lost", "doubled", "late", "out_of_order"})
_DICE = random.SystemRandom()
# These spoil an answer, so there must be one first.
_AFTER_BY_NATURE = frozenset({"truncate", "mutate", "slow"})


class BadFault(ValueError):
    """A fault was described in a way that means nothing."""


def plan(world: World, description: Doc) -> Doc:
    """Add a fault; answers it as it was understood, with its number.

    Every fault takes "operation" (a name of `routes.OPERATIONS`, a pattern such as "list_*", or "webhook"),
    "customer", "times" (-1 for ever), "skip" (let so many pass first), "probability", "when" ("before" the
    effect or "after" it) and "kind", which brings its own words:

    - drop (a reset), close (nothing is said);
    - hang: "seconds", "then" ("close", usual before the effect; "answer", usual after it);
    - status: "code", "body", "html", "type"; error: "code", one of Endl's; redirect: "code", "location";
    - throttle: "retry_after" (absent, seconds, "date" with "seconds", or anything), bomb: "size" unpacked;
    - truncate: "at", "length" ("cut" to lie about it); slow: "bytes_per_second";
    - mutate: "field" (a path with dots), "mutation" (see `spoiling.MUTATIONS`), "value";
    - for webhooks: lost, doubled ("copies"), late and out_of_order ("seconds").

    Raises BadFault when the description means nothing.
    """
    fault = {"operation": "*", "times": 1, "skip": 0, **description}
    kind = fault.get("kind")
    known = WEBHOOK_KINDS if fault["operation"] == "webhook" else CALL_KINDS
    if kind not in known:
        raise BadFault(f"kind must be one of {', '.join(sorted(known))}")
    fault.setdefault("when", "after" if kind in _AFTER_BY_NATURE else "before")
    if fault["when"] not in ("before", "after"):
        raise BadFault("when must be before or after")
    _check_words(fault)
    times, skip = _whole(fault, "times"), _whole(fault, "skip")
    with world.transaction() as db:
        made = db.execute(
            "INSERT INTO faults (plan, skip, times) VALUES (?, ?, ?)", (json.dumps(fault), skip, times)
        )
        return {**fault, "id": made.lastrowid}


def _check_words(fault: Doc) -> None:
    if fault["kind"] == "error" and fault.get("code") not in TABLE:
        raise BadFault("code must be one of Endl's error codes")
    if fault["kind"] == "mutate" and fault.get("mutation", "null") not in MUTATIONS:
        raise BadFault(f"mutation must be one of {', '.join(sorted(MUTATIONS))}")


def _whole(fault: Doc, name: str) -> int:
    value: Any = fault[name]
    if type(value) is not int:
        raise BadFault(f"{name} must be a whole number")
    return value


def planned(world: World) -> list[Doc]:
    """The faults that are still to come."""
    found = world.rows("SELECT seq, plan, skip, times FROM faults WHERE times <> 0 ORDER BY seq")
    return [
        {**json.loads(row["plan"]), "id": row["seq"], "skip": row["skip"], "times": row["times"]}
        for row in found
    ]


def clear(world: World) -> None:
    """Nothing goes wrong any more."""
    world.run("DELETE FROM faults")


def take(world: World, operation: str, customer: str = "") -> Doc | None:
    """The fault that strikes this call, if one does; it is used up by that."""
    with world.transaction():
        for fault in planned(world):
            if not _fits(fault, operation, customer):
                continue
            if fault["skip"] > 0:
                world.run("UPDATE faults SET skip = skip - 1 WHERE seq = ?", fault["id"])
            elif _DICE.random() < float(fault.get("probability", 1)):
                world.run("UPDATE faults SET times = times - 1 WHERE seq = ? AND times > 0", fault["id"])
                return fault
    return None


def _fits(fault: Doc, operation: str, customer: str) -> bool:
    # Calls and webhooks fail in ways of their own, so "*" never reaches from one to the other.
    if (operation == "webhook") != (fault["operation"] == "webhook"):
        return False
    return fnmatchcase(operation, fault["operation"]) and fault.get("customer", customer) == customer
