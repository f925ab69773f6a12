"""People and roles. What somebody may do comes from roles alone, and nobody changes their own."""

import contextlib
from collections.abc import Iterable
from functools import partial
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.auth.models import Group
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.access import people, roles
from backoffice.access.forms import AddPersonForm, GiveRoleForm, TakeRoleForm
from backoffice.access.models import User
from backoffice.pages.forms import FormAdmin, ReasonForm
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Act, Fact, Panel, Table, badge, name, when

# Pages that would change people, groups and second factors behind the trail's back.
for stock in (Group, EmailAddress, Authenticator):
    with contextlib.suppress(NotRegistered):
        admin.site.unregister(stock)


@admin.register(User)
class UserAdmin(FormAdmin):
    """The people who work here."""

    add_form_class = AddPersonForm
    act_names = ("give_role", "take_role", "deactivate", "activate")
    list_display = ("username", "full_name", "shown_roles", "shown_active", "second_factor", "signed_in")
    list_filter = ("is_active", "groups")
    search_fields = ("username", "first_name", "last_name", "email")
    ordering = ("username",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        factors = Authenticator.objects.filter(user=OuterRef("pk"), type=Authenticator.Type.TOTP)
        people_here: QuerySet[User] = super().get_queryset(request)
        return people_here.annotate(has_factor=Exists(factors)).prefetch_related("groups")

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
                Fact(
                    "Password",
                    "Temporary: changed at the first sign-in" if obj.has_temporary_password else "Their own",
                ),
                Fact("Second factor", self.second_factor(obj)),
            ],
        )
        facts = [Fact(role.capitalize(), _in_words(roles.ROLES.get(role, ()))) for role in obj.role_names]
        yield Panel(
            "Roles", facts, empty="No role yet: this person can sign in and see nothing.", note=_warning(obj)
        )


@admin.register(Group)
class RoleAdmin(ObjectAdmin):
    """The six roles, as the code keeps them."""

    list_display = ("shown_name", "people_in_it", "what_it_may_do")
    ordering = ("name",)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return the_person(request).has_perm("access.view_user")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        groups: QuerySet[Group] = super().get_queryset(request)
        return groups.annotate(active_people=Count("user", filter=Q(user__is_active=True)))

    @display(description="Role", ordering="name")
    def shown_name(self, group: Group) -> str:
        return group.name.capitalize()

    @display(description="People", ordering="active_people")
    def people_in_it(self, group: Group) -> int:
        return int(getattr(group, "active_people", 0))

    @display(description="May do")
    def what_it_may_do(self, group: Group) -> str:
        return _in_words(_acts_of(group.name)) or "Look only"

    def panels(self, request: HttpRequest, obj: Group) -> Iterable[Panel]:
        members = User.objects.filter(groups=obj, is_active=True)
        yield Panel(
            "People in it", [Fact(person.username, str(person)) for person in members], empty="Nobody."
        )
        yield Panel(
            "Who may do what",
            note="Roles are kept by the code. People are put into roles on their own page.",
            table=_matrix(),
        )


def _matrix() -> Table:
    every = sorted({permission for allowed in roles.ROLES.values() for permission in allowed}, key=_sort_key)
    rows = [
        (
            _in_words((permission,)),
            *("●" if permission in allowed else "" for allowed in roles.ROLES.values()),
        )
        for permission in every
    ]
    return Table(("", *(role.capitalize() for role in roles.ROLES)), rows)


def _sort_key(permission: str) -> tuple[bool, str]:
    return permission.partition(".")[2].startswith("view_"), permission


def _acts_of(role: str) -> tuple[str, ...]:
    return tuple(each for each in roles.ROLES.get(role, ()) if not each.partition(".")[2].startswith("view_"))


def _in_words(permissions: Iterable[str]) -> str:
    return ", ".join(
        dict.fromkeys(each.partition(".")[2].replace("_", " ") for each in permissions)
    ).capitalize()


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
