"""What a report of a mistake may tell: where it happened, never what the variables held at that moment."""

from types import FrameType
from typing import Any, override

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class NoValues(SafeExceptionReporterFilter):
    """Leaves out local variables and posted values, in mails and on the page that DEBUG shows alike.

    Django's own filter steps aside while DEBUG is on. A card number on a developer's screen is a leak too.
    """

    @override
    def is_active(self, request: HttpRequest | None) -> bool:
        return True

    @override
    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        posted = request.POST if request is not None else {}
        return dict.fromkeys(posted, self.cleansed_substitute)

    @override
    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> list[tuple[str, Any]]:
        return []
