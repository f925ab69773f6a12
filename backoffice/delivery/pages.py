"""What the page of every kind of request shows: its state, its way, its bytes and its decisions."""

import json
from typing import Any

from backoffice.approvals.models import Approval
from backoffice.delivery.models import Attempt, Request, State
from backoffice.pages.parts import Fact, Panel, Table, badge, code, when


def state_badge(request: Request) -> Any:
    """The state as a badge, with its name in `data-state`."""
    return badge(request.state, request.get_state_display())


def outcome_panel(request: Request) -> Panel | None:
    """What Endl said and what to do, where it said something."""
    if not request.outcome_message and not request.outcome_code:
        return None
    title = "Endl said" if request.state in (State.REFUSED, State.DETAILS_LOST) else "What is known"
    facts = [Fact("Reason", request.outcome_message or "No reason was given.")]
    if request.outcome_remedy:
        facts.append(Fact("What to do", request.outcome_remedy))
    if request.outcome_field:
        facts.append(Fact("Field", code(request.outcome_field)))
    if request.outcome_code:
        facts.append(Fact("Endl's code", code(request.outcome_code)))
    if request.outcome_request_id:
        facts.append(Fact("Endl's request id", code(request.outcome_request_id)))
    return Panel(title, facts)


def unknown_panel(request: Request) -> Panel | None:
    """For an unknown outcome: what was sent, with which key, and what happens next."""
    if request.state != State.UNKNOWN:
        return None
    following = (
        "A person finds out from Endl what became of it."
        if request.needs_person
        else "The same bytes are sent again with the same key, which Endl answers without doing it twice."
    )
    return Panel(
        "It may have happened",
        [
            Fact("Unclear since", when(request.unclear_at)),
            Fact("First sent", when(request.first_attempt_at)),
            Fact("Key", code(request.idempotency_key)),
            Fact("What happens next", following),
            Fact("Next try", when(request.next_attempt_at)),
        ],
    )


def sent_panel(request: Request) -> Panel:
    """Exactly what is sent, to the byte."""
    try:
        body = json.dumps(json.loads(bytes(request.body)), indent=2, ensure_ascii=False)
    except ValueError:
        body = bytes(request.body).decode(errors="replace")
    return Panel(
        "What is sent",
        [
            Fact("Request", code(f"POST {request.path}")),
            Fact("To", code(request.base_url)),
            Fact("Idempotency key", code(request.idempotency_key)),
        ],
        template="office/body.html",
        context={"body": body, "bytes": len(bytes(request.body))},
    )


def decisions_panel(approval: Approval | None) -> Panel | None:
    """Who decided what, when and why; or the rule that needed nobody."""
    if approval is None:
        return None
    if approval.is_by_rule:
        return Panel(
            "Approval", [Fact("Approved by rule", approval.rule), Fact("At", when(approval.decided_at))]
        )
    rows = [
        (
            str(made.person),
            badge(_TONE[made.verdict], made.get_verdict_display()),
            when(made.made_at),
            made.reason,
        )
        for made in approval.decisions.select_related("person")
    ]
    facts = [Fact("State", badge(approval.state, approval.get_state_display()))]
    if approval.good_until:
        facts.append(
            Fact("Good until", when(approval.good_until), "then it expires, unless it was sent before")
        )
    return Panel(
        "Approval", facts, Table(("Who", "Decision", "When", "Reason"), rows), empty="Nobody has decided yet."
    )


_TONE = {"approve": "approved", "reject": "rejected"}


def attempts_panel(request: Request) -> Panel:
    """Each try to send it."""
    attempts = Attempt.objects.filter(kind=request.kind, request_id=request.pk).order_by("number")
    rows = [
        (attempt.number, when(attempt.started_at), badge(attempt.outcome, attempt.get_outcome_display()),
         attempt.http_status or "—", attempt.endl_code or "—", attempt.message,
         "—" if attempt.duration_ms is None else f"{attempt.duration_ms} ms")
        for attempt in attempts
    ]  # fmt: skip
    headers = ("No.", "Started", "Outcome", "HTTP", "Endl's code", "Message", "Took")
    return Panel("Attempts", table=Table(headers, rows, numeric=(0, 6)), empty="Nothing was sent yet.")
