"""The line to Endl on one page: where it leads, how it is, what is switched off, and what to register."""

from collections.abc import Iterable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from backoffice import health
from backoffice.access.models import User
from backoffice.delivery import bell, line
from backoffice.delivery.models import Line, Pause
from backoffice.home import line_state, where_it_leads
from backoffice.mirror import reads
from backoffice.mirror.models import Pull, Read
from backoffice.navigation import visible
from backoffice.pages.fields import EndlId
from backoffice.pages.forms import ActForm
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, code, when
from backoffice.public_keys import public_keys

PROBE = "backoffice.delivery.tasks.probe"


class WhomToAskForm(ActForm):
    """Names a business to ask, where none has answered yet."""

    customer = EndlId(
        prefix="cus_", label="Business to ask", help_text="Its cardholders are asked for; nothing is changed."
    )


# There is one line, and its page is its list.
Line._meta.verbose_name_plural = "line to Endl"


@admin.register(Line)
class LineAdmin(ObjectAdmin):
    """One row, one page: the list leads straight to it."""

    act_names = ("try_now", "try_reads")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return the_person(request).has_perm("delivery.view_pause")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Line]:
        """The one row; made, where nobody has looked at the line yet."""
        return Line.objects.filter(pk=line.the_line().pk)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        obj = self.object_or_404(request, str(line.the_line().pk))
        return self.object_page(request, obj)

    def change_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect("admin:delivery_line_changelist")

    def after(self, request: HttpRequest, obj: Any, act: Act) -> str:
        return reverse("admin:delivery_line_changelist")

    def lead_of(self, obj: Line) -> str:
        return str(line_state(line.health())["sentence"])

    def badge_of(self, obj: Line) -> Any:
        state = line_state(line.health())["state"]
        return badge(state, tone={"paused": "alarm", "slow": "wait"}.get(state, "good"))

    def acts(self, request: HttpRequest, obj: Line) -> Iterable[Act]:
        person = the_person(request)
        if not person.has_perm("delivery.change_pause"):
            return
        paused = line.is_paused()
        yield Act(
            "try_now",
            "Try now",
            partial(_try_now, person),
            form=None if obj.probe_customer else WhomToAskForm,
            why_not="" if paused else "Nothing is paused.",
            tone="primary" if paused else "plain",
            lead="No business has answered yet. Name one that Endl knows.",
        )
        if Read.objects.exclude(off_since=None).exists():
            yield Act("try_reads", "Try the switched-off reads again", partial(_try_reads, person))

    def panels(self, request: HttpRequest, obj: Line) -> Iterable[Panel]:
        yield Panel("Connection", list(_connection()))
        yield Panel("How it is", line_state(line.health())["facts"])
        yield from _keys()
        yield _pauses()
        yield _reads()
        yield _pulls(request)


def _connection() -> Iterable[Fact]:
    yield from where_it_leads()
    yield Fact("API version", code(settings.ENDL_API_VERSION))
    key = badge("present", tone="good") if settings.ENDL_API_KEY else badge("missing")
    yield Fact("API key", key, "It is never shown.")
    if settings.ENDL_HTTP_PROXY:
        yield Fact("Through the proxy", code(urlsplit(settings.ENDL_HTTP_PROXY).hostname or ""))
    yield Fact("Webhooks", *_webhooks())
    yield Fact("Workers", *_workers())


def _webhooks() -> tuple[Any, str]:
    if settings.ENDL_WEBHOOK_SECRETS:
        scheme = settings.ENDL_WEBHOOK_SCHEME
        return badge("on", tone="good"), f"At /webhooks/endl/, signed by the {scheme} scheme."
    return badge("off", tone="wait"), "No secret is set: deposits are followed by asking Endl."


def _workers() -> tuple[Any, str]:
    """Whether the bell is heard. The sweep finds what no bell reached."""
    sweep = (
        f"Whatever happens, workers look for waiting requests every {settings.DELIVERY_SWEEP_SECONDS:.0f} s."
    )
    if health.broker() == health.FINE:
        return badge("reachable", tone="good"), sweep
    return badge("not reachable", tone="bad"), sweep


def _keys() -> Iterable[Panel]:
    keys = public_keys()
    if not keys:
        yield Panel(
            "Public key",
            note="ENDL_PRIVATE_KEY_FILES is empty here: card details cannot be opened.",
        )
    for position, key in enumerate(keys):
        title = "Public key to register with Endl" if position == 0 else f"Older public key: {key.name}"
        if key.problem:
            yield Panel(title, [Fact("File", code(key.name)), Fact("Problem", key.problem)])
            continue
        yield Panel(
            title,
            note="Endl seals card details to this key. It is no secret.",
            facts=[Fact("File", code(key.name)), Fact("Fingerprint (SHA-256)", code(key.fingerprint))],
            template="office/public_key.html",
            context={"pem": key.pem},
        )


def _pauses() -> Panel:
    rows = [
        (pause.get_scope_display(), pause.message, code(pause.code), when(pause.since),
         when(pause.lifted_at) if pause.lifted_at else badge("paused", "Still paused", tone="alarm"))
        for pause in Pause.objects.all()[:10]
    ]  # fmt: skip
    more = ("All pauses", reverse("admin:delivery_pause_changelist"))
    headers = ("What", "Why", "Endl's code", "Since", "Until")
    return Panel("Pauses", table=Table(headers, rows), empty="Nothing was ever paused.", more=more)


def _reads() -> Panel:
    known = {read.name: read for read in Read.objects.all()}
    rows = []
    for name in reads.ASSUMED:
        read = known.get(name)
        is_off = read is not None and read.off_since is not None
        state = badge("off", tone="wait") if is_off else badge("on", tone="good")
        told = (
            (when(read.off_since), read.why, when(read.tried_at))
            if read is not None and is_off
            else ("—",) * 3
        )
        rows.append((name.replace("_", " ").capitalize(), state, *told))
    return Panel(
        "Reads that Endl may lack",
        note="Endl's documents do not mention them. A missing one is switched off, and tried again daily.",
        table=Table(("Read", "State", "Off since", "Why", "Last tried"), rows),
    )


def _pulls(request: HttpRequest) -> Panel:
    pulls = visible(Pull, request).exclude(trouble="").order_by("-trouble_at")[:20]
    rows = [(pull.kind, code(pull.customer_endl_id), pull.trouble, when(pull.trouble_at)) for pull in pulls]
    more = ("All syncs", reverse("admin:mirror_pull_changelist"))
    table = Table(("List", "Customer", "Trouble", "When"), rows)
    empty = "Every list was read as it should be."
    return Panel("Syncs with trouble", table=table, empty=empty, more=more)


def _try_now(person: User, given: dict[str, Any]) -> str:
    line.ask_to_try(by=person)
    asked = given.get("customer", "")
    bell.ring(PROBE, *([asked] if asked else []))
    return (
        "Endl is being asked. If it answers, work goes on by itself; load this page again in a few seconds."
    )


def _try_reads(person: User, _given: dict[str, Any]) -> str:
    reads.ask_to_try(by=person)
    return "Each switched-off read is tried at its next use."
