from django.apps import AppConfig


class MirrorConfig(AppConfig):
    name = "backoffice.mirror"
    verbose_name = "Mirror"
