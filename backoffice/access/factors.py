"""Which factor counts, and how long ago a session proved it."""

import time

from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.http import HttpRequest

from backoffice.access.models import User


def accepted_factor() -> str:
    """The factor that counts: "password" in practice mode, else "mfa"."""
    return "password" if settings.PRACTICE else "mfa"


def factor_age_seconds(request: HttpRequest) -> float | None:
    """Seconds since this session last proved the factor that counts; None when it never did."""
    # Without its second argument the function knows of no proof at all.
    user = request.user if isinstance(request.user, User) else None
    proofs = [each["at"] for each in get_authentication_records(request, user) if _counts(each["method"])]
    return time.time() - max(proofs) if proofs else None


def is_stepped_up(request: HttpRequest) -> bool:
    """Whether the factor was proved within the last STEP_UP_SECONDS."""
    age = factor_age_seconds(request)
    return age is not None and age < settings.STEP_UP_SECONDS


def _counts(method: str) -> bool:
    return method == "mfa" or method == accepted_factor()
