"""`manage.py retention_report`: prove that card details went when they should."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from backoffice.access.terminal import at_the_terminal
from cards import retention_report


class Command(BaseCommand):
    help = "Say what was destroyed and why, and what is kept past its time. Ends with 1 when anything is."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Make a report. Raises CommandError when something is overdue, or could still be had."""
        report = retention_report.make_report(by=at_the_terminal(), now=timezone.now())
        for reason, count in report.reasons:
            self.stdout.write(f"destroyed since the last report: {count}, because {reason}")
        self.stdout.write(
            f"overdue: envelopes {report.overdue_details}, raw answers {report.overdue_answers}, "
            f"spooled files {report.overdue_files}"
        )
        self.stdout.write(
            f"destroyed ones that were tried: {report.tried}, that could be had: {report.opened}"
        )
        said = retention_report.sentence(report)
        if not report.is_well:
            raise CommandError(said)
        self.stdout.write(said)
