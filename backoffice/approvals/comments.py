"""Writing about a request that is decided on."""

from datetime import datetime

from backoffice.access.models import User
from backoffice.approvals import reasons
from backoffice.approvals.models import Approval, Comment
from backoffice.audit.trail import NotAllowed, Refusal, operation, record

PERMISSION = "approvals.add_comment"
LONGEST = 1000


class NothingSaid(Refusal):
    """A comment has words."""


@operation("approval.comment", about="approval")
def comment(*, approval: Approval, text: str, by: User, now: datetime) -> Comment:
    """Write a comment. It decides nothing, stays for good, and is shown to whoever sees the request.

    Args:
        text: up to `LONGEST` characters.

    Raises: NotAllowed, NothingSaid.
    """
    if why := why_not(approval, User.objects.get(pk=by.pk)):
        raise NotAllowed(why)
    said = text.strip()
    if not said or len(said) > LONGEST:
        raise NothingSaid(f"Write something, up to {LONGEST} characters.")
    made = Comment.objects.create(approval=approval, person=by, text=said, made_at=now)
    record("approval.comment", approval, by=by, reason=said)
    return made


def why_not(approval: Approval, person: User) -> str:
    """Say why this person cannot comment; blank when they can."""
    if not (person.is_active and person.has_perm(PERMISSION)):
        return "Your roles do not let you comment."
    if not reasons.people_who_see(approval.customer_endl_id).filter(pk=person.pk).exists():
        return "You do not work for this customer."
    return ""
