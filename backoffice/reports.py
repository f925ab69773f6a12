"""What a report of a mistake may tell: where it happened, never what the variables held at that moment."""

from collections.abc import ItemsView
from types import FrameType
from typing import Any, override

from django.conf import settings
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter

from backoffice.logs import Redactor


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
    ) -> ItemsView[str, Any]:
        return {}.items()


class RedactedReport(ExceptionReporter):
    """A report whose words are redacted as the log is: an exception may quote what it choked on."""

    @override
    def get_traceback_html(self) -> SafeString:
        return _redacted(super().get_traceback_html())

    @override
    def get_traceback_text(self) -> SafeString:
        return _redacted(super().get_traceback_text())


def _redacted(text: str) -> SafeString:
    """Django has escaped it; stars in the place of some of its digits leave that as it is."""
    known = (settings.SECRET_KEY, settings.ENDL_API_KEY, *settings.ENDL_WEBHOOK_SECRETS)
    return SafeString(Redactor(known).text(text))
