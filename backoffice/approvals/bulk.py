"""Approving many at once: chosen and frozen first, confirmed by its content, then each by the one door.

The choice is a set of ids with the hashes that were seen. What arrives later is not in it; what changed
since is refused. One row that fails neither stops nor hides the others.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from backoffice.access.models import User
from backoffice.approvals import checks, deciding, reasons, surroundings
from backoffice.approvals.books import book_of
from backoffice.approvals.models import Approval, BulkRow, BulkRun, Decision
from backoffice.approvals.never import NotProved, check_session
from backoffice.audit.trail import NotAllowed, Refusal, operation, record

MOST = 200
# A page that decides on many answers after so long, and goes on when it is pressed again.
SECONDS_AT_ONCE = 8.0
State, Grade = BulkRow.State, BulkRow.Grade


class NothingChosen(Refusal):
    """There is nothing in the choice that could be approved."""


class ConfirmedAlready(Refusal):
    """A choice is confirmed once."""


@dataclass(frozen=True)
class Pick:
    """One chosen approval, with the hash that was on the screen."""

    approval: Approval
    seen: str


@dataclass(frozen=True)
class Sum:
    """What a choice moves in one currency."""

    currency: str
    count: int
    total: Decimal
    largest: BulkRow


@operation("approvals.choose")
def choose(*, picks: Sequence[Pick], chosen: str, by: User, now: datetime) -> BulkRun:
    """Freeze a choice. Nothing is decided; rows with failed checks are left out, and say why.

    Args:
        picks: at most `MOST`, each seen by this person.
        chosen: the choice in words, such as "This page".

    Raises: NothingChosen.
    """
    if not picks:
        raise NothingChosen("Tick at least one request, or choose the page.")
    if len(picks) > MOST:
        raise NothingChosen(f"At most {MOST} at once.")
    run = BulkRun.objects.create(person=by, chosen=chosen[:200], made_at=now)
    rows = [_row(run, number, pick, by, now) for number, pick in enumerate(picks, 1)]
    BulkRow.objects.bulk_create(rows)
    record("approvals.choose", run, by=by, reason=chosen, new={"requests": len(rows)})
    return run


def _row(run: BulkRun, number: int, pick: Pick, by: User, now: datetime) -> BulkRow:
    grade, told = _look_at(pick, by, now)
    is_out = grade == Grade.STOP
    return BulkRow(
        run=run,
        number=number,
        approval=pick.approval,
        seen_hash=pick.seen,
        summary=pick.approval.summary,
        amount=pick.approval.amount,
        currency=pick.approval.currency,
        grade=grade,
        told=told,
        state=State.LEFT_OUT if is_out else State.WAITING,
        outcome=told if is_out else "",
    )


def _look_at(pick: Pick, by: User, now: datetime) -> tuple[BulkRow.Grade, str]:
    """The worst grade of a row, and the sentences of what did not pass."""
    approval = pick.approval
    if pick.seen != approval.facts_hash:
        return Grade.STOP, "It changed since you looked."
    if blocked := _why_not(approval, by, now):
        return Grade.STOP, blocked
    book = book_of(approval.kind)
    request = book.request_of(approval.pk)
    if request is None:
        return Grade.STOP, "It was drawn up anew under other rules."
    found = checks.checks_of(
        approval,
        book,
        request,
        habits=surroundings.habits(book.wish_of(request), now=now),
        tells=checks.tells_of(request),
        now=now,
    )
    worst = checks.worst_of(found)
    told = [each for each in found if each.grade == worst != "pass"]
    return Grade(worst), " ".join(f"{each.name}: {each.sentence}" for each in told)


def _why_not(approval: Approval, by: User, now: datetime) -> str:
    return " ".join(reason.sentence for reason in reasons.obstacles(approval, by, now=now))


@operation("approvals.confirm", about="run")
def confirm(*, run: BulkRun, leaves_looks: bool, reason: str, by: User, now: datetime) -> BulkRun:
    """Confirm a choice as it was shown. Its rows are decided by `go_on`, one by one.

    Args:
        leaves_looks: leave out what deserves a look as well.
        reason: kept with every decision; may be blank.

    Raises: NotAllowed, ConfirmedAlready, NothingChosen, and what `never.check_session` raises.
    """
    locked = BulkRun.objects.select_for_update().get(pk=run.pk)
    if locked.person_id != by.pk:
        raise NotAllowed("This was chosen by somebody else.")
    check_session(by)
    if locked.confirmed_at is not None:
        raise ConfirmedAlready("This was confirmed already.")
    if leaves_looks:
        looks = locked.rows.filter(state=State.WAITING, grade=Grade.LOOK)
        looks.update(state=State.LEFT_OUT, outcome="You left out what deserves a look.")
    waiting = locked.rows.filter(state=State.WAITING).count()
    if not waiting:
        raise NothingChosen("Nothing is left that could be approved.")
    locked.confirmed_at, locked.reason = now, reason.strip()
    locked.save(update_fields=("confirmed_at", "reason"))
    record("approvals.confirm", locked, by=by, reason=reason, new={"requests": waiting})
    return locked


def go_on(run: BulkRun, *, by: User, seconds: float = SECONDS_AT_ONCE) -> int:
    """Decide on the rows that wait, each by its own operation, until all are done or time is up.

    Returns how many still wait. Stops without deciding anything more when the session's proof runs out.

    Raises: NotAllowed, NotProved, NotYourSession.
    """
    if run.person_id != by.pk or run.confirmed_at is None:
        raise NotAllowed("Only who chose and confirmed this goes on with it.")
    ends = time.monotonic() + seconds
    for row in run.rows.filter(state=State.WAITING).select_related("approval"):
        check_session(by)
        _settle(row, *_decide(run, row, by))
        if time.monotonic() > ends:
            break
    return run.rows.filter(state=State.WAITING).count()


def _decide(run: BulkRun, row: BulkRow, by: User) -> tuple[BulkRow.State, str]:
    try:
        sentence = deciding.decide(
            row.approval,
            by=by,
            verdict=Decision.Verdict.APPROVE,
            seen=row.seen_hash,
            reason=run.reason,
        )
    except NotProved:
        raise
    except Refusal as refusal:
        return (State.DONE, "Approved.") if _is_done(run, row) else (State.REFUSED, refusal.sentence)
    return State.DONE, sentence


def _is_done(run: BulkRun, row: BulkRow) -> bool:
    """Whether this run decided on it already: two windows, or a process that died before it noted so."""
    own = Decision.objects.filter(
        approval=row.approval_id, person=run.person_id, seen_hash=row.seen_hash, verdict="approve"
    )
    return own.filter(made_at__gte=run.confirmed_at).exists()


def _settle(row: BulkRow, state: BulkRow.State, outcome: str) -> None:
    BulkRow.objects.filter(pk=row.pk, state=State.WAITING).update(state=state, outcome=outcome)


def sums(rows: Iterable[BulkRow]) -> list[Sum]:
    """What rows move, by currency, each with its largest."""
    by_currency: dict[str, list[BulkRow]] = {}
    for row in rows:
        by_currency.setdefault(row.currency, []).append(row)
    return [
        Sum(
            currency,
            len(own),
            sum((row.exact_amount for row in own), Decimal(0)),
            max(own, key=lambda row: row.exact_amount),
        )
        for currency, own in sorted(by_currency.items())
    ]
