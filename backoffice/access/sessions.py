"""How long a session lives, and that nothing of it stays in a browser's cache."""

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]

STARTED = "office_started_at"
LAST_SEEN = "office_last_seen_at"
# Pages that ask for news by themselves send this header; such a request is not a person at the desk.
POLLING_HEADER = "X-Office-Poll"
_REMEMBER_EVERY_SECONDS = 30


class SessionClockMiddleware:
    """End a session after 15 idle minutes, or 12 hours whatever happens (PCI DSS 8.2.8)."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            self._look_at_the_clock(request, time.time())
        return self.get_response(request)

    def _look_at_the_clock(self, request: HttpRequest, now: float) -> None:
        started = request.session.setdefault(STARTED, now)
        last_seen = request.session.setdefault(LAST_SEEN, now)
        if now - started > settings.SESSION_COOKIE_AGE or now - last_seen > settings.SESSION_IDLE_SECONDS:
            logout(request)
        elif POLLING_HEADER not in request.headers and now - last_seen > _REMEMBER_EVERY_SECONDS:
            request.session[LAST_SEEN] = now


class NoStoreMiddleware:
    """Tell browsers and proxies to keep no page of the office."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith(settings.STATIC_URL):
            response.headers["Cache-Control"] = "no-store, private"
            response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        return response
