"""`manage.py prepare_practice`: tables, people and activity of a practice office, in one process."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Make a practice office ready. Can be run again: what is there stays."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--activity", action="store_true", help="three months of it, with our own emulator"
        )

    def handle(self, *_args: Any, activity: bool, **_options: Any) -> None:
        """Run the steps. Raises CommandError outside practice mode."""
        if not settings.PRACTICE:
            raise CommandError("This prepares a practice office only: set PRACTICE=1.")
        self.step("Preparing the database", "migrate", interactive=False)
        self.step("Preparing the cache", "createcachetable")
        self.step("Inviting the sample people", "create_sample_people")
        if activity:
            self.step("Loading three months of sample activity", "create_sample_activity")

    def step(self, words: str, command: str, **options: Any) -> None:
        """Say what is done, and do it quietly."""
        self.stdout.write(f"  {words} ...")
        self.stdout.flush()
        call_command(command, verbosity=0, **options)
