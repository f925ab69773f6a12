"""Who sees which customer: the one place that decides it."""

from typing import TypeVar

from django.db.models import Model, Q, QuerySet

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


def people_for(customer_endl_id: str) -> QuerySet[User]:
    """The active people who work for a customer, by role or assignment."""
    app, _, codename = "cards.view_every_customer".partition(".")
    by_role = Q(groups__permissions__content_type__app_label=app, groups__permissions__codename=codename)
    by_assignment = Q(assignments__customer__endl_id=customer_endl_id) | Q(
        pk__in=Assignment.objects.filter(customer=None).values("user")
    )
    return User.objects.filter(by_role | by_assignment, is_active=True).distinct()


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
