from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "backoffice.approvals"
    verbose_name = "Approvals"
