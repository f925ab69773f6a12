"""Taking in what Endl lists: a handful of queries a list, and no write for what did not change."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import F, Q, QuerySet

from backoffice.mirror.models import Mirror, Pull

M = TypeVar("M", bound=Mirror)
_OURS = ("changed_at", "missing_since", "contradiction")
# A reader that has not come back by then died; the next one may start.
GIVEN_UP_AFTER = timedelta(minutes=2)


class Resource(Protocol):
    """What the client makes of an object of Endl's."""

    @property
    def payload(self) -> dict[str, Any]: ...


S = TypeVar("S", bound=Resource)
Columns = Callable[[S], dict[str, Any]]


@dataclass(frozen=True)
class Taken:
    """How many rows a pull added, changed and found missing."""

    added: int = 0
    changed: int = 0
    missing: int = 0

    @property
    def is_news(self) -> bool:
        return bool(self.added or self.changed or self.missing)

    def as_counts(self) -> dict[str, int]:
        """The counts, for the trail."""
        return {"added": self.added, "changed": self.changed, "missing": self.missing}

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(self.added + other.added, self.changed + other.changed, self.missing + other.missing)


def take_in[M: Mirror, S: Resource](
    rows: QuerySet[M],
    found: Iterable[S],
    columns: Columns[S],
    *,
    now: datetime,
    whole: bool = True,
    as_of: datetime | None = None,
) -> Taken:
    """Make the rows say what Endl's list says.

    Args:
        rows: the rows that this list covers, such as the deposits of one customer.
        found: the objects that the list holds.
        columns: the column values of an object, `endl_id` among them.
        now: aware time of the read.
        whole: whether the list is complete; only then is a row that it lacks marked missing.
        as_of: since when Endl's word may be as old, where that is not `now`: a repeat brings the first answer
            back. An older word than the row's own end is no contradiction.

    Returns: what was added, changed and marked missing. A status that contradicts the one we hold is not
    taken over; the row says what Endl said, for a person to look at.
    """
    wanted = {values["endl_id"]: values for values in map(_with_digest(columns), found)}
    known = {row.endl_id: row for row in rows.model._default_manager.filter(endl_id__in=wanted)}
    added = [_new(rows.model, values, now) for key, values in wanted.items() if key not in known]
    suspects = [key for key, row in known.items() if _is_changed(row, wanted[key])]
    with transaction.atomic():
        rows.model._default_manager.bulk_create(added, ignore_conflicts=True)
        # An added row may turn out to be another process's, which was quicker and knew less or more.
        changed = _change(rows.model, [*suspects, *(row.endl_id for row in added)], wanted, now, as_of or now)
        missing = _mark_missing(rows, set(wanted), now) if whole else 0
    return Taken(len(added), changed, missing)


def _change[M: Mirror](
    model: type[M], suspects: list[str], wanted: dict[str, dict[str, Any]], now: datetime, as_of: datetime
) -> int:
    """Look at the rows again under a lock, so that no older word overwrites an end; write what changed."""
    if not suspects:
        return 0
    locked = model._default_manager.select_for_update().filter(endl_id__in=suspects).order_by("pk")
    changed = [
        row
        for row in locked
        if _is_changed(row, wanted[row.endl_id]) and _apply(row, wanted[row.endl_id], now, as_of)
    ]
    if changed:
        fields = [name for name in wanted[changed[0].endl_id] if name != "endl_id"]
        model._default_manager.bulk_update(changed, [*fields, *_OURS], batch_size=200)
    return len(changed)


def take_one[M: Mirror, S: Resource](
    model: type[M], found: S, columns: Columns[S], *, now: datetime, as_of: datetime | None = None
) -> M:
    """Take in one object, from a single read or from an answer. Returns its row."""
    take_in(model._default_manager.all(), [found], columns, now=now, whole=False, as_of=as_of)
    return model._default_manager.get(endl_id=columns(found)["endl_id"])


def digest_of(payload: dict[str, Any]) -> str:
    """A digest that is the same for the same object, whatever the order of its keys."""
    text = json.dumps(payload, sort_keys=True, cls=DjangoJSONEncoder, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _with_digest[S: Resource](columns: Columns[S]) -> Callable[[S], dict[str, Any]]:
    def values(resource: S) -> dict[str, Any]:
        return {**columns(resource), "payload": resource.payload, "digest": digest_of(resource.payload)}

    return values


def _new[M: Mirror](model: type[M], values: dict[str, Any], now: datetime) -> M:
    return model(**values, first_seen_at=now, changed_at=now)


def _is_changed(row: Mirror, values: dict[str, Any]) -> bool:
    return row.digest != values["digest"] or row.missing_since is not None


def _apply(row: Mirror, values: dict[str, Any], now: datetime, as_of: datetime) -> bool:
    """Write the new values onto a row, or only that they contradict it. Returns whether anything changed."""
    if row.contradicts(values["status"]):
        if row.changed_at > as_of:
            return False
        told = f"Endl said {values['status']} after {row.status}."[:200]
        is_news, row.contradiction = row.contradiction != told, told
        return is_news
    for name, value in values.items():
        setattr(row, name, value)
    row.changed_at, row.missing_since, row.contradiction = now, None, ""
    return True


def _mark_missing[M: Mirror](rows: QuerySet[M], present: set[str], now: datetime) -> int:
    """A row that a whole list lacks is marked, never deleted; what came after the question is not in it."""
    seen = rows.filter(missing_since=None, first_seen_at__lte=now)
    return seen.exclude(endl_id__in=present).update(missing_since=now)


def start(kind: str, customer_endl_id: str, *, now: datetime) -> Pull | None:
    """Put down that a list is being read; None when another process is reading it."""
    pull, _ = Pull.objects.get_or_create(kind=kind, customer_endl_id=customer_endl_id)
    ended = Q(confirmed_at__gte=F("started_at")) | Q(trouble_at__gte=F("started_at"))
    idle = Q(started_at=None) | Q(started_at__lt=now - GIVEN_UP_AFTER) | ended
    started = Pull.objects.filter(idle, pk=pull.pk).update(started_at=now)
    return pull if started else None


def confirm(pull: Pull, *, items: int, unreadable: int, now: datetime) -> None:
    """The list was read whole: all its rows are confirmed as of now."""
    Pull.objects.filter(pk=pull.pk).update(
        confirmed_at=now, items=items, unreadable=unreadable, trouble="", trouble_at=None
    )


def fail(pull: Pull, sentence: str, *, now: datetime) -> None:
    """The list could not be read; its rows stay as they were last confirmed."""
    Pull.objects.filter(pk=pull.pk).update(trouble=sentence, trouble_at=now)
