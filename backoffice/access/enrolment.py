"""Nobody works with a password that somebody else chose, or without a second factor where one is asked for.

The way in has three steps: a password of one's own, an authenticator app, recovery codes.
"""

from collections.abc import Callable
from typing import Any

from allauth.account.signals import password_changed
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from backoffice.access.models import User
from backoffice.audit.trail import record

# Marks a session that is on its way through the steps, so that their pages say where one is.
_ON_THE_WAY = "office_setting_up"


class SecondFactorMiddleware:
    """Lead people to the step that they have not taken yet."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and request.path.startswith(reverse("admin:index")):
            step = _missing_step(request.user)
            if step:
                request.session[_ON_THE_WAY] = True
                return redirect(step)
            request.session.pop(_ON_THE_WAY, None)
        return self.get_response(request)


def is_setting_up(request: HttpRequest) -> bool:
    """Whether this session is on its way through the steps."""
    return bool(request.session.get(_ON_THE_WAY))


def _missing_step(person: User) -> str:
    if person.has_temporary_password:
        return "account_change_password"
    if settings.SECOND_FACTOR_REQUIRED and not is_mfa_enabled(person):
        return "mfa_activate_totp"
    return ""


@receiver(password_changed)
def _own_password(request: HttpRequest, user: User, **_kwargs: Any) -> None:
    """From now on the password is the person's own."""
    User.objects.filter(pk=user.pk).update(has_temporary_password=False)
    record("person.change_password", user, by=user)
