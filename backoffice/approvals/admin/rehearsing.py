"""Two rule sets side by side, and what the proposed one would have done, as panels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.conf import settings

from backoffice.access.models import User
from backoffice.approvals import changes, sentences
from backoffice.approvals.changes import Difference
from backoffice.approvals.rehearsal import Moved, Rehearsal, RoleLoad
from backoffice.approvals.rules import Asked, Rule
from backoffice.approvals.sentences import Sentence
from backoffice.money import plain
from backoffice.pages.parts import Fact, Panel, Table, badge, money, name, when

_MOST_ROWS = 50
_WORDS = {"added": "Added", "removed": "Removed", "changed": "Changed", "moved": "Moved", "same": "Same"}
_TONES = {"added": "good", "removed": "bad", "changed": "wait", "moved": "go", "same": "quiet"}


@dataclass(frozen=True)
class Line:
    """A sentence of a rule, and whether the other side lacks it."""

    text: str
    is_other: bool


@dataclass(frozen=True)
class Side:
    """A rule as it stands on one side."""

    place: int
    lines: tuple[Line, ...]


def comparison_panel(old: Sequence[Rule], new: Sequence[Rule]) -> Panel:
    """Old and new side by side; what differs is marked."""
    rows = [_compared(each) for each in changes.compare(old, new)]
    return Panel(
        "Old and new, side by side", template="office/approvals/compare_panel.html", context={"rows": rows}
    )


def _compared(each: Difference) -> dict[str, Any]:
    old = sentences.told(each.old) if each.old else None
    new = sentences.told(each.new) if each.new else None
    return {
        "name": each.name,
        "badge": badge(each.word, _WORDS[each.word], tone=_TONES[each.word]),
        "old": _side(old, new, each.old_place),
        "new": _side(new, old, each.new_place),
    }


def _side(own: Sentence | None, other: Sentence | None, place: int | None) -> Side | None:
    if own is None or place is None:
        return None
    known = set(other.lines) if other else set()
    return Side(place, tuple(Line(text, text not in known) for text in own.lines))


def rehearsal_panels(told: Rehearsal) -> Iterable[Panel]:
    """What the proposed rules would have done: whom they newly catch, whom no longer, and the load."""
    yield Panel(
        "Rehearsal",
        [
            Fact("Looked at", f"{told.looked_at} requests", "each with the figures of its own time"),
            Fact("From", when(told.since)),
            Fact("Newly caught", len(told.caught), _sums(told, "caught")),
            Fact("No longer caught", len(told.freed), _sums(told, "freed")),
            Fact("Other people asked", len(told.changed), "more, fewer, or of other roles"),
        ],
        note="What these rules would have done to the last 90 days, beside what the active ones do.",
    )
    makers, customers = _names(told)
    for title, moved, empty in (
        ("Newly caught", told.caught, "Nothing that passed by itself would have been caught."),
        ("No longer caught", told.freed, "Nothing that people decided would have passed by itself."),
        ("Other people asked", told.changed, "Everything else would have asked the same people."),
    ):
        rows = [_moved(each, makers, customers) for each in moved[:_MOST_ROWS]]
        note = f"The first {_MOST_ROWS} of {len(moved)}." if len(moved) > _MOST_ROWS else ""
        headers = ("Kind", "Amount", "Customer", "By", "On", "Now", "Then")
        yield Panel(title, table=Table(headers, rows, numeric=(1,)), empty=empty, note=note)
    yield _loads(told.loads)
    yield Panel(
        "Which rule decides how often",
        table=Table(
            ("Rule", "Requests"),
            [(name(rule) if rule else "No rule fits", count) for rule, count in told.by_rule.most_common()],
            numeric=(1,),
        ),
        empty="There were no requests.",
    )


def _sums(told: Rehearsal, word: str) -> str:
    sums = [
        f"{plain(total)} {currency}" for (each, currency), total in sorted(told.sums.items()) if each == word
    ]
    return ", ".join(sums)


def _names(told: Rehearsal) -> tuple[dict[int, str], dict[str, str]]:
    shown = [each.wish for group in (told.caught, told.freed, told.changed) for each in group[:_MOST_ROWS]]
    makers = User.objects.filter(pk__in={wish.maker for wish in shown})
    model = apps.get_model(settings.CUSTOMER_MODEL)
    customers = model._default_manager.filter(endl_id__in={wish.customer for wish in shown})
    return {maker.pk: str(maker) for maker in makers}, dict(customers.values_list("endl_id", "name"))


def _moved(moved: Moved, makers: dict[int, str], customers: dict[str, str]) -> Sequence[Any]:
    wish = moved.wish
    return (
        wish.kind.replace("_", " ").capitalize(),
        money(plain(wish.amount), wish.currency),
        name(customers.get(wish.customer, wish.customer)),
        name(makers.get(wish.maker, "")),
        f"{wish.at:%Y-%m-%d}",
        _asked(moved.old),
        _asked(moved.new),
    )


def _asked(asked: Asked) -> str:
    whom = ", then ".join(f"{step.people} {step.role}" for step in asked.steps) or "nobody"
    return f"{whom} ({asked.rule or 'no rule fits'})"


def _loads(loads: Sequence[RoleLoad]) -> Panel:
    rows: list[Sequence[Any]] = []
    for load in loads:
        about = load.permission.partition("decide_")[2].replace("_", " ")
        rows.append((load.role, about, "all together", "—", load.before, load.after))
        rows += [
            (load.role, about, name(str(each.person)), each.made, f"{each.before:.1f}", f"{each.after:.1f}")
            for each in load.people
        ]
    return Panel(
        "Load per approver, in 90 days",
        note="Shared among the people of a role as they shared what they decided in that time.",
        table=Table(("Role", "About", "Who", "Decided", "Now", "Then"), rows, numeric=(3, 4, 5)),
        empty="Nobody would be asked.",
    )
