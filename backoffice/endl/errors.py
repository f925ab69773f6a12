"""Everything that can go wrong, sorted by what the caller may do next.

EndlError
 ├ Rejected              Endl said no; nothing happened
 │  ├ FieldRejected      a field broke a rule; ``field`` names it
 │  ├ NotFound           no such customer, cardholder, deposit or withdrawal
 │  ├ Conflict           a 409 without a known code
 │  └ AlreadyIssued      this key has issued a card before
 ├ OutcomeUnknown        it may have happened (for a read: no result)
 │  ├ NoAnswer           sent, then silence: time ran out or the connection broke
 │  ├ ServerTrouble      a 5xx
 │  └ UnreadableAnswer   an answer that is not what was agreed
 ├ NotSent               no connection; nothing happened
 ├ Throttled             too many requests; nothing happened
 ├ OursToFix             configuration: stop, fix, go on
 ├ IssuingUnavailable    card issuing is switched off; stop issuing
 ├ Unsupported           a read that this API does not have
 └ InvalidId             an id refused before any request was made
"""

from typing import Literal

from backoffice.endl.text import shown

Pauses = Literal["everything", "probe"]


class EndlError(Exception):
    """Root of all errors of this package.

    ``message`` is fit to show: masked, cut to 500 characters, without control characters. ``code`` is Endl's
    errors[].code, ``remedy`` what the person is told to do. ``str()`` begins with the request id when there
    is one.
    """

    default_remedy = "Read the message and try again."

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        field: str | None = None,
        http_status: int | None = None,
        request_id: str | None = None,
        remedy: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        self.message = shown(message)
        super().__init__(self.message)
        self.code = code
        self.field = field
        self.http_status = http_status
        self.request_id = request_id
        self.remedy = remedy or self.default_remedy
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return f"{self.request_id}: {self.message}" if self.request_id else self.message


class Rejected(EndlError):
    """Endl said no; nothing happened, and asking again the same way will not help."""

    default_remedy = "Read Endl's message and correct the request."


class FieldRejected(Rejected):
    """A field broke a rule; ``field`` is its name, from Endl or the start of the message (assumed)."""

    default_remedy = "Correct the field that the message names."


class NotFound(Rejected):
    """Endl does not know the object."""

    default_remedy = "Check the id, then sync."


class Conflict(Rejected):
    """A 409 without a known code: not enough funds, or the key was used with another body (documented)."""

    default_remedy = "Read Endl's message: the wallet may lack funds."


class AlreadyIssued(Rejected):
    """ERRCRD_1008 (documented): this key has issued a card; its details cannot be had again."""

    default_remedy = "Find the card again by listing; its details cannot be had."


class OutcomeUnknown(EndlError):
    """It may have happened. Only evidence ends this state, never a guess."""

    default_remedy = "Wait: it is being found out whether it happened."


class NoAnswer(OutcomeUnknown):
    """The request began to leave, then the time ran out or the connection broke."""


class ServerTrouble(OutcomeUnknown):
    """Endl, or something before it, answered with a 5xx."""


class UnreadableAnswer(OutcomeUnknown):
    """The answer is not JSON, cut off, too large, a redirect, or of another shape than agreed."""


class NotSent(EndlError):
    """No connection came about; nothing happened."""

    default_remedy = "Wait: Endl cannot be reached from here at the moment."


class Throttled(EndlError):
    """Too many requests; nothing happened (assumed). ``retry_after_seconds`` is Endl's wish, if it came."""

    default_remedy = "Wait: Endl asks for fewer requests."


class OursToFix(EndlError):
    """The configuration is at fault, so nothing more should be sent until it is fixed.

    ``pauses`` is ``"everything"``, or ``"probe"`` where a pause is due only once the probe is refused too.
    """

    pauses: Pauses = "everything"
    default_remedy = "Fix the connection's settings."


class IssuingUnavailable(EndlError):
    """ERRCRD_1007 (documented): card issuing is not available; nothing happened."""

    default_remedy = "Ask the Endl contact; issuing is paused."


class Unsupported(EndlError):
    """A read answered 405 or 501: this API does not have the operation (assumed)."""

    default_remedy = "Nothing to do: this read is switched off for the connection."


class InvalidId(EndlError, ValueError):
    """An id that must not go into a URL; no request was made."""

    default_remedy = "Correct the id: letters, digits, hyphen and underscore, at most 128."
