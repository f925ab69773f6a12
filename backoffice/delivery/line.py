"""How the line to Endl is: slowed down, paused, or well; the same for every process."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from backoffice.access.models import User
from backoffice.audit.trail import NotAllowed, operation, record
from backoffice.delivery.models import Line, Pause
from backoffice.endl import Client, EndlError, IssuingUnavailable, OursToFix, Rejected, Throttled, Unsupported

Scope = Pause.Scope
SLOWEST = timedelta(minutes=5)
SLOW_BY_DEFAULT = timedelta(seconds=5)
LET_ONE_THROUGH_EVERY = timedelta(minutes=10)


@dataclass(frozen=True)
class Health:
    """What a page says about the line."""

    pauses: list[Pause]
    line: Line

    @property
    def is_well(self) -> bool:
        return not self.pauses and not self.line.trouble


def the_line() -> Line:
    """The one row that all processes share."""
    line, _ = Line.objects.get_or_create(pk=Line.THE_ONE)
    return line


def health() -> Health:
    """The open pauses and what is known of the line."""
    return Health(pauses=list(open_pauses()), line=the_line())


def open_pauses() -> QuerySet[Pause]:
    """The pauses that nobody has lifted yet."""
    return Pause.objects.filter(lifted_at=None)


def is_paused(*scopes: Scope) -> bool:
    """Whether anything is paused that stops all, or one of these scopes."""
    return open_pauses().filter(scope__in=(Scope.EVERYTHING, *scopes)).exists()


def slow_until(now: datetime) -> datetime | None:
    """Until when everybody waits because Endl said 429; None when nobody has to."""
    until = the_line().slow_until
    return until if until is not None and until > now else None


def slow_down(error: Throttled, *, now: datetime) -> datetime:
    """Make all processes wait as long as Endl asks, five minutes at most. Returns until when."""
    asked = error.retry_after_seconds
    pause = SLOW_BY_DEFAULT if asked is None else min(timedelta(seconds=asked), SLOWEST)
    until = now + pause
    the_line()
    Line.objects.filter(pk=Line.THE_ONE).filter(Q(slow_until=None) | Q(slow_until__lt=until)).update(
        slow_until=until
    )
    return until


def pause(error: EndlError, *, scope: Scope, now: datetime) -> None:
    """Send nothing more of this scope, until the line answers again or a person lifts it."""
    try:
        with transaction.atomic():
            opened = Pause.objects.create(
                scope=scope,
                code=(error.code or "")[:60],
                message=error.message,
                remedy=error.remedy,
                since=now,
                last_try_at=now,
            )
            record("line.pause", opened, by="system: sender", new={"code": opened.code})
    except IntegrityError:
        open_pauses().filter(scope=scope).update(last_try_at=now)


def lift(scopes: tuple[Scope, ...], *, by: User | str, now: datetime) -> None:
    """End the open pauses of these scopes."""
    for opened in open_pauses().filter(scope__in=scopes):
        name = by.get_username() if isinstance(by, User) else by
        if Pause.objects.filter(pk=opened.pk, lifted_at=None).update(lifted_at=now, lifted_by=name):
            record("line.resume", opened, by=by)


def let_one_through(*, now: datetime) -> bool:
    """While issuing is paused, say yes to one waiting order every ten minutes."""
    due = Q(last_try_at=None) | Q(last_try_at__lte=now - LET_ONE_THROUGH_EVERY)
    return bool(open_pauses().filter(due, scope=Scope.ISSUING).update(last_try_at=now))


def note_answer(*, now: datetime, probe_customer: str = "") -> None:
    """Endl answered as it should. A business that answered becomes the probe."""
    the_line()
    known = {"probe_customer": probe_customer} if probe_customer else {}
    Line.objects.filter(pk=Line.THE_ONE).update(answered_at=now, trouble="", trouble_at=None, **known)


def note_trouble(error: EndlError, *, client: Client, now: datetime) -> None:
    """Draw the consequence of an error for everybody: slow down, pause, or just remember it."""
    the_line()
    Line.objects.filter(pk=Line.THE_ONE).update(trouble=str(error)[:500], trouble_at=now)
    if isinstance(error, Throttled):
        slow_down(error, now=now)
    elif isinstance(error, IssuingUnavailable):
        pause(error, scope=Scope.ISSUING, now=now)
    elif isinstance(error, OursToFix) and is_everybodys(error, client):
        pause(error, scope=Scope.EVERYTHING, now=now)


def is_everybodys(error: OursToFix, client: Client) -> bool:
    """Whether the fault is the connection's and not one customer's.

    A denied access (ERRCORE_1005) may concern one customer: it counts once the probe is refused too.
    """
    return error.pauses != "probe" or probe_is_refused(client)


def probe_is_refused(client: Client) -> bool:
    """Ask for the cardholders of the last business that answered. With none known, assume the worst."""
    customer = the_line().probe_customer
    if not customer:
        return True
    try:
        client.list_cardholders(customer)
    except OursToFix:
        return True
    except EndlError:
        return False
    return False


def probe(*, endl: Client, now: datetime, customer: str = "") -> bool:
    """While everything is paused, ask the probe; when it answers, work goes on by itself.

    Args:
        customer: the business to ask instead, where none has answered yet and a person names one.

    Returns: whether the line answers.
    """
    asked = customer or the_line().probe_customer
    if not asked:
        return False
    open_pauses().filter(scope=Scope.EVERYTHING).update(last_try_at=now)
    try:
        endl.list_cardholders(asked)
    except (Rejected, Throttled, Unsupported):
        # Any clear answer of Endl's own shows that key, version and address are accepted.
        pass
    except EndlError:
        return False
    else:
        note_answer(now=now, probe_customer=asked)
    lift((Scope.EVERYTHING,), by="system: probe", now=now)
    return True


@operation("line.try_now")
def ask_to_try(*, by: User) -> None:
    """Put on record that a person wants the line tried now. Raises NotAllowed."""
    if not by.has_perm("delivery.change_pause"):
        raise NotAllowed("Only an administrator can do this.")
    record("line.try_now", by=by)
