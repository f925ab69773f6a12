"""`manage.py endl_emulator`: an Endl of our own, on 127.0.0.1."""

import sys

from django.core.management.base import BaseCommand

from backoffice.emulator import main


class Command(BaseCommand):
    help = "Run the Endl emulator. Everything after the name is its own: see endl_emulator --help."
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Hand the arguments over as they are: the emulator knows no Django."""
        sys.exit(main(argv[2:]))
