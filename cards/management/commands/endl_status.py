"""`manage.py endl_status`: what the connection to Endl can do, and what to do about what it cannot."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from backoffice import endl as api
from backoffice.connections import open_endl
from backoffice.delivery import line
from backoffice.mirror import reads
from backoffice.mirror.models import Read
from backoffice.public_keys import public_keys
from cards.models import Customer


@dataclass(frozen=True)
class Finding:
    """One line of the report; a remedy makes it a problem."""

    about: str
    told: str
    remedy: str = ""


class Command(BaseCommand):
    help = "Say what the connection to Endl can do; each problem with its remedy."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Report. Raises CommandError when there is a problem."""
        problems = 0
        for finding in _findings():
            problems += bool(finding.remedy)
            mark = "PROBLEM" if finding.remedy else "ok"
            remedy = f" -> {finding.remedy}" if finding.remedy else ""
            self.stdout.write(f"{mark:8}{finding.about}: {finding.told}{remedy}")
        if problems:
            raise CommandError(f"{problems} problems with the line to Endl.")
        self.stdout.write("The line to Endl is well.")


def _findings() -> Iterator[Finding]:
    yield from _settings()
    yield _key_accepted()
    yield from _reads()
    yield from _pauses()
    yield from _keys()


def _settings() -> Iterator[Finding]:
    yield Finding("base URL", settings.ENDL_BASE_URL)
    yield Finding("API version", settings.ENDL_API_VERSION)
    if settings.ENDL_HTTP_PROXY:
        yield Finding("proxy", settings.ENDL_HTTP_PROXY.rpartition("@")[2])
    if not settings.ENDL_WEBHOOK_SECRETS:
        yield Finding("webhooks", "off", "Set ENDL_WEBHOOK_SECRETS, or wait for polling: deposits end later.")


def _key_accepted() -> Finding:
    """Ask for the cardholders of a business: the one that answered last, else the first one here."""
    business = Customer.objects.filter(type=Customer.Type.BUSINESS, is_active=True).first()
    asked = line.the_line().probe_customer or (business.endl_id if business else "")
    if not asked:
        return Finding(
            "API key", "not tried", "Add a business customer: the key is tried by listing its cardholders."
        )
    try:
        listed = open_endl().list_cardholders(asked)
    except (api.Rejected, api.Unsupported) as problem:
        return Finding("API key", f"accepted; of {asked} Endl says: {problem.message}")
    except api.EndlError as problem:
        return Finding("API key", f"asked for {asked}: {problem.message}", problem.remedy)
    line.note_answer(now=timezone.now(), probe_customer=asked)
    return Finding("API key", f"accepted; {asked} has {len(listed.items)} cardholders")


def _reads() -> Iterator[Finding]:
    off = {read.name: read for read in Read.objects.exclude(off_since=None)}
    for name in reads.ASSUMED:
        told = f"off since {off[name].off_since:%Y-%m-%d %H:%M %Z}: {off[name].why}" if name in off else "on"
        # Endl may never have had it: the office does without, so this is no problem.
        yield Finding(f"read {name}", told)


def _pauses() -> Iterator[Finding]:
    for pause in line.open_pauses():
        told = f"since {pause.since:%Y-%m-%d %H:%M %Z}: {pause.message}"
        yield Finding(
            f"paused {pause.get_scope_display().lower()}", told, pause.remedy or "Ask the Endl contact."
        )
    until = line.slow_until(timezone.now())
    if until is not None:
        yield Finding("pace", f"Endl asked everybody to wait until {until:%H:%M:%S %Z}")


def _keys() -> Iterator[Finding]:
    found = public_keys()
    if not found:
        told = "none in this process"
        yield Finding(
            "card keys", told, "Set ENDL_PRIVATE_KEY_FILES where the web server runs: `keys --new` makes one."
        )
    for key in found:
        if key.problem:
            yield Finding(f"card key {key.name}", key.problem, "Correct ENDL_PRIVATE_KEY_FILES; see `keys`.")
        else:
            yield Finding(f"card key {key.name}", f"fingerprint {key.fingerprint}")
