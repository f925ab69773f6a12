"""The office itself, and its admin."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate, pre_migrate


class OfficeConfig(AppConfig):
    name = "backoffice"
    verbose_name = "Back office"

    def ready(self) -> None:
        # The checks register themselves; every process that rings a bell needs the Celery application.
        from backoffice import celery, checks  # noqa: F401
        from backoffice.triggers import drop_triggers, install_triggers

        pre_migrate.connect(drop_triggers, dispatch_uid="drop_triggers")
        post_migrate.connect(install_triggers, dispatch_uid="install_triggers")


class OfficeAdminConfig(AdminConfig):
    """Django's admin with our site in it."""

    default_site = "backoffice.site.OfficeSite"
