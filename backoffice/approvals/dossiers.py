"""The dossier of a request: all that helps to decide on it, as plain data.

It is built anew whenever somebody looks, and frozen at each decision. It is no part of what is approved.
"""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from backoffice.approvals import checks, surroundings
from backoffice.approvals.books import Book, all_books, book_of
from backoffice.approvals.models import Approval, Comment, Decision, Dossier
from backoffice.approvals.surroundings import FIRST_FEW, Habit
from backoffice.approvals.usual import Usual
from backoffice.audit.models import Entry
from backoffice.money import plain

_MOST_ENTRIES = 30
Content = dict[str, Any]


def build(approval: Approval, *, now: datetime) -> Content:
    """Everything that is known around an approval now, as plain values that JSON can hold.

    An approval that its request has left (drawn up anew since) tells its decisions and comments alone.
    """
    content = {
        "made_at": now.isoformat(),
        "approval": approval.pk,
        "kind": approval.kind,
        "summary": approval.summary,
        "hash": approval.facts_hash,
        **_decided(approval),
        "comments": _comments(approval),
    }
    book = _book_of(approval.kind)
    request = book.request_of(approval.pk) if book is not None else None
    return content if book is None or request is None else content | _around(approval, book, request, now)


def freeze(approval: Approval, decision: Decision) -> None:
    """Keep what there was to see when a decision was made, in its transaction. A decision's witness."""
    Dossier.objects.create(decision=decision, content=build(approval, now=decision.made_at))


def _book_of(kind: str) -> Book | None:
    return book_of(kind) if any(book.kind == kind for book in all_books()) else None


def _around(approval: Approval, book: Book, request: Any, now: datetime) -> Content:
    wish, tells = book.wish_of(request), checks.tells_of(request)
    habits = surroundings.habits(wish, now=now)
    graded = checks.checks_of(approval, book, request, habits=habits, tells=tells, now=now)
    return {
        "amount": plain(wish.amount),
        "currency": wish.currency,
        "maker": str(request.maker),
        "sent": _sent(request),
        "parties": [{"label": each.label, "value": each.value, "hint": each.hint} for each in tells.parties],
        "checks": [{"name": each.name, "grade": each.grade, "sentence": each.sentence} for each in graded],
        "usual": list(_usual(habits)),
        "alike": _alike(book, wish, now),
        "unsent": [
            {
                "kind": each.kind,
                "currency": each.currency,
                "count": each.count,
                "total": plain(each.total),
                "oldest": each.oldest.isoformat(),
            }
            for each in surroundings.unsent(wish.customer, beside=wish)
        ],
        "history": _history(request),
    }


def _sent(request: Any) -> Content:
    body = bytes(request.body)
    return {
        "method": "POST",
        "path": request.path,
        "to": request.base_url,
        "idempotency_key": request.idempotency_key,
        "body": _readable(body),
        "bytes": len(body),
        "body_sha256": hashlib.sha256(body).hexdigest(),
    }


def _readable(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body, parse_float=Decimal), indent=2, ensure_ascii=False, default=str)
    except ValueError:
        return body.decode(errors="replace")


def _usual(habits: Iterable[Habit]) -> Iterable[Content]:
    for habit in habits:
        for span in habit.spans:
            yield {"of": habit.word, **_span(span)}


def _span(span: Usual) -> Content:
    return {
        "days": span.days,
        "count": span.count,
        "median": _text(span.median),
        "p95": _text(span.p95),
        "total": plain(span.total),
    }


def _text(amount: Decimal | None) -> str:
    return "" if amount is None else plain(amount)


def _alike(book: Book, wish: Any, now: datetime) -> list[Content]:
    rows = surroundings.alike(wish, now=now).select_related("maker", *book.select[:1])[:FIRST_FEW]
    return [
        {
            "summary": book.summary(row),
            "maker": str(row.maker),
            "at": row.created_at.isoformat(),
            "state": row.get_state_display(),
        }
        for row in rows
    ]


def _decided(approval: Approval) -> Content:
    decisions = [
        {
            "person": str(made.person),
            "verdict": made.verdict,
            "word": made.get_verdict_display(),
            "step": made.step,
            "reason": made.reason,
            "at": made.made_at.isoformat(),
        }
        for made in approval.decisions.select_related("person").order_by("made_at")
    ]
    steps = [
        {
            "number": step.number,
            "people": step.people,
            "role": step.role,
            "given": sum(made["step"] == step.number and made["verdict"] == "approve" for made in decisions),
        }
        for step in approval.steps.all()
    ]
    return {"rule": approval.rule, "rules_version": approval.policy_version, "steps": steps,
            "decisions": decisions}  # fmt: skip


def _comments(approval: Approval) -> list[Content]:
    return [
        {"person": str(each.person), "text": each.text, "at": each.made_at.isoformat()}
        for each in comments_of(approval)
    ]


def comments_of(approval: Approval) -> QuerySet[Comment]:
    """What was written about a request, on the approvals that this one replaced as well."""
    return Comment.objects.filter(approval__in=_line_of(approval)).select_related("person")


def _line_of(approval: Approval) -> list[int]:
    line, older = [approval.pk], approval.replaces_id
    while older is not None and older not in line:
        line.append(older)
        older = Approval.objects.values_list("replaces", flat=True).get(pk=older)
    return line


def _history(request: Any) -> list[Content]:
    entries = Entry.objects.filter(object_type=request._meta.label_lower, object_id=str(request.pk))
    return [
        {
            "at": entry.at.isoformat(),
            "by": entry.actor_name,
            "verb": entry.verb,
            "result": entry.result,
            "reason": entry.reason,
        }
        for entry in entries.order_by("-at")[:_MOST_ENTRIES]
    ]
