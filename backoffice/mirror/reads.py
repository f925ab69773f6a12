"""Reads that we assume Endl to have, and what to do where it has not."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from backoffice.access.models import User
from backoffice.audit.trail import NotAllowed, operation, record
from backoffice.endl import NotFound, Unsupported
from backoffice.mirror.models import Read

GET_DEPOSIT, LIST_DEPOSITS, LIST_WITHDRAWALS = "get_deposit", "list_deposits", "list_withdrawals"
ASSUMED = (GET_DEPOSIT, LIST_DEPOSITS, LIST_WITHDRAWALS)
TRY_AGAIN_AFTER = timedelta(days=1)

Found = TypeVar("Found")


class SwitchedOff(Exception):
    """Endl has no such read; it is tried again daily, or when a person asks for it."""


def is_on(name: str, *, now: datetime) -> bool:
    """Whether to use an assumed read now."""
    read = Read.objects.filter(name=name).first()
    return (
        read is None
        or read.off_since is None
        or read.tried_at is None
        or read.tried_at < now - TRY_AGAIN_AFTER
    )


def ask[Found](name: str, question: Callable[[], Found], *, is_known: bool, now: datetime) -> Found:
    """Use an assumed read, and switch it off when Endl turns out to lack it.

    Args:
        name: one of ASSUMED.
        question: the call to the client.
        is_known: whether a documented operation has accepted what is asked for (the customer of a list, the
            deposit itself); then a 404 means that there is no such read, not that there is no such thing.

    Raises:
        SwitchedOff: it is off, or has just turned out to be missing.
        EndlError: anything else that the client raises.
    """
    if not is_on(name, now=now):
        raise SwitchedOff(name)
    try:
        found = question()
    except (Unsupported, NotFound) as problem:
        if isinstance(problem, NotFound) and not is_known:
            raise
        _switch_off(name, problem.message, now)
        raise SwitchedOff(name) from problem
    _switch_on(name, now)
    return found


def try_again(*, by: User | str) -> None:
    """Let every switched-off read be tried at its next use."""
    if Read.objects.exclude(off_since=None).update(tried_at=None):
        record("reads.try_again", by=by)


@operation("reads.try_again")
def ask_to_try(*, by: User) -> None:
    """A person wants the switched-off reads tried at their next use. Raises NotAllowed."""
    if not by.has_perm("delivery.change_pause"):
        raise NotAllowed("Only an administrator can do this.")
    try_again(by=by)


def _switch_off(name: str, why: str, now: datetime) -> None:
    read, _ = Read.objects.get_or_create(name=name)
    if read.off_since is None:
        record("reads.switch_off", read, by="system: sync", new={"why": why})
    Read.objects.filter(pk=read.pk).update(off_since=read.off_since or now, why=why, tried_at=now)


def _switch_on(name: str, now: datetime) -> None:
    Read.objects.filter(name=name).exclude(off_since=None).update(off_since=None, why="", tried_at=now)
