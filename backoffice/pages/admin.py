"""The admin behind every page: scoped, never deleting, and calm with impossible input."""

import re
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin

from backoffice.audit.models import Entry

_LONGEST_SEARCH = 200
# How a listed filter may compare; what Django's own filters put into the address.
_COMPARISON = r"(__(id|pk))?(__(exact|in|isnull|gte|gt|lte|lt))?"


class OfficeAdmin(ModelAdmin):
    """What all our pages share. A subclass says in `scoped` which rows a person may see."""

    actions = None
    list_per_page = 50
    show_full_result_count = False
    list_filter_submit = True
    compressed_fields = True
    # What may be filtered by hand in the address beside `list_filter`.
    allowed_lookups: ClassVar[frozenset[str]] = frozenset()

    def scoped(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out what this person may not see. By default nothing."""
        return rows

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.scoped(request, super().get_queryset(request))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is ever deleted here, by nobody."""
        return False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        try:
            return super().get_object(request, object_id, from_field)
        except (OverflowError, DataError):
            return None

    def object_or_404(self, request: HttpRequest, object_id: str) -> Any:
        """The object, if this person may see it; else the same 404 as for one that never was."""
        obj = self.get_object(request, object_id)
        if obj is None:
            raise Http404
        if not self.has_view_permission(request, obj):
            raise PermissionDenied
        return obj

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Filter by what is listed, nothing else: a hidden column must not be guessed letter by letter."""
        if lookup in self.allowed_lookups:
            return True
        filters = self.get_list_filter(request)
        if any(getattr(item, "parameter_name", None) == lookup for item in filters):
            return True
        listed = [
            item if isinstance(item, str) else item[0] for item in filters if not isinstance(item, type)
        ]
        # Not any longer path: `customer__added_by__password__startswith` begins with a listed name too.
        return any(re.fullmatch(rf"{re.escape(name)}{_COMPARISON}", lookup) for name in listed)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        found: tuple[QuerySet[Any], bool] = super().get_search_results(
            request, queryset, search_term.replace("\0", "")[:_LONGEST_SEARCH]
        )
        return found

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            page: HttpResponse = super().changelist_view(request, extra_context)
        except (OverflowError, DataError, ValueError):
            # A filter value that no column can hold; the list without filters is the helpful answer.
            return redirect(request.path)
        return page

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The trail of one object, in place of Django's own history."""
        obj = self.object_or_404(request, object_id)
        entries = Entry.objects.filter(object_type=obj._meta.label_lower, object_id=str(obj.pk))[:200]
        return self.render(
            request, "office/history.html", title=f"History: {obj}", original=obj, entries=entries
        )

    def render(self, request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
        """A page of this admin."""
        request.current_app = self.admin_site.name
        full = {**self.admin_site.each_context(request), "opts": self.opts, "model_admin": self, **context}
        return TemplateResponse(request, template, full)
