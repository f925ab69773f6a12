"""What the office writes into its logs, and above all what it never does.

Every record, ours or a library's, goes through one chain: context (request id), exception text without local
variables, redaction, one line of JSON (or a readable one in practice). Redaction comes last before the
renderer, so that nothing can be added behind its back.
"""

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, override

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from backoffice.endl.text import mask_codes

REMOVED = "[removed]"

# Digits in groups, as people and machines write card numbers: one space, dash or non-breaking space between.
DIGIT_RUN = re.compile(r"[0-9]+(?:[ \-\u00a0][0-9]+)*")
DIGIT_GROUP = re.compile(r"[0-9]+")
CARD_LENGTHS = range(13, 20)

PEM_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)
WEBHOOK_SECRET = re.compile(r"whsec_[A-Za-z0-9+/=_\-]+")
TELLING_NAMES = (
    r"api[-_ ]?key|authorization|proxy-authorization|set-cookie|cookie|password|passphrase|secret[-_]?key"
    r"|storage[-_]?keys|client[-_]?secret|webhook-signature|csrfmiddlewaretoken|pan|cvv|cvc"
)
# The value may be quoted, or quoted inside a quoted text (with a backslash before each quote).
NAMED_SECRET = re.compile(
    rf"""(?ix)
    (?P<name> (?<![a-z]) (?:{TELLING_NAMES}) \\*["']? \s* [:=] \s* )
    (?: \\+"[^"]*" | \\+'[^']*'
      | b?"[^"]*" | b?'[^']*'
      | (?:bearer|basic)\s+[^\s,;}}\]"']+
      | [^\s,;}}\]"']+ )"""
)
TELLING_KEY = re.compile(rf"(?i)^(?:{TELLING_NAMES}|[a-z_]*_(?:password|secret|cvv|pan))$")
QUERY = re.compile(r"""(?P<address>/[^\s?"'<>]*)\?[^\s"'<>]+""")


def logging_config(*, debug: bool, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """Build the LOGGING setting and set structlog up to go through it.

    Args:
        debug: readable lines instead of JSON, and more of them.
        secrets: values that are removed wherever they appear, whatever stands around them.
    """
    configure_structlog()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": line_formatter, "debug": debug, "secrets": tuple(secrets)}},
        "handlers": {"stderr": {"()": QuietHandler, "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            # Its lines repeat what RequestMiddleware says, without the request id.
            "django.request": {"level": "ERROR"},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
            "gunicorn.error": {"handlers": [], "level": "INFO", "propagate": True},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "urllib3": {"level": "WARNING"},
        },
    }


class QuietHandler(logging.StreamHandler[Any]):
    """Writes to standard error. A record that cannot be formatted is counted, not printed raw."""

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        sys.stderr.write(
            f'{{"event": "a log record of {record.name} could not be written", "level": "error"}}\n'
        )


def configure_structlog() -> None:
    """Send structlog's loggers through the standard library, so that one chain formats everything."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *context_processors(),
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.captureWarnings(capture=True)


def context_processors() -> list[Processor]:
    """What every record carries: request id and its kin, logger, level, time."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def line_formatter(*, debug: bool, secrets: tuple[str, ...]) -> logging.Formatter:
    """The formatter of every handler."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=context_processors(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            # Plain text, as Python prints it: never with the values of local variables.
            structlog.processors.format_exc_info,
            Redactor(secrets),
            renderer(readable=debug),
        ],
    )


def renderer(*, readable: bool) -> Processor:
    """The last step: JSON for machines, or a line for the person at the terminal."""
    if readable:
        return structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback, sort_keys=False
        )
    return structlog.processors.JSONRenderer(ensure_ascii=True)


class Redactor:
    """A structlog processor that removes card numbers and secrets from a whole record."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one secret may be the beginning of another.
        known = sorted({secret for secret in secrets if len(secret) >= 8}, key=len, reverse=True)
        self.known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return a redacted copy of the record."""
        return {self.text(str(key)): self.value_of(str(key), value) for key, value in event.items()}

    def value_of(self, key: str, value: object) -> object:
        """Redact a value by its name first, then by what it looks like."""
        return REMOVED if TELLING_KEY.match(key) and value is not None else self.value(value)

    def value(self, value: object) -> object:
        """Redact a value of any type. What is neither plain nor a container becomes text."""
        match value:
            case None | bool() | float():
                return value
            case int():
                masked = self.text(str(value))
                return value if masked == str(value) else masked
            case Mapping():
                return {self.text(str(key)): self.value_of(str(key), item) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.value(item) for item in value]
            case _:
                return self.text(value if isinstance(value, str) else repr(value))

    def text(self, text: str) -> str:
        """Redact a text."""
        if self.known:
            text = self.known.sub(REMOVED, text)
        text = PEM_BLOCK.sub(REMOVED, text)
        text = WEBHOOK_SECRET.sub("whsec_" + REMOVED, text)
        text = NAMED_SECRET.sub(lambda match: match["name"] + REMOVED, text)
        text = QUERY.sub(lambda match: match["address"] + "?" + REMOVED, text)
        return mask_codes(DIGIT_RUN.sub(lambda match: mask_cards(match[0]), text))


def mask_cards(run: str) -> str:
    """Mask each card number in a run of digit groups down to its last four.

    A number may have other groups beside it ("12 4111 1111 1111 1111"), so every stretch of whole groups is
    tried. A single group is only tried whole: amounts and times in milliseconds stay readable.
    """
    groups = [match.span() for match in DIGIT_GROUP.finditer(run)]
    masked = list(run)
    for first in range(len(groups)):
        for start, end in stretches(groups, first):
            if is_card_number(run[start:end]):
                mask(masked, start, end)
    return "".join(masked)


def stretches(groups: list[tuple[int, int]], first: int) -> Iterable[tuple[int, int]]:
    """Spans from the group `first` to each later one, as long as the digits are few enough for a card."""
    digits = 0
    for start, end in groups[first:]:
        digits += end - start
        if digits >= CARD_LENGTHS.stop:
            return
        if digits in CARD_LENGTHS:
            yield groups[first][0], end


def is_card_number(text: str) -> bool:
    """Whether the digits of a text pass the Luhn check that all card numbers pass."""
    total = 0
    for place, digit in enumerate(reversed([int(char) for char in text if char in "0123456789"])):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def mask(chars: list[str], start: int, end: int) -> None:
    """Put a star over every digit between start and end but the last four."""
    places = [place for place in range(start, end) if chars[place] not in " -\u00a0"]
    for place in places[:-4]:
        chars[place] = "*"
