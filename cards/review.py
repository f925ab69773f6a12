"""Compliance's word on cardholders: no card is issued to somebody without it."""

from datetime import datetime

from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from cards import scope
from cards.models import Cardholder, CardholderReview

Verdict = CardholderReview.Verdict


class OwnRegistration(Refusal):
    """Whoever registered somebody may not review them."""


class NoReason(Refusal):
    """A rejection needs a reason."""


@operation("cardholder.review", about="cardholder")
def review_cardholder(
    *, cardholder: Cardholder, verdict: Verdict, reason: str, by: User, now: datetime
) -> CardholderReview:
    """Approve or reject a cardholder. The newest review counts.

    Raises: NotAllowed, OwnRegistration, NoReason.
    """
    locked = Cardholder.objects.select_for_update().select_related("customer").get(pk=cardholder.pk)
    scope.check(by, "cards.add_cardholderreview", locked.customer)
    registrar = who_registered(locked)
    if registrar is not None and registrar.pk == by.pk:
        raise OwnRegistration("You registered this cardholder: another person must review them.")
    if verdict == Verdict.REJECTED and not reason.strip():
        raise NoReason("Say why you reject the cardholder.")
    made = CardholderReview.objects.create(
        cardholder=locked, verdict=verdict, reason=reason.strip(), by=by, registered_by=registrar, made_at=now
    )
    old = locked.review_state
    Cardholder.objects.filter(pk=locked.pk).update(review_state=verdict)
    record(
        "cardholder.review", locked, by=by, reason=reason, old={"review": old}, new={"review": str(verdict)}
    )
    return made


def who_registered(cardholder: Cardholder) -> User | None:
    """Who registered a cardholder here; None for one that was found by sync."""
    wish = getattr(cardholder, "registration", None)
    return wish.maker if wish is not None else None


def why_not_review(cardholder: Cardholder, person: User) -> str:
    """Say why this person cannot review this cardholder; blank when they can."""
    registrar = who_registered(cardholder)
    if not person.has_perm("cards.add_cardholderreview"):
        return "Compliance reviews cardholders; your roles do not."
    if registrar is not None and registrar.pk == person.pk:
        return "You registered this cardholder: another person must review them."
    return ""
