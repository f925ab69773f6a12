"""The trail, read. Looking at it leaves an entry too."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from unfold.decorators import display

from backoffice.audit.models import Entry
from backoffice.audit.trail import record
from backoffice.navigation import link_by_name, visible
from backoffice.pages.fields import holds_card_number
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import NOTHING, Fact, Panel, Table, badge, code, name, when

_TONES = {Entry.Result.DONE: "good", Entry.Result.REFUSED: "bad", Entry.Result.FAILED: "bad"}


class VerbFilter(admin.SimpleListFilter):
    """The verbs that the trail holds."""

    title = "verb"
    parameter_name = "verb"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        verbs = Entry.objects.order_by("verb").values_list("verb", flat=True).distinct()
        return [(verb, verb) for verb in verbs]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(verb=self.value()) if self.value() else queryset


@admin.register(Entry)
class EntryAdmin(ObjectAdmin):
    """Who did what, to what, why, from where, and with which result."""

    list_display = ("time", "who", "verb", "about", "shown_result", "reason", "customer")
    list_filter = ("result", VerbFilter, "is_sample", ("at", admin.DateFieldListFilter))
    search_fields = (
        "actor_name",
        "verb",
        "object_name",
        "object_id",
        "customer_endl_id",
        "reason",
        "request_id",
    )
    search_help_text = "Person, verb, object, customer, reason or reference"
    ordering = ("-id",)
    hides_history = True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        if response.status_code == 200:
            record("audit.look", by=the_person(request), new={"filters": _filters(request)})
        return response

    def object_page(self, request: HttpRequest, obj: Entry, bound: Any = None) -> HttpResponse:
        record("audit.look", obj, by=the_person(request))
        return super().object_page(request, obj, bound)

    @display(description="When", ordering="id")
    def time(self, entry: Entry) -> Any:
        return when(entry.at)

    @display(description="Who", ordering="actor_name")
    def who(self, entry: Entry) -> Any:
        if not entry.is_sample:
            return name(entry.actor_name)
        return format_html("{} {}", name(entry.actor_name), badge("sample", tone="quiet"))

    @display(description="Object", ordering="object_type")
    def about(self, entry: Entry) -> Any:
        return link_by_name(entry.object_type, entry.object_id, entry.object_name)

    @display(description="Customer", ordering="customer_endl_id")
    def customer(self, entry: Entry) -> Any:
        return code(entry.customer_endl_id)

    @display(description="Result", ordering="result")
    def shown_result(self, entry: Entry) -> Any:
        return _result(entry)

    def badge_of(self, obj: Entry) -> Any:
        return _result(obj)

    def panels(self, request: HttpRequest, obj: Entry) -> Iterable[Panel]:
        yield Panel(
            "What happened",
            [
                Fact("When", when(obj.at)),
                Fact("Who", name(obj.actor_name)),
                Fact("Did", code(obj.verb)),
                Fact("To", self.about(obj) if _may_open(obj, request) else name(obj.object_name)),
                Fact("Customer", code(obj.customer_endl_id)),
                Fact("Why", obj.reason),
                Fact("Answer", obj.new.get("sentence", "") if obj.result == Entry.Result.REFUSED else ""),
            ],
        )
        yield Panel("From where", list(_origin(obj)))
        yield Panel("What changed", table=_changes(obj), empty="No values were noted.")


def _filters(request: HttpRequest) -> dict[str, str]:
    """What was looked for. A card number that somebody typed into the search goes no further."""
    return {
        key[:60]: "(not kept)" if holds_card_number(value) else value[:200]
        for key, value in request.GET.dict().items()
    }


def _result(entry: Entry) -> Any:
    return badge(entry.result, entry.get_result_display(), tone=_TONES.get(Entry.Result(entry.result), "odd"))


def _origin(entry: Entry) -> Iterable[Fact]:
    age = entry.factor_age_seconds
    factor = {"mfa": "Second factor", "password": "Password"}.get(entry.factor, "None")
    yield Fact("Reference", code(entry.request_id))
    yield Fact("Address", code(entry.address))
    yield Fact("Session", code(entry.session), "A fingerprint; it lets nobody in." if entry.session else "")
    yield Fact("Last proof", factor, "" if age is None else f"{age} s before")
    if entry.is_sample:
        yield Fact("Sample", "Made up for practice; the act never happened.")


def _changes(entry: Entry) -> Table:
    keys = [*entry.old, *(key for key in entry.new if key not in entry.old)]
    rows = [(key.replace("_", " "), _shown(entry.old, key), _shown(entry.new, key)) for key in keys]
    return Table(("Value", "Before", "After"), rows)


def _shown(values: dict[str, Any], key: str) -> Any:
    return code(str(values[key])) if key in values else NOTHING


def _may_open(entry: Entry, request: HttpRequest) -> bool:
    try:
        model = apps.get_model(entry.object_type)
    except (LookupError, ValueError):
        return False
    return visible(model, request).filter(pk=entry.object_id).exists()
