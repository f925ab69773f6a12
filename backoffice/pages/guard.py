"""At the door: requests that no page can hold are sent away, calmly, before anything looks at them."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from csp.constants import NONE, SELF
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]

# For pages that stand apart from the theme: no eval, nothing inline, nobody else's.
STRICT_POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "base-uri": [NONE],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
}


class GuardMiddleware:
    """Answer 400 to a NUL or undecodable bytes in path or query: no column can hold them."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _is_text(request.META.get("QUERY_STRING", "")) or "\0" in request.path_info:
            raise BadRequest("A NUL or bytes that are no text in the address.")
        return self.get_response(request)


class StrictPolicyMiddleware:
    """Give the pages of signing in a policy without the theme's eval."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith("/accounts/"):
            strictly(response)
        return response


def strictly(response: HttpResponse) -> HttpResponse:
    """Put the strict policy on a response, in place of the theme's."""
    response._csp_replace = STRICT_POLICY  # type: ignore[attr-defined]  # noqa: SLF001  (django-csp's own mark)
    return response


def _is_text(query: str) -> bool:
    raw = unquote_to_bytes(query)
    if b"\0" in raw:
        return False
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
