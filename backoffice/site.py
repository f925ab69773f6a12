"""The admin site: its home, its order, its badges."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string
from unfold.sites import UnfoldAdminSite


class OfficeSite(UnfoldAdminSite):
    """Our own admin site; the tables register themselves with it."""

    site_title = "Endl back office"
    site_header = "Endl back office"
    index_title = "Home"
    enable_nav_sidebar = True


def office_context(request: HttpRequest) -> dict[str, Any]:
    """What every page may say: whether this is practice, and what stops the line."""
    from backoffice.delivery import line

    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"is_practice": settings.PRACTICE}
    return {"is_practice": settings.PRACTICE, "open_pauses": list(line.open_pauses())}


def environment_badge(request: HttpRequest) -> list[str] | None:
    """The badge beside the title."""
    return ["Practice", "warning"] if settings.PRACTICE else None


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the home page shows this person: the panels of the applications, in their order."""
    context["panels"] = [panel for name in settings.HOME_PANELS for panel in import_string(name)(request.user)]
    return context


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar."""
    return []
