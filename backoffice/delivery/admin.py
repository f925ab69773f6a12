"""The road to Endl, looked at: attempts, pauses, and the line itself."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from unfold.decorators import display

from backoffice.delivery import hold_admin, line_admin  # noqa: F401  (register their pages)
from backoffice.delivery.models import Alert, Attempt, Pause, Request
from backoffice.navigation import link_by_name, visible
from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, code, link, name, when


def kinds_of_requests() -> dict[str, type[Request]]:
    """The kinds of requests that the applications have, by their word."""
    return {model.kind: model for model in apps.get_models() if issubclass(model, Request)}


@admin.register(Attempt)
class AttemptAdmin(ObjectAdmin):
    """Every try to send something, for requests that the person may open."""

    list_display = ("what", "number", "shown_outcome", "http_status", "endl_code", "took", "started")
    list_filter = ("outcome", "kind", ("started_at", admin.DateFieldListFilter))
    search_fields = ("endl_request_id", "endl_code", "message")
    ordering = ("-started_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def scoped(self, request: HttpRequest, rows: QuerySet[Attempt]) -> QuerySet[Attempt]:
        mine = Q(pk=None)
        for kind, model in kinds_of_requests().items():
            mine |= Q(kind=kind, request_id__in=visible(model, request).values("pk"))
        return rows.filter(mine)

    @display(description="Request", ordering="request_id")
    def what(self, attempt: Attempt) -> str:
        return f"{attempt.kind.replace('_', ' ').capitalize()} {attempt.request_id}"

    @display(description="Outcome", ordering="outcome")
    def shown_outcome(self, attempt: Attempt) -> Any:
        return badge(attempt.outcome, attempt.get_outcome_display())

    @display(description="Took", ordering="duration_ms")
    def took(self, attempt: Attempt) -> str:
        return "—" if attempt.duration_ms is None else f"{attempt.duration_ms} ms"

    @display(description="Started", ordering="started_at")
    def started(self, attempt: Attempt) -> Any:
        return when(attempt.started_at)

    def badge_of(self, obj: Attempt) -> Any:
        return self.shown_outcome(obj)

    def panels(self, request: HttpRequest, obj: Attempt) -> Iterable[Panel]:
        yield Panel(
            "Attempt",
            [
                Fact("Request", link(_request_of(obj))),
                Fact("Number", obj.number),
                Fact("Started", when(obj.started_at)),
                Fact("Ended", when(obj.ended_at)),
                Fact("Took", self.took(obj)),
            ],
        )
        yield Panel(
            "What Endl said",
            [
                Fact("HTTP status", obj.http_status),
                Fact("Endl's code", code(obj.endl_code)),
                Fact("Message", obj.message),
                Fact("Endl's request id", code(obj.endl_request_id)),
            ],
        )


@admin.register(Pause)
class PauseAdmin(ObjectAdmin):
    """When and why nothing was sent. A pause ends by itself, once Endl answers again."""

    list_display = ("scope", "message", "code", "started", "ended", "lifted_by")
    list_filter = ("scope", ("since", admin.DateFieldListFilter))
    search_fields = ("message", "code")
    ordering = ("-since",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Since", ordering="since")
    def started(self, pause: Pause) -> Any:
        return when(pause.since)

    @display(description="Until", ordering="lifted_at")
    def ended(self, pause: Pause) -> Any:
        return when(pause.lifted_at) if pause.lifted_at else badge("paused", "Still paused", tone="alarm")

    def badge_of(self, obj: Pause) -> Any:
        return (
            badge("lifted", tone="good") if obj.lifted_at else badge("paused", "Still paused", tone="alarm")
        )

    def panels(self, request: HttpRequest, obj: Pause) -> Iterable[Panel]:
        yield Panel(
            "Pause",
            [
                Fact("What is paused", obj.get_scope_display()),
                Fact("Why", obj.message),
                Fact("What to do", obj.remedy),
                Fact("Endl's code", code(obj.code)),
                Fact("Since", when(obj.since)),
                Fact("Last tried", when(obj.last_try_at)),
                Fact("Until", self.ended(obj)),
                Fact("Ended by", obj.lifted_by),
            ],
            note="It ends by itself when Endl answers again. An administrator can have it tried at once.",
            more=("Line to Endl", reverse("admin:delivery_line_changelist")),
        )


class StillOpen(admin.SimpleListFilter):
    """Open alerts first of all."""

    title = "state"
    parameter_name = "is"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Open"), ("cleared", "Cleared")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Alert]) -> QuerySet[Alert]:
        if self.value() not in ("open", "cleared"):
            return queryset
        return queryset.filter(cleared_at__isnull=self.value() == "open")


@admin.register(Alert)
class AlertAdmin(ObjectAdmin):
    """What a person has to look at. An alert clears itself when its cause is gone."""

    list_display = ("shown_object", "message", "state", "started", "customer")
    list_filter = (StillOpen, "kind", ("since", admin.DateFieldListFilter))
    search_fields = ("object_name", "object_id", "message", "customer_endl_id")
    ordering = ("-since",)
    empty_words = "Nothing is wrong that a person would have to look at."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def scoped(self, request: HttpRequest, rows: QuerySet[Alert]) -> QuerySet[Alert]:
        mine = visible(apps.get_model(settings.CUSTOMER_MODEL), request)
        return rows.filter(Q(customer_endl_id="") | Q(customer_endl_id__in=mine.values("endl_id")))

    @display(description="About", ordering="object_name")
    def shown_object(self, alert: Alert) -> Any:
        return name(alert.object_name)

    @display(description="State", ordering="cleared_at")
    def state(self, alert: Alert) -> Any:
        return badge("cleared", tone="quiet") if alert.cleared_at else badge("open", tone="alarm")

    @display(description="Since", ordering="since")
    def started(self, alert: Alert) -> Any:
        return when(alert.since)

    @display(description="Customer", ordering="customer_endl_id")
    def customer(self, alert: Alert) -> Any:
        return code(alert.customer_endl_id)

    def badge_of(self, obj: Alert) -> Any:
        return self.state(obj)

    def panels(self, request: HttpRequest, obj: Alert) -> Iterable[Panel]:
        facts = [
            Fact("About", link_by_name(obj.object_type, obj.object_id, obj.object_name)),
            Fact("What is wrong", obj.message),
            Fact("Since", when(obj.since)),
            Fact(
                "Cleared",
                when(obj.cleared_at),
                "" if obj.cleared_at else "It clears itself when its cause is gone.",
            ),
            Fact("Customer", code(obj.customer_endl_id)),
        ]
        yield Panel("Alert", facts)


def _request_of(attempt: Attempt) -> Request | None:
    model = kinds_of_requests().get(attempt.kind)
    return model._default_manager.filter(pk=attempt.request_id).first() if model else None
