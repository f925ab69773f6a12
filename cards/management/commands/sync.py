"""`manage.py sync`: make our rows say what Endl says, now, without a worker."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.module_loading import import_string

from backoffice.connections import open_endl
from backoffice.delivery import line
from backoffice.mirror.models import Pull
from backoffice.mirror.pull import Taken
from cards.models import Customer


class Command(BaseCommand):
    help = "Sync every customer in use with Endl, or one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--customer", help="the Endl id of one customer, such as cus_aurora")

    def handle(self, *_args: Any, customer: str | None = None, **_options: Any) -> None:
        """Sync and say what changed. Raises CommandError when something could not be read."""
        chosen = _chosen(customer)
        if line.is_paused():
            raise CommandError("Everything is paused: run endl_status, which says why and what to do.")
        troubled = [one.endl_id for one in chosen if not self._is_synced(one)]
        if troubled:
            raise CommandError(f"{len(chosen)} customers asked for, {len(troubled)} with trouble.")
        self.stdout.write(f"{len(chosen)} customers synced.")

    def _is_synced(self, customer: Customer) -> bool:
        started = timezone.now()
        taken = Taken()
        for name in settings.SYNCS:
            made = import_string(name)(
                customer=customer, endl=open_endl(), by="system: sync command", now=timezone.now()
            )
            taken += made
        troubles = _troubles(customer, started)
        counts = f"{taken.added} new, {taken.changed} changed, {taken.missing} missing"
        self.stdout.write(f"{customer.endl_id}: {'; '.join([counts, *troubles])}")
        return not troubles


def _chosen(endl_id: str | None) -> list[Customer]:
    if endl_id is None:
        return list(Customer.objects.filter(is_active=True))
    found = Customer.objects.filter(endl_id=endl_id).first()
    if found is None:
        raise CommandError(f"There is no customer {endl_id} here: add it first.")
    return [found]


def _troubles(customer: Customer, since: Any) -> list[str]:
    pulls = Pull.objects.filter(customer_endl_id=customer.endl_id, trouble_at__gte=since)
    return [f"{pull.kind}: {pull.trouble}" for pull in pulls]
