"""What tests of approvals do over and over: put rules into force, decide, ask for much."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from backoffice.access.models import User
from backoffice.approvals import changes, policies
from backoffice.approvals.models import Approval, RuleSet
from backoffice.approvals.rules import Rule
from backoffice.audit.models import Entry
from cards import issuing
from cards.models import CardOrder
from funding import deposits
from tests.wishes import approval_of


def rules_become(held: Sequence[Rule], *, by: User, agreed_by: User, now: datetime) -> RuleSet:
    """Let two administrators put these rules into force."""
    change = changes.propose(proposed=held, base=policies.active(), reason="A test", by=by, now=now)
    return changes.agree(change=change, seen=change.proposed_hash, by=agreed_by, now=now)


def approve(request: Any, by: User, now: datetime, seen: str | None = None) -> Any:
    """Approve as this person, having seen what is there unless told otherwise."""
    request = type(request).objects.get(pk=request.pk)
    seen = approval_of(request).facts_hash if seen is None else seen
    if isinstance(request, CardOrder):
        return issuing.approve_order(request=request, by=by, seen=seen, now=now)
    return deposits.approve_deposit(request=request, by=by, seen=seen, now=now)


def refusals(verb: str = "deposit.approve") -> list[str]:
    """The kinds of refusals on record, oldest first."""
    rows = Entry.objects.filter(verb=verb, result=Entry.Result.REFUSED).order_by("id")
    return [row.new["refusal"] for row in rows]


def steps(approval: Approval) -> list[tuple[int, str]]:
    """The steps as (people, role)."""
    return [(step.people, step.role) for step in approval.steps.all()]
