"""The admin site: its home, its order, its badges, and the pages that lead to signing in."""

from typing import Any

from allauth.account.views import logout as sign_out
from django.conf import settings
from django.core.paginator import InvalidPage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.sites import UnfoldAdminSite

from backoffice.access.enrolment import is_setting_up
from backoffice.access.models import User

# Whom to sign in as in practice mode, and what for.
SAMPLE_PEOPLE = (
    ("manager", "register cardholders, issue cards, reveal their details"),
    ("compliance", "review cardholders, see who looked at what"),
    ("maker", "request deposits, follow withdrawals"),
    ("checker", "approve or reject deposits and large card orders"),
    ("auditor", "look at everything, change nothing"),
    ("administrator", "add people, give roles, look after the line"),
    ("administrator2", "change what the first administrator may do"),
)


class OfficeSite(UnfoldAdminSite):
    """Our own admin site; the tables register themselves with it."""

    site_title = "Endl back office"
    site_header = "Endl back office"
    index_title = "Home"
    enable_nav_sidebar = True
    empty_value_display = "—"

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign out by the one door that does it."""
        response: HttpResponse = sign_out(request)
        return response

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Passwords are changed where people sign in, so that every change is noticed there."""
        return redirect("account_change_password")

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse | HttpResponse:
        try:
            found: TemplateResponse | HttpResponse = super().search(request, extra_context)
        except (InvalidPage, ValueError) as problem:
            raise Http404 from problem
        return found


def office_context(request: HttpRequest) -> dict[str, Any]:
    """What every page may say: whether this is practice, what stops the line. Looked up once a request."""
    said: dict[str, Any] | None = getattr(request, _SAID, None)
    if said is None:
        said = _what_to_say(request)
        setattr(request, _SAID, said)
    return said


# A page is made of many templates, and each of them asks.
_SAID = "_office_context"


def _what_to_say(request: HttpRequest) -> dict[str, Any]:
    from backoffice.delivery import holds, line

    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"is_practice": settings.PRACTICE, "sample_people": SAMPLE_PEOPLE if settings.PRACTICE else ()}
    pauses = list(line.open_pauses())
    return {
        "is_practice": settings.PRACTICE,
        "office_step": 2 if is_setting_up(request) else 0,
        "open_pauses": pauses,
        "open_holds": list(holds.open_holds().select_related("set_by")),
        "may_try_now": bool(pauses) and user.has_perm("delivery.change_pause"),
        "knows_whom_to_ask": bool(pauses) and bool(line.the_line().probe_customer),
    }


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the home page shows this person."""
    from backoffice.home import fill

    return fill(request, context)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar: what this person may open."""
    from backoffice.navigation import navigation as pages

    return pages(request)
