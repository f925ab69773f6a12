"""Where permissions come from: the roles of a person, never from being a superuser."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.models import Permission
from django.db.models import QuerySet

from backoffice.access.models import GUARDED_APPS, User


class OfficeBackend(AuthenticationBackend):
    """Signs people in as allauth does and answers for their permissions."""

    def _get_permissions(self, user_obj: User, obj: Any, from_name: str) -> set[str]:
        """Leave the guarded applications out of the "everything" that a superuser would get."""
        found: set[str] = super()._get_permissions(user_obj, obj, from_name)
        if not user_obj.is_superuser or obj is not None:
            return found
        given = self._given(user_obj, from_name)
        return {perm for perm in found if perm.partition(".")[0] not in GUARDED_APPS} | given

    def _given(self, user: User, from_name: str) -> set[str]:
        granted: QuerySet[Permission] = getattr(self, f"_get_{from_name}_permissions")(user)
        pairs = granted.values_list("content_type__app_label", "codename").order_by()
        return {f"{app}.{codename}" for app, codename in pairs}
