"""The pages of assignments: which person works for which customer."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.pages.forms import FormAdmin
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, code, link, name, when
from cards import assigning
from cards.admin.common import CustomerFilter, list_url
from cards.forms import AssignForm
from cards.models import Assignment


@admin.register(Assignment)
class AssignmentAdmin(FormAdmin):
    """Who sees which customer. Kept by administrators, looked at by auditors."""

    add_form_class = AssignForm
    act_names = ("take-away",)
    list_display = ("person", "shown_customer", "giver", "since")
    list_filter = (("customer", CustomerFilter),)
    list_select_related = ("user", "customer", "given_by")
    search_fields = ("user__username", "user__last_name", "customer__name", "customer__endl_id")
    ordering = ("user__username", "customer__name")

    @display(description="Person", ordering="user__username")
    def person(self, assignment: Assignment) -> Any:
        return name(str(assignment.user))

    @display(description="Works for", ordering="customer__name")
    def shown_customer(self, assignment: Assignment) -> Any:
        return name(assignment.customer.name) if assignment.customer else "Every customer"

    @display(description="Assigned by")
    def giver(self, assignment: Assignment) -> str:
        return str(assignment.given_by or "—")

    @display(description="Since", ordering="given_at")
    def since(self, assignment: Assignment) -> Any:
        return when(assignment.given_at)

    def acts(self, request: HttpRequest, obj: Assignment) -> Iterable[Act]:
        person = the_person(request)
        if person.has_perm("cards.delete_assignment"):
            yield Act("take-away", "Take away", partial(_take_away, obj, person), tone="danger")

    def after(self, request: HttpRequest, obj: Assignment, act: Act) -> str:
        return list_url(Assignment)

    def panels(self, request: HttpRequest, obj: Assignment) -> Iterable[Panel]:
        customer = obj.customer
        shown = link(customer) if customer else "Every customer, those to come included"
        facts = [Fact("Person", str(obj.user)), Fact("Works for", shown)]
        if customer is not None:
            facts.append(Fact("Endl id", code(customer.endl_id)))
        facts += [Fact("Assigned by", str(obj.given_by or "—")), Fact("Since", when(obj.given_at))]
        yield Panel("Assignment", facts)


def _take_away(assignment: Assignment, person: User, _given: dict[str, Any]) -> str:
    sentence = f"{assignment.user} no longer works for {assignment.customer or 'every customer'}."
    assigning.unassign(assignment=assignment, by=person)
    return sentence
