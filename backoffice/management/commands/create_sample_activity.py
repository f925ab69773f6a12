"""`manage.py create_sample_activity`: three months of activity, for practice with our own emulator."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.module_loading import import_string

from backoffice.audit.context import Origin, acting_from
from backoffice.audit.models import Entry
from backoffice.audit.trail import record
from backoffice.connections import open_endl
from backoffice.practice.sample import NotPractice, check_practice, make_world

_DONE = "sample.activity"


class Command(BaseCommand):
    help = "Make three months of sample activity with our own emulator. What is there stays."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Let each application make its part. Raises CommandError outside practice mode."""
        if Entry.objects.filter(verb=_DONE).exists():
            self.stdout.write("The sample activity was there already.")
            return
        try:
            check_practice()
            sample = make_world(endl=open_endl(), now=timezone.now())
        except NotPractice as problem:
            raise CommandError(str(problem)) from None
        # The trail's own clock cannot be moved: its rows are dated today, and say that they are samples.
        with acting_from(Origin(is_sample=True)):
            counts = [import_string(name)(sample) for name in settings.SAMPLES]
            record(_DONE, by="system: sample")
        self.stdout.write(f"{sum(counts)} sample requests made, from the last three months to today.")
