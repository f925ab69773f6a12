"""People. What somebody may do comes from roles alone, and nobody changes their own."""

import contextlib
from collections.abc import Iterable
from functools import partial
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.access import people, roles
from backoffice.access.forms import AddPersonForm, GiveRoleForm, TakeRoleForm
from backoffice.access.models import User
from backoffice.access.roles_admin import acts_in_words
from backoffice.pages.forms import FormAdmin, ReasonForm
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, name, when

# Pages that would change second factors and addresses behind the trail's back.
for stock in (EmailAddress, Authenticator):
    with contextlib.suppress(NotRegistered):
        admin.site.unregister(stock)


@admin.register(User)
class UserAdmin(FormAdmin):
    """The people who work here."""

    add_form_class = AddPersonForm
    act_names = ("give_role", "take_role", "deactivate", "activate")
    list_display = ("sign_in_name", "full_name", "shown_roles", "shown_active", "second_factor", "signed_in")
    list_filter = ("is_active", "groups", "has_temporary_password")
    allowed_lookups = frozenset({"groups__isnull"})
    search_fields = ("username", "first_name", "last_name", "email")
    ordering = ("username",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        factors = Authenticator.objects.filter(user=OuterRef("pk"), type=Authenticator.Type.TOTP)
        people_here: QuerySet[User] = super().get_queryset(request)
        return people_here.annotate(has_factor=Exists(factors)).prefetch_related("groups")

    @display(description="Sign-in name", ordering="username")
    def sign_in_name(self, person: User) -> str:
        return person.username

    @display(description="Name", ordering="last_name")
    def full_name(self, person: User) -> Any:
        return name(person.get_full_name())

    @display(description="Roles")
    def shown_roles(self, person: User) -> Any:
        held = ", ".join(person.role_names) or "None"
        return badge("toxic", f"{held}: too much for one", tone="alarm") if _toxic(person) else held

    @display(description="Active", ordering="is_active")
    def shown_active(self, person: User) -> Any:
        return badge("active") if person.is_active else badge("deactivated", tone="quiet")

    @display(description="Second factor")
    def second_factor(self, person: User) -> Any:
        return (
            badge("yes", tone="good") if getattr(person, "has_factor", False) else badge("no", tone="quiet")
        )

    @display(description="Last sign-in", ordering="last_login")
    def signed_in(self, person: User) -> Any:
        return when(person.last_login)

    def badge_of(self, obj: User) -> Any:
        return self.shown_active(obj)

    def acts(self, request: HttpRequest, obj: User) -> Iterable[Act]:
        by = the_person(request)
        if not by.has_perm("access.change_user"):
            return
        why_not = people.why_not_change(obj, by)
        yield Act(
            "give_role",
            "Give role",
            partial(_give_role, obj, by),
            form=GiveRoleForm,
            why_not=why_not
            or ("" if len(obj.role_names) < len(roles.ROLES) else "There is no role left to give."),
            tone="primary",
        )
        if obj.role_names:
            yield Act(
                "take_role", "Take role", partial(_take_role, obj, by), form=TakeRoleForm, why_not=why_not
            )
        if obj.is_active:
            yield Act(
                "deactivate",
                "Deactivate",
                partial(_deactivate, obj, by),
                form=ReasonForm,
                why_not=why_not,
                tone="danger",
                lead="The person is signed out at once and cannot sign in any more. Their work stays.",
            )
        else:
            yield Act("activate", "Activate", partial(_activate, obj, by), form=ReasonForm, why_not=why_not)

    def panels(self, request: HttpRequest, obj: User) -> Iterable[Panel]:
        yield Panel(
            "Person",
            [
                Fact("Sign-in name", obj.username),
                Fact("Name", name(obj.get_full_name())),
                Fact("E-mail", obj.email),
                Fact("Added", when(obj.date_joined)),
                Fact("Last sign-in", when(obj.last_login)),
                Fact("Password", "Temporary" if obj.has_temporary_password else "Their own"),
                Fact("Second factor", self.second_factor(obj)),
            ],
        )
        facts = [Fact(role.capitalize(), acts_in_words(role)) for role in obj.role_names]
        empty = "No role yet: this person can sign in and see nothing."
        yield Panel("Roles", facts, empty=empty, note=_warning(obj))


def _toxic(person: User) -> list[tuple[str, str]]:
    return roles.toxic_pairs_of(person.role_names)


def _warning(person: User) -> str:
    pairs = [f"{first} and {second}" for first, second in _toxic(person)]
    return f"Take care: {'; '.join(pairs)} together let one person do what takes two." if pairs else ""


def _give_role(person: User, by: User, given: dict[str, Any]) -> str:
    people.give_role(person=person, role=given["role"], reason=given["reason"], by=by)
    return " ".join(filter(None, (f"{person} is now {given['role']}.", _warning(person))))


def _take_role(person: User, by: User, given: dict[str, Any]) -> str:
    people.take_role(person=person, role=given["role"], reason=given["reason"], by=by)
    return f"{person} is no longer {given['role']}."


def _deactivate(person: User, by: User, given: dict[str, Any]) -> str:
    people.deactivate(person=person, reason=given["reason"], by=by)
    return f"{person} is deactivated and signed out."


def _activate(person: User, by: User, given: dict[str, Any]) -> str:
    people.activate(person=person, reason=given["reason"], by=by)
    return f"{person} can sign in again."
