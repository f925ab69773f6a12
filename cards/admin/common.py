"""What the pages of cards share: a filter by customer, links to filtered lists, plain columns."""

from typing import Any
from urllib.parse import urlencode

from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.urls import reverse
from unfold.contrib.filters.admin import RelatedDropdownFilter

from backoffice.mirror.models import Pull
from backoffice.pages.forms import SHORT_LIST
from backoffice.pages.objects import the_person
from cards import scope
from cards.models import Customer

# So many rows of something stand on the page of something else; a link leads to all of them.
FIRST_FEW = 20


class CustomerFilter(RelatedDropdownFilter):
    """Filters by customer, and offers the person's own ones only."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        mine = scope.customers_for(the_person(request)).order_by("name")
        return list(mine.values_list("pk", "name")[:SHORT_LIST])

    def has_output(self) -> bool:
        """Always: a filter without output would swallow what a link asks for."""
        return True


def list_url(model: Any, **filters: Any) -> str:
    """The address of a list, filtered."""
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return f"{address}?{urlencode(filters)}" if filters else address


def add_url(model: Any, **given: Any) -> str:
    """The address of a form that makes something new, with what it starts from."""
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_add")
    return f"{address}?{urlencode(given)}"


def pk_in(request: HttpRequest, name: str) -> int | None:
    """An id of ours in the address; None for whatever else stands there."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def confirmed_at(kind: str, path: str) -> Subquery:
    """When the list that holds a row was last read whole; `path` leads to the customer's Endl id."""
    pulls = Pull.objects.filter(kind=kind, customer_endl_id=OuterRef(path))
    return Subquery(pulls.values("confirmed_at")[:1])


def sees_customer(request: HttpRequest, customer: Customer) -> bool:
    """Whether a link to the customer's page leads anywhere for this person."""
    person = the_person(request)
    return person.has_perm("cards.view_customer") and scope.works_for(person, customer)
