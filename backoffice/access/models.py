"""The people who sign in to the office."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models

# A superuser keeps the house; money, cards and decisions are given by role alone, to everybody.
GUARDED_APPS = frozenset({"cards", "funding", "approvals", "audit", "delivery", "mirror"})


class People(UserManager["User"]):
    """Makes people. Everybody who can sign in works here; what they may do, their roles say."""

    def create_user(
        self, username: str, email: str | None = None, password: str | None = None, **more: Any
    ) -> "User":
        return super().create_user(username, email, password, **{"is_staff": True, **more})


class User(AbstractUser):
    """A person. Permissions on money, cards and approvals come from roles only, superusers included."""

    # Signing in is by name; an address is for telling people, and may be missing.
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    is_staff = models.BooleanField("works here", default=True)
    # Given by an administrator: the person chooses their own at the first sign-in.
    has_temporary_password = models.BooleanField(default=False)

    objects: ClassVar[People] = People()

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"
        ordering = ("username",)
        constraints = (models.CheckConstraint(condition=~models.Q(username=""), name="user_has_a_name"),)

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        if perm.partition(".")[0] in GUARDED_APPS:
            return self.is_active and perm in self.get_all_permissions(obj)
        return super().has_perm(perm, obj)

    def has_module_perms(self, app_label: str) -> bool:
        if app_label in GUARDED_APPS:
            return self.is_active and any(
                perm.startswith(f"{app_label}.") for perm in self.get_all_permissions()
            )
        return super().has_module_perms(app_label)

    @property
    def role_names(self) -> list[str]:
        """The names of this person's roles, sorted."""
        return sorted(group.name for group in self.groups.all())
