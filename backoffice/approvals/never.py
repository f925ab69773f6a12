"""What nobody may do, whatever the page did: act through another's session, or without a fresh proof."""

from django.conf import settings

from backoffice.access.models import User
from backoffice.audit.context import current_origin
from backoffice.audit.trail import Refusal


class NotProved(Refusal):
    """The session has not proved lately that it is this person's."""


class NotYourSession(Refusal):
    """The session belongs to another person than the one who is said to act."""


def check_session(by: User) -> None:
    """Where the act comes from a session: it is this person's, and its second factor is fresh.

    What comes from no session (a worker, a shell) is held by every other rule.

    Raises: NotYourSession, NotProved.
    """
    origin = current_origin()
    if not origin.is_web:
        return
    if origin.person != by.pk:
        raise NotYourSession("This session belongs to somebody else.")
    age = origin.factor_age_seconds
    if age is None or age >= settings.STEP_UP_SECONDS:
        raise NotProved("Prove again that it is you: give your second factor, then decide.")
