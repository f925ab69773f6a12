"""Who works for which customer: an administrator says so, and never of themselves."""

from datetime import datetime

from django.db import IntegrityError, transaction

from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from cards import scope
from cards.models import Assignment, Customer


class OwnAssignment(Refusal):
    """Nobody gives a customer to themselves."""


class AlreadyAssigned(Refusal):
    """The person works for the customer already."""


@operation("assignment.give", about="customer")
def assign(*, user: User, customer: Customer | None, by: User, now: datetime) -> Assignment:
    """Let a person work for a customer, or for every customer when none is named.

    Raises: NotAllowed, OwnAssignment, AlreadyAssigned.
    """
    scope.check(by, "cards.add_assignment")
    if user.pk == by.pk:
        raise OwnAssignment("Another administrator must do this: nobody assigns customers to themselves.")
    try:
        with transaction.atomic():
            made = Assignment.objects.create(user=user, customer=customer, given_by=by, given_at=now)
    except IntegrityError:
        raise AlreadyAssigned(f"{user} works for {customer or 'every customer'} already.") from None
    record("assignment.give", made, by=by, new=_told(made))
    return made


@operation("assignment.take_away", about="assignment")
def unassign(*, assignment: Assignment, by: User) -> None:
    """Take a customer away from a person; the trail keeps that it was theirs. Raises NotAllowed."""
    scope.check(by, "cards.delete_assignment")
    record("assignment.take_away", assignment, by=by, old=_told(assignment))
    assignment.delete()


def _told(assignment: Assignment) -> dict[str, str]:
    customer = assignment.customer
    return {
        "user": assignment.user.get_username(),
        "customer": customer.endl_id if customer else "every customer",
    }
