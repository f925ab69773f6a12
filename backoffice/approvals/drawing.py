"""Drawing up an approval by the active rules, and drawing it up anew when they ask for more."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from backoffice.approvals import policies, rules
from backoffice.approvals.books import Book, book_of
from backoffice.approvals.facts import good_until, hash_of
from backoffice.approvals.models import Approval, RuleSet, Step
from backoffice.approvals.rules import Asked, Figures
from backoffice.audit.trail import record

State = Approval.State


def draw(request: Any, *, now: datetime) -> Approval:
    """Draw up the approval of a new request by the active rules, to be saved with it.

    Holds the lock on the rules until the transaction ends, so that two requests at once both count for
    running totals. Gives the request its approval; the facts are built from it.
    """
    return _draw(book_of(request.kind), request, policies.lock_active(), now)


def _draw(book: Book, request: Any, rule_set: RuleSet, now: datetime) -> Approval:
    wish = book.wish_of(request)
    asked, figures = _asked(book, request, rule_set)
    steps = [
        Step(number=number, people=step.people, role=step.role, permission=book.roles[step.role])
        for number, step in enumerate(asked.steps, 1)
    ]
    approval = Approval(
        kind=book.kind,
        summary=book.summary(request)[:200],
        customer_endl_id=wish.customer,
        maker=request.maker,
        amount=wish.amount,
        currency=wish.currency,
        rule_set=rule_set,
        policy_version=str(rule_set.version),
        rule=asked.rule,
        figures=figures_as_json(figures),
        needed=asked.people,
        permission=steps[0].permission if steps else next(iter(book.roles.values())),
        created_at=now,
        step_since=now,
        **({} if steps else _granted(now)),
    )
    approval.draw_steps(steps)
    request.approval = approval
    approval.facts = book.facts(request)
    approval.facts_hash = hash_of(approval.facts)
    return approval


def _asked(book: Book, request: Any, rule_set: RuleSet) -> tuple[Asked, Figures]:
    """What a rule set asks for a request, and the figures around it as of when it was made."""
    wish, held = book.wish_of(request), policies.rules_of(rule_set)
    # Only what the rules that may fit look at: adding up costs time while everybody waits.
    figures = book.figures_of(wish, rules.windows_of(rule for rule in held if rules.fits_alone(rule, wish)))
    return rules.ask(held, wish, figures), figures


def _granted(now: datetime) -> dict[str, Any]:
    return {"state": State.APPROVED, "decided_at": now, "good_until": good_until(now)}


def figures_as_json(figures: Figures) -> dict[str, Any]:
    """Figures for the approval's column: totals by "maker, 24 h", and whether it is the first."""
    totals = {f"{of}, {hours} h": f"{total:f}" for (of, hours), total in sorted(figures.totals.items())}
    return {"totals": totals, "is_first": figures.is_first}


def save(approval: Approval) -> None:
    """Save a drawn approval with its steps."""
    steps = approval.drawn_steps
    approval.save(force_insert=True)
    for step in steps:
        step.approval = approval
    Step.objects.bulk_create(steps)


def asks_more_now(approval: Approval) -> bool:
    """Whether the active rules ask for people that this approval, drawn up under older ones, does not."""
    active = policies.active()
    if approval.rule_set_id == active.pk:
        return False
    request = book_of(approval.kind).request_of(approval.pk)
    if request is None:
        return False
    asked, _ = _asked(book_of(approval.kind), request, active)
    return rules.asks_more(asked.steps, steps_of(approval))


def steps_of(approval: Approval) -> list[rules.Step]:
    """The steps of an approval as the rules speak of them."""
    return [rules.Step(step.people, step.role) for step in approval.drawn_steps]


@transaction.atomic(durable=True)
def redraw(approval_pk: int) -> Approval | None:
    """Put a new approval, by the active rules, in the place of an open one that they ask more for.

    Nothing carries over: the hash is another one, so everybody looks again. The old approval and what was
    decided on it stay on record. Returns the new one; None where there is nothing to redraw any more.
    """
    now = timezone.now()
    active = policies.lock_active()
    old = Approval.objects.select_for_update().get(pk=approval_pk)
    book = book_of(old.kind)
    request = book.request_of(approval_pk)
    if old.state != State.PENDING or request is None or not asks_more_now(old):
        return None
    Approval.objects.filter(pk=old.pk, state=State.PENDING).update(state=State.REDRAWN, decided_at=now)
    made = _draw(book, request, active, now)
    made.replaces = old
    save(made)
    book.model._default_manager.filter(pk=request.pk).update(approval=made)
    record(
        "approval.redraw",
        request,
        by="system: rules",
        reason=f"Version {active.version} of the rules asks for more than version {old.policy_version} did.",
        old={"rule": old.rule, "people": old.needed, "hash": old.facts_hash},
        new={"rule": made.rule, "people": made.needed, "hash": made.facts_hash},
    )
    return made
