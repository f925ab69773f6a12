"""Why a person cannot decide on an approval, who can, and since when it waits: for every blocked button."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from backoffice.access.models import User
from backoffice.approvals import decisions, limits
from backoffice.approvals.models import Approval
from backoffice.audit.trail import NotAllowed, Refusal

State = Approval.State
# As many names as a sentence takes.
MOST_NAMES = 10


@dataclass(frozen=True)
class Reason:
    """One thing in the way: the refusal's name for the code, a sentence for the person."""

    name: str
    sentence: str


@dataclass(frozen=True)
class Why:
    """Whether a person can decide now, and if not, why.

    Attributes:
        reasons: everything that is in the way; empty when they can decide.
        who_can: active people who can decide now and who see the customer. Empty for somebody who does not
            see the customer themselves: names are no business of theirs.
        since: since when the step waits; None when nothing waits.
        waits_for: the step that waits, in words; blank when nothing waits.
    """

    reasons: tuple[Reason, ...] = ()
    who_can: tuple[User, ...] = ()
    since: datetime | None = None
    waits_for: str = ""

    @property
    def can(self) -> bool:
        return not self.reasons

    @property
    def sentence(self) -> str:
        """The reasons, and who can instead, as one text for a tooltip; blank when they can."""
        if self.can:
            return ""
        told = " ".join(reason.sentence for reason in self.reasons)
        return f"{told} {self.asks}".strip()

    @property
    def asks(self) -> str:
        """Whom to ask: "Ana or Ben can decide."; blank where nothing waits."""
        if self.since is None:
            return ""
        names = [str(person) for person in self.who_can[:MOST_NAMES]]
        if not names:
            return "Nobody who can decide now works for this customer."
        first, last = ", ".join(names[:-1]), names[-1]
        return f"{first} or {last} can decide." if first else f"{last} can decide."


def why(approval: Approval, person: User, *, now: datetime) -> Why:
    """Say whether this person can decide on an approval now, and if not why, who can, and since when.

    Writes nothing. The deed checks again.
    """
    reasons = tuple(_reasons(approval, person, now))
    if approval.state != State.PENDING:
        return Why(reasons)
    step = decisions.waiting_step(approval)
    return Why(
        reasons,
        who_can=_who_can(approval, person, now),
        since=approval.step_since or approval.created_at,
        waits_for=f"{step.people} of the role {step.role}" if step else "",
    )


def obstacles(approval: Approval, person: User, *, now: datetime) -> tuple[Reason, ...]:
    """Only what is in this person's way, without asking who else can; empty when they can decide."""
    return tuple(_reasons(approval, person, now))


def _reasons(approval: Approval, person: User, now: datetime) -> list[Reason]:
    found = []
    for check in (_check_open, _check_person, _check_sees, _check_limit):
        try:
            check(approval, person, now)
        except Refusal as refusal:
            found.append(Reason(type(refusal).__name__, refusal.sentence))
        # What has ended needs no second reason.
        if found and approval.state != State.PENDING:
            break
    return found


def _check_open(approval: Approval, person: User, _now: datetime) -> None:
    decisions.check_open(approval, person)


def _check_person(approval: Approval, person: User, _now: datetime) -> None:
    decisions.check_person(approval, person)


def _check_sees(approval: Approval, person: User, _now: datetime) -> None:
    if not people_who_see(approval.customer_endl_id).filter(pk=person.pk).exists():
        raise NotAllowed("You do not work for this customer.")


def _check_limit(approval: Approval, person: User, now: datetime) -> None:
    limits.check(approval, person, limits.standing(person, approval.currency, now=now))


def people_who_see(customer_endl_id: str) -> QuerySet[User]:
    """The active people who see a customer, as the application that keeps customers says."""
    found: QuerySet[User] = import_string(settings.WHO_SEES_CUSTOMER)(customer_endl_id)
    return found


def _who_can(approval: Approval, person: User, now: datetime) -> tuple[User, ...]:
    seeing = list(people_who_see(approval.customer_endl_id).order_by("username"))
    if person.pk not in {each.pk for each in seeing}:
        return ()
    return tuple(each for each in seeing if each.pk != person.pk and _can(approval, each, now))


def _can(approval: Approval, person: User, now: datetime) -> bool:
    try:
        for check in (_check_open, _check_person, _check_limit):
            check(approval, person, now)
    except Refusal:
        return False
    return True
