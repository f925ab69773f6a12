"""Nobody works without a second factor, where the office asks for one."""

from collections.abc import Callable

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

_ASK = "Set up your authenticator app first: the office opens when you have a second factor."


class SecondFactorMiddleware:
    """Lead people without an authenticator to the page where they set one up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if self._must_enrol(request):
            messages.info(request, _ASK)
            return redirect("mfa_activate_totp")
        return self.get_response(request)

    def _must_enrol(self, request: HttpRequest) -> bool:
        return (
            settings.SECOND_FACTOR_REQUIRED
            and request.user.is_authenticated
            and request.path.startswith(reverse("admin:index"))
            and not is_mfa_enabled(request.user)
        )
