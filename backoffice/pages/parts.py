"""The parts of a page: facts, panels, tables, badges, money and times. Nothing here trusts its input."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.forms import Form
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

NOTHING = "—"

# The tone of a state: how a badge is coloured. What is not here came from Endl and is not recognised.
TONES = {
    "requested": "wait", "approved": "go", "sending": "go", "submitted": "go", "pending": "wait",
    "completed": "good", "issued": "good", "registered": "good", "active": "good", "handled": "good",
    "failed": "bad", "refused": "bad", "rejected": "bad", "details_lost": "bad", "missing": "bad",
    "unknown": "alarm", "cancelled": "quiet", "expired": "quiet", "used": "quiet", "disabled": "quiet",
    "unreviewed": "wait", "received": "wait", "waiting": "wait", "unknown_type": "quiet",
    "done": "good", "started": "wait", "answered": "good", "unclear": "alarm", "not_sent": "wait",
    "throttled": "wait", "paused": "wait",
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One line of a panel: a label and what there is to say."""

    label: str
    value: Any
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under headers; cells are text or safe HTML. `numeric` names the columns that align right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numeric: Sequence[int] = ()


@dataclass(frozen=True)
class Panel:
    """A titled part of a page.

    Attributes:
        empty: what to say when there are neither facts nor rows.
        more: a link to the whole list, as (text, url).
        template: a template of its own, rendered with `context`, for what facts and tables cannot say.
    """

    title: str
    facts: Sequence[Fact] = ()
    table: Table | None = None
    note: str = ""
    empty: str = ""
    more: tuple[str, str] | None = None
    template: str = ""
    context: dict[str, Any] = field(default_factory=dict)


def _nothing(_given: dict[str, Any]) -> str:
    """What an act does whose form stands elsewhere."""
    raise LookupError("This act is done on a page of its own.")


@dataclass(frozen=True)
class Act:
    """Something that a person can do with an object: always a POST.

    Attributes:
        name: the last part of its URL.
        label: what the button says.
        do: does it, given the form's cleaned data, and returns the sentence to show.
        form: asks for what the act needs; without one the button acts at once.
        why_not: why the button is off; blank when it is on. The operation checks again.
        is_embedded: whether the form stands on the object's page rather than on one of its own.
        hides_when_off: whether an act that is off is left out, rather than shown with its reason.
        tone: "primary", "danger" or "plain".
        lead: a sentence above the form.
        href: the page whose form does it, for an act that makes something new.
    """

    name: str
    label: str
    do: Callable[[dict[str, Any]], str] = _nothing
    form: type[Form] | None = None
    why_not: str = ""
    is_embedded: bool = False
    hides_when_off: bool = False
    tone: str = "plain"
    lead: str = ""
    href: str = ""

    @property
    def opens_a_page(self) -> bool:
        """Whether its button leads to a form. A template cannot ask for `form`: it would call the class."""
        return self.form is not None or bool(self.href)


def badge(state: str, label: str = "", *, tone: str = "") -> SafeString:
    """A state as a badge. Its name stands in `data-state`, whatever the label says."""
    shown = label or state.replace("_", " ").capitalize() or "No status"
    return format_html(
        '<span class="badge badge-{}" data-state="{}">{}</span>',
        tone or TONES.get(state, "odd"),
        state,
        shown,
    )


def endl_status(status: str, known: frozenset[str]) -> SafeString:
    """A status of Endl's as it came, marked where it is not one that we know."""
    if status in known:
        return badge(status)
    shown = status or "no status"
    return format_html(
        '<span class="badge badge-odd" data-state="{}" title="Endl sent a status that is not documented">'
        "{} · not recognised</span>",
        status,
        shown,
    )


def money(amount: str, currency: str) -> SafeString:
    """An amount with its currency, right-aligned by the style sheet."""
    if not amount:
        return SafeString(NOTHING)
    return format_html(
        '<span class="money">{} <span class="currency">{}</span></span>', grouped(amount), currency
    )


def grouped(amount: str) -> str:
    """A plain decimal number with its thousands set apart; anything else as it came."""
    whole, point, places = amount.partition(".")
    digits = whole.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return amount
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(digits):,}{point}{places}" if digits == str(int(digits)) else amount


def dollars(cents: int | None) -> SafeString:
    """US cents as dollars."""
    if cents is None:
        return SafeString(NOTHING)
    return money(f"{cents // 100:,}.{cents % 100:02d}", "USD")


def when(moment: datetime | None) -> SafeString:
    """A time with its zone, readable by people and machines."""
    if moment is None:
        return SafeString(NOTHING)
    local = timezone.localtime(moment)
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), f"{local:%Y-%m-%d %H:%M:%S %Z}")


def code(text: str) -> SafeString:
    """An id, a hash or bytes, in a face where every character can be told apart."""
    return format_html('<code class="code">{}</code>', text) if text else SafeString(NOTHING)


def name(text: str) -> SafeString:
    """A name that somebody else wrote: isolated, so that it cannot turn the direction of the page."""
    return format_html("<bdi>{}</bdi>", text) if text else SafeString(NOTHING)


def link(obj: Any, text: str = "") -> SafeString:
    """A link to an object's own page."""
    if obj is None:
        return SafeString(NOTHING)
    return format_html('<a class="link" href="{}"><bdi>{}</bdi></a>', page_of(obj), text or str(obj))


def url_of(obj: Any, name: str) -> str:
    """The URL of something about an object: "change" for its page, else the name of an act."""
    return reverse(f"admin:{obj._meta.app_label}_{obj._meta.model_name}_{name}", args=(obj.pk,))


def page_of(obj: Any) -> str:
    """The URL of an object's own page."""
    return url_of(obj, "change")
