"""What people see when something is wrong: a sentence, a way on, and a reference. Nothing technical."""

import logging
from dataclasses import dataclass

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve

from backoffice.access import roles
from backoffice.pages.guard import strictly

log = logging.getLogger("backoffice.errors")


@dataclass(frozen=True)
class Words:
    """The title of an error page, and the sentences under it."""

    title: str
    sentences: tuple[str, ...]


BAD_REQUEST = Words(
    "That address cannot be read",
    (
        "Something in the address or the form is no text that the office can use.",
        "Go back and try it another way.",
    ),
)
NOT_FOUND = Words(
    "There is nothing here",
    ("It may never have existed, or it belongs to a customer you do not work for.",),
)
STALE_FORM = Words(
    "This page was open too long",
    ("Nothing was changed. Go back, load the page again, and send it once more.",),
)
BROKEN = Words(
    "That did not work",
    (
        "The office made a mistake, and it is on record with the reference below.",
        "What you sent may not have been saved: look before you try it again.",
    ),
)
BUSY = Words(
    "The office is busy for a moment",
    ("Nothing was changed. Wait a few seconds and try it again.",),
)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400."""
    return _page(request, 400, BAD_REQUEST)


def not_allowed(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403, with the roles that could."""
    return _page(request, 403, Words("Your roles do not let you do this", tuple(_who_could(request))))


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without a good token: most often a page that was left open."""
    log.warning("form refused: %s", reason)
    return _page(request, 403, STALE_FORM)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404, the same for what never was and for what is somebody else's."""
    return _page(request, 404, NOT_FOUND)


def broken(request: HttpRequest) -> HttpResponse:
    """500. Asks the database nothing: it may be what broke."""
    return _page(request, 500, BROKEN, knows_who=False)


class BusyMiddleware:
    """Answer 503 when the database is locked or away for a moment, instead of a broken page."""

    def __init__(self, get_response: object) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)  # type: ignore[operator, no-any-return]

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Only for trouble that passes by itself."""
        if not _passes_by_itself(exception):
            return None
        log.error("database busy: %s", type(exception).__name__)
        response = _page(request, 503, BUSY, knows_who=False)
        response.headers["Retry-After"] = "5"
        return response


def _page(request: HttpRequest, status: int, words: Words, *, knows_who: bool = True) -> HttpResponse:
    user = getattr(request, "user", None) if knows_who else None
    text = render_to_string(
        "office/error.html",
        {
            "words": words,
            "status": status,
            "reference": reference(),
            "is_signed_in": bool(user is not None and user.is_authenticated),
            "is_practice": settings.PRACTICE,
        },
    )
    response = HttpResponse(text, status=status, headers={"Cache-Control": "no-store, private"})
    return strictly(response)


def reference() -> str:
    """The id of this request, by which its lines are found in the log; blank outside one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def _passes_by_itself(exception: Exception) -> bool:
    if not isinstance(exception, DatabaseError):
        return False
    words = str(exception).lower()
    return any(
        sign in words
        for sign in ("database is locked", "lock timeout", "could not connect", "too many clients")
    )


def _who_could(request: HttpRequest) -> list[str]:
    able = _roles_for(request)
    if not able:
        return ["If you need it for your work, ask an administrator."]
    return [
        f"This takes the role {' or '.join(able)}.",
        "If you need it for your work, ask an administrator.",
    ]


def _roles_for(request: HttpRequest) -> list[str]:
    """The roles that may open this page, read off the name of its URL: `app_model_act`."""
    try:
        app_label, model, act = (resolve(request.path_info).url_name or "").split("_", 2)
    except (Resolver404, ValueError):
        return []
    wanted = {"add": "add", "changelist": "view", "change": "view", "history": "view"}.get(act)
    return [name for name, allowed in roles.ROLES.items() if f"{app_label}.{wanted}_{model}" in allowed]
