"""What can be wrong with the settings, found at start."""

from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import Error, Tags, register


@register(Tags.security, deploy=True)
def check_cache_is_shared(**_kwargs: Any) -> list[Error]:
    """Sign-in limits counted in each process alone would let many times as many tries through."""
    if settings.CACHES["default"]["BACKEND"].endswith("LocMemCache"):
        return [Error("The cache must be shared by all processes.", id="backoffice.E002")]
    return []


@register(Tags.security, deploy=True)
def check_webhooks(**_kwargs: Any) -> list[checks.Warning]:
    """Without a webhook secret the endpoint answers 404, and deposits are followed by polling alone."""
    if not settings.ENDL_WEBHOOK_SECRETS:
        return [checks.Warning("ENDL_WEBHOOK_SECRETS is empty: webhooks are off.", id="backoffice.W001")]
    return []
