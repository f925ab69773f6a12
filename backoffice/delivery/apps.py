from django.apps import AppConfig


class DeliveryConfig(AppConfig):
    name = "backoffice.delivery"
    verbose_name = "Line to Endl"
