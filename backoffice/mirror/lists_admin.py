"""When each list was last read, and which reads Endl lacks: looked at, never written by hand."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.mirror.models import Pull, Read
from backoffice.navigation import visible
from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, code, when


@admin.register(Pull)
class PullAdmin(ObjectAdmin):
    """One row for each list of each customer that the person works for."""

    list_display = ("what", "customer", "state", "confirmed", "items", "unreadable", "trouble")
    list_filter = ("kind",)
    search_fields = ("customer_endl_id", "trouble")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def scoped(self, request: HttpRequest, rows: QuerySet[Pull]) -> QuerySet[Pull]:
        mine = visible(apps.get_model(settings.CUSTOMER_MODEL), request)
        return rows.filter(customer_endl_id__in=mine.values("endl_id"))

    @display(description="List", ordering="kind")
    def what(self, pull: Pull) -> str:
        return pull.kind.replace("_", " ").capitalize()

    @display(description="Customer", ordering="customer_endl_id")
    def customer(self, pull: Pull) -> Any:
        return code(pull.customer_endl_id)

    @display(description="State")
    def state(self, pull: Pull) -> Any:
        if pull.trouble:
            return badge("failed", "Trouble")
        return badge("confirmed", tone="good") if pull.confirmed_at else badge("waiting", "Not read yet")

    @display(description="Last confirmed", ordering="confirmed_at")
    def confirmed(self, pull: Pull) -> Any:
        return when(pull.confirmed_at)

    def badge_of(self, obj: Pull) -> Any:
        return self.state(obj)

    def panels(self, request: HttpRequest, obj: Pull) -> Iterable[Panel]:
        yield Panel(
            "Sync",
            [
                Fact("List", self.what(obj)),
                Fact("Customer", code(obj.customer_endl_id)),
                Fact("Last started", when(obj.started_at)),
                Fact("Last confirmed", when(obj.confirmed_at), "The whole list was read then."),
                Fact("Objects", obj.items),
                Fact("Could not be read", obj.unreadable, "Left out, and kept as they were."),
                Fact("Trouble", obj.trouble),
                Fact("Trouble since", when(obj.trouble_at)),
            ],
        )


@admin.register(Read)
class ReadAdmin(ObjectAdmin):
    """The reads that Endl's documents do not mention, once one of them was found missing."""

    list_display = ("shown_name", "state", "since", "why", "tried")
    search_fields = ("name", "why")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Read", ordering="name")
    def shown_name(self, read: Read) -> str:
        return read.name.replace("_", " ").capitalize()

    @display(description="State")
    def state(self, read: Read) -> Any:
        return badge("off", tone="wait") if read.off_since else badge("on", tone="good")

    @display(description="Off since", ordering="off_since")
    def since(self, read: Read) -> Any:
        return when(read.off_since)

    @display(description="Last tried", ordering="tried_at")
    def tried(self, read: Read) -> Any:
        return when(read.tried_at)

    def badge_of(self, obj: Read) -> Any:
        return self.state(obj)

    def panels(self, request: HttpRequest, obj: Read) -> Iterable[Panel]:
        facts = [
            Fact("Read", self.shown_name(obj)),
            Fact("Off since", when(obj.off_since)),
            Fact("Why", obj.why),
            Fact("Last tried", when(obj.tried_at), "It is tried again daily."),
        ]
        yield Panel("Assumed read", facts)
