"""Adding customers, and what Endl's answers teach about them."""

from datetime import datetime

from django.db import IntegrityError, transaction

from backoffice.access.models import User
from backoffice.audit.trail import Refusal, operation, record
from backoffice.endl import EndlError, NotFound
from cards import scope
from cards.models import Assignment, Customer


class CustomerExists(Refusal):
    """The id was added before."""


@operation("customer.add")
def add_customer(*, endl_id: str, name: str, type: str, by: User, now: datetime) -> Customer:
    """Add a customer by its Endl id; who adds it works for it.

    Raises: NotAllowed, CustomerExists.
    """
    scope.check(by, "cards.add_customer")
    try:
        with transaction.atomic():
            customer = Customer.objects.create(
                endl_id=endl_id, name=name, type=type, added_by=by, added_at=now
            )
    except IntegrityError:
        raise CustomerExists(f"{endl_id} was added before.") from None
    if not scope.works_for(by, customer):
        Assignment.objects.create(user=by, customer=customer, given_by=by, given_at=now)
    record("customer.add", customer, by=by, new={"endl_id": endl_id, "name": name, "type": type})
    return customer


@operation("customer.change", about="customer")
def change_customer(*, customer: Customer, name: str, type: str, is_active: bool, by: User) -> Customer:
    """Change what we say of a customer. Raises NotAllowed."""
    scope.check(by, "cards.change_customer", customer)
    old = {"name": customer.name, "type": customer.type, "is_active": customer.is_active}
    new = {"name": name, "type": type, "is_active": is_active}
    changed = {key: value for key, value in new.items() if old[key] != value}
    if changed:
        Customer.objects.filter(pk=customer.pk).update(**changed)
        customer.refresh_from_db()
        record("customer.change", customer, by=by, old={key: old[key] for key in changed}, new=changed)
    return customer


@operation("customer.ask_sync", about="customer")
def ask_sync(*, customer: Customer, by: User) -> None:
    """Put on record that a person wants a customer synced now; a worker does it. Raises NotAllowed."""
    scope.check(by, "cards.sync_customer", customer)
    record("customer.ask_sync", customer, by=by)


def learn_accepted(customer: Customer, *, now: datetime, **also: bool) -> None:
    """A documented operation accepted the customer: it is known, and what `also` says holds."""
    _write(customer, now, learned_message="", is_known=True, **also)


def learn_refused(customer: Customer, error: EndlError, *, now: datetime) -> None:
    """Draw from an error what it says of the customer itself, if anything."""
    said = _SAID.get(error.code or "")
    if said is not None:
        _write(customer, now, learned_message=error.message, **said)
    elif isinstance(error, NotFound) and error.code is None:
        _write(customer, now, learned_message=error.message, is_known=False)


# What a code says of the customer, whatever was asked.
_SAID: dict[str, dict[str, bool]] = {
    "ERRCRD_1000": {"is_known": True, "is_business": False},
    "ERRCRD_1001": {"is_known": True, "is_enabled": False},
    "ERRREF_1001": {"is_known": False},
}


def _write(customer: Customer, now: datetime, **columns: object) -> None:
    Customer.objects.filter(pk=customer.pk).update(learned_at=now, **columns)
    customer.refresh_from_db()
