from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ApprovalsConfig(AppConfig):
    name = "backoffice.approvals"
    verbose_name = "Approvals"

    def ready(self) -> None:
        from backoffice.approvals.policies import keep_first_rules

        post_migrate.connect(keep_first_rules, sender=self, dispatch_uid="keep_first_rules")
