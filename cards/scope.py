"""Who sees which customer: the one place that decides it."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from backoffice.access.models import User
from backoffice.audit.trail import NotAllowed
from cards.models import Assignment, Customer

M = TypeVar("M", bound=Model)


def customers_for(person: User) -> QuerySet[Customer]:
    """The customers that a person works for, or all of them by role or assignment."""
    if sees_all(person):
        return Customer.objects.all()
    return Customer.objects.filter(assignment__user=person)


def limit[M: Model](rows: QuerySet[M], person: User, path: str) -> QuerySet[M]:
    """Keep the rows whose customer the person works for.

    Args:
        rows: rows of any table that leads to a customer.
        path: how it leads there, such as "cardholder__customer".
    """
    if sees_all(person):
        return rows
    mine = Assignment.objects.filter(user=person).values("customer")
    return rows.filter(**{f"{path}__in": mine})


def works_for(person: User, customer: Customer) -> bool:
    """Whether a customer is one of this person's."""
    return customers_for(person).filter(pk=customer.pk).exists()


def check(person: User, permission: str, customer: Customer | None = None) -> None:
    """Refuse who lacks a permission or does not work for the customer. Raises NotAllowed."""
    if not (person.is_active and person.has_perm(permission)):
        raise NotAllowed("Your roles do not let you do this.")
    if customer is not None and not works_for(person, customer):
        raise NotAllowed("You do not work for this customer.")


def sees_all(person: User) -> bool:
    """Whether a person works for every customer, those to come included."""
    if not person.is_active:
        return False
    return person.has_perm("cards.view_every_customer") or person.assignments.filter(customer=None).exists()
