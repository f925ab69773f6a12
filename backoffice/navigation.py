"""The sidebar: the pages that a person may open, and how much waits behind each.

The office knows the applications only by the names in `settings.NAVIGATION` (see menu.py).
"""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.admin import ModelAdmin, site
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from backoffice.pages.objects import the_person
from backoffice.pages.parts import NOTHING, name

_REMEMBERED = "_office_navigation"
# Beyond that the exact number helps nobody.
_MOST = 99


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of pages that this person may open. Counted once a request."""
    found: list[dict[str, Any]] | None = getattr(request, _REMEMBERED, None)
    if found is None:
        home = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
        groups = (_group(request, *each) for each in settings.NAVIGATION)
        found = [{"items": [home]}, *(group for group in groups if group["items"])]
        setattr(request, _REMEMBERED, found)
    return found


def admin_of(label: str) -> "ModelAdmin[Any] | None":
    """The admin of a model by its label, such as "cards.customer"; None when it has no pages."""
    return site._registry.get(apps.get_model(label))  # noqa: SLF001  (the registry has no public reader)


def visible(model: type[Model], request: HttpRequest) -> QuerySet[Any]:
    """The rows of a model that this person may open by its own pages; none where it has no pages."""
    pages = site._registry.get(model)  # noqa: SLF001
    if pages is None or not pages.has_view_permission(request):
        return model._default_manager.none()
    return pages.get_queryset(request).order_by()


def link_by_name(object_type: str, object_id: str, shown: str) -> SafeString:
    """A link to an object that is known by its type and id only, such as one that the trail names."""
    shown = shown or object_id
    if not shown:
        return SafeString(NOTHING)
    try:
        url = reverse(f"admin:{object_type.replace('.', '_')}_change", args=(object_id,))
    except NoReverseMatch:
        return name(shown)
    return format_html('<a class="link" href="{}"><bdi>{}</bdi></a>', url, shown)


def _group(request: HttpRequest, title: str, pages: list[tuple[str, ...]]) -> dict[str, Any]:
    items = [item for page in pages if (item := _item(request, page)) is not None]
    return {"title": title, "separator": True, "items": items}


def _item(request: HttpRequest, page: tuple[str, ...]) -> dict[str, Any] | None:
    label, title, icon, *counted = page
    model_admin = admin_of(label)
    if model_admin is None or not model_admin.has_view_permission(request):
        return None
    link = reverse(f"admin:{label.replace('.', '_')}_changelist")
    item = {"title": title, "icon": icon, "link": link, "active": request.path.startswith(link)}
    if counted and (count := _count(model_admin, request, *counted)):
        item |= {"badge": str(count) if count <= _MOST else f"{_MOST}+", "badge_variant": "warning"}
    return item


def _count(model_admin: "ModelAdmin[Any]", request: HttpRequest, waiting: str, permission: str = "") -> int:
    """How many rows wait: `waiting` is "column=value", or "mine" for what the page itself knows to wait for
    this person. Counts no further than what is shown.
    """
    if permission and not the_person(request).has_perm(permission):
        return 0
    rows = model_admin.get_queryset(request).order_by()
    if waiting == "mine":
        rows = rows.filter(model_admin.waits_for(request))  # type: ignore[attr-defined]  # the page's own
    else:
        column, _, value = waiting.partition("=")
        rows = rows.filter(**{column: None if value == "None" else value})
    return rows.values("pk")[: _MOST + 1].count()
