"""The one place where settings become a line to Endl."""

from functools import cache

from django.conf import settings

from backoffice.delivery.pace import take_turn
from backoffice.endl import Client


def open_endl(*, retries: int = 3) -> Client:
    """The client that this process shares: one pool of connections, safe in threads.

    Args:
        retries: how often a read is tried again; 0 where a person waits for the page.
    """
    return _client(
        settings.ENDL_BASE_URL,
        settings.ENDL_API_KEY,
        settings.ENDL_API_VERSION,
        settings.ENDL_HTTP_PROXY,
        call_seconds=settings.ENDL_CALL_SECONDS,
        retries=retries,
    )


@cache
def _client(
    base_url: str, api_key: str, api_version: str, proxy: str, *, call_seconds: float, retries: int
) -> Client:
    return Client(
        base_url=base_url,
        api_key=api_key,
        api_version=api_version,
        proxy=proxy or None,
        read_seconds=call_seconds * 0.8,
        total_seconds=call_seconds,
        retries=retries,
        take_turn=take_turn,
    )
