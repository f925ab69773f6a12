"""The six roles and what each may do: looked at, kept by the code."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import Fact, Panel, Table, link

# Groups are this office's roles; the stock page would let them be edited.
Group._meta.verbose_name, Group._meta.verbose_name_plural = "role", "roles"
admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(ObjectAdmin):
    """The roles, as the code keeps them."""

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
        active = Count("user", filter=Q(user__is_active=True), distinct=True)
        return groups.annotate(active_people=active).prefetch_related("permissions__content_type")

    @display(description="Role", ordering="name")
    def shown_name(self, group: Group) -> str:
        return group.name.capitalize()

    @display(description="People", ordering="active_people")
    def people_in_it(self, group: Group) -> int:
        return int(getattr(group, "active_people", 0))

    @display(description="May do")
    def what_it_may_do(self, group: Group) -> str:
        return _acts(group.permissions.all())

    def lead_of(self, obj: Group) -> str:
        return "Roles are kept by the code. People are put into roles on their own page."

    def panels(self, request: HttpRequest, obj: Group) -> Iterable[Panel]:
        members = User.objects.filter(groups=obj, is_active=True)
        facts = [Fact(person.username, link(person)) for person in members]
        yield Panel("People in it", facts, empty="Nobody.")
        yield Panel("Who may do what", table=_matrix())


def acts_in_words(role: str) -> str:
    """What a role may do beyond looking, in words."""
    return _acts(Permission.objects.filter(group__name=role).select_related("content_type"))


def _acts(permissions: Iterable[Permission]) -> str:
    acts = sorted(_words(each) for each in permissions if not each.codename.startswith("view_"))
    return _sentence(", ".join(acts)) or "Look only"


def _words(permission: Permission) -> str:
    return permission.name.removeprefix("Can ").removeprefix("can ")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _matrix() -> Table:
    """One line for each permission, acts before looks; one column for each role."""
    known = {
        f"{each.content_type.app_label}.{each.codename}": _words(each)
        for each in Permission.objects.select_related("content_type")
    }
    every = {permission for allowed in roles.ROLES.values() for permission in allowed if permission in known}
    ordered = sorted(every, key=lambda permission: ("view_" in permission, known[permission]))
    rows = [(_sentence(known[permission]), *_marks(permission)) for permission in ordered]
    return Table(("May", *(role.capitalize() for role in roles.ROLES)), rows)


def _marks(permission: str) -> list[str]:
    return ["Yes" if permission in allowed else "" for allowed in roles.ROLES.values()]
