from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccessConfig(AppConfig):
    name = "backoffice.access"
    verbose_name = "People"

    def ready(self) -> None:
        from backoffice.access.roles import keep_roles

        # No sender: each application's migrate may have brought a permission that a role names.
        post_migrate.connect(keep_roles, dispatch_uid="keep_roles")
