"""The pages of webhook events: what Endl told by itself, and what came of it."""

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.connections import open_endl
from backoffice.delivery import bell, unknown
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, code, link, name, when
from cards import scope
from cards.models import Customer
from funding import replaying, tasks
from funding.models import Deposit, WebhookEvent


@admin.register(WebhookEvent)
class WebhookEventAdmin(ObjectAdmin):
    """Events as they came; a task handles them, and people can have one handled again."""

    is_live = True
    act_names = ("replay", "preview")
    list_display = (
        "shown_type",
        "shown_state",
        "object_endl_id",
        "received",
        "deliveries",
        "conflict",
        "outcome",
    )
    list_filter = ("state", "type", "has_conflict")
    search_fields = ("event_id", "object_endl_id", "customer_endl_id")
    ordering = ("-received_at", "-id")

    def scoped(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the person's customers; whoever works for all sees those of unknown customers too."""
        person = the_person(request)
        if scope.sees_all(person):
            return rows
        mine = scope.customers_for(person)
        return rows.filter(
            Q(customer_endl_id__in=mine.values("endl_id"))
            | Q(object_endl_id__in=Deposit.objects.filter(customer__in=mine).values("endl_id"))
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Type", ordering="type")
    def shown_type(self, event: WebhookEvent) -> Any:
        return name(event.type or "no type")

    @display(description="State", ordering="state")
    def shown_state(self, event: WebhookEvent) -> Any:
        return badge(event.state, event.get_state_display())

    @display(description="Received", ordering="received_at")
    def received(self, event: WebhookEvent) -> Any:
        return when(event.received_at)

    @display(description="Conflict", boolean=True, ordering="has_conflict")
    def conflict(self, event: WebhookEvent) -> bool:
        return event.has_conflict

    def badge_of(self, obj: WebhookEvent) -> Any:
        return badge(obj.state, obj.get_state_display())

    def is_under_way(self, obj: WebhookEvent) -> bool:
        return obj.state == WebhookEvent.State.RECEIVED

    def acts(self, request: HttpRequest, obj: WebhookEvent) -> Iterable[Act]:
        person = the_person(request)
        if obj.state != WebhookEvent.State.UNKNOWN_TYPE:
            yield Act("preview", "What would this change?", partial(_preview, obj, person))
        if obj.state != WebhookEvent.State.UNKNOWN_TYPE and person.has_perm(unknown.PERMISSION):
            yield Act("replay", "Replay", partial(_replay, obj, person))

    def panels(self, request: HttpRequest, obj: WebhookEvent) -> Iterable[Panel]:
        yield Panel("Event", list(_facts(obj)))
        yield Panel("Handling", list(_handling(obj)))
        text = json.dumps(obj.data, indent=2, ensure_ascii=False, sort_keys=True)
        yield Panel("Its data", template="office/payload.html", context={"payload": text})


def _replay(event: WebhookEvent, person: User, _given: dict[str, Any]) -> str:
    replaying.replay(event=event, by=person, now=timezone.now())
    bell.ring(tasks.HANDLE_EVENT, event.pk)
    return "It is handled once more, within seconds."


def _preview(event: WebhookEvent, person: User, _given: dict[str, Any]) -> str:
    # A person waits for this answer: one try, and the page says so when Endl does not answer.
    endl = open_endl(retries=0)
    changes = replaying.would_change(event, endl=endl, by=person, now=timezone.now())
    return " ".join(changes) or "Nothing would change: we have what Endl has."


def _facts(event: WebhookEvent) -> Iterable[Fact]:
    yield Fact("Type", name(event.type))
    yield Fact("Event id", code(event.event_id))
    yield Fact("Deposit", _object(event))
    yield Fact("Customer", _customer(event))
    yield Fact("Received", when(event.received_at))
    yield Fact("Deliveries", str(event.deliveries), "The same event again changes nothing.")
    if event.has_conflict:
        hint = "The same id came again with other content. The first counts; ask Endl about it."
        yield Fact("Conflict", badge("unknown", "Conflict"), hint)
    yield Fact("SHA-256 of the body", code(event.raw_sha256))


def _handling(event: WebhookEvent) -> Iterable[Fact]:
    yield Fact("State", badge(event.state, event.get_state_display()))
    yield Fact("Outcome", event.outcome)
    yield Fact("Attempts", str(event.attempts))
    yield Fact("Handled", when(event.handled_at))
    if event.state == WebhookEvent.State.RECEIVED:
        yield Fact("Next try", when(event.next_attempt_at) if event.next_attempt_at else "At once")
    if event.state == WebhookEvent.State.WAITING:
        yield Fact("Next try", "As soon as its customer or deposit is known here")


def _object(event: WebhookEvent) -> Any:
    known = Deposit.objects.filter(endl_id=event.object_endl_id).first()
    return link(known) if known else code(event.object_endl_id)


def _customer(event: WebhookEvent) -> Any:
    known = Customer.objects.filter(endl_id=event.customer_endl_id).first()
    return link(known) if known else code(event.customer_endl_id)
