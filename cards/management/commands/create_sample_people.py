"""`manage.py create_sample_people`: one person for each role of a practice office."""

from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.context import Origin, acting_from
from backoffice.audit.trail import record
from backoffice.practice.sample import PASSWORD, NotPractice, check_practice
from cards.models import Assignment

# Username, role, first and last name.
PEOPLE = (
    ("maker", roles.FINANCE_MAKER, "Mara", "Lindqvist"),
    ("checker", roles.FINANCE_CHECKER, "Chidi", "Okafor"),
    ("checker2", roles.FINANCE_CHECKER, "Ines", "Novak"),
    ("compliance", roles.COMPLIANCE, "Carmen", "Ruiz"),
    ("manager", roles.MANAGER, "Tom", "Becker"),
    ("auditor", roles.AUDITOR, "Aiko", "Tanaka"),
    ("administrator", roles.ADMINISTRATOR, "Adele", "Moreau"),
    ("administrator2", roles.ADMINISTRATOR, "Ben", "Adler"),
)


class Command(BaseCommand):
    help = f"Make the sample people of a practice office; their password is {PASSWORD}. Who is there stays."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Make who is missing. Raises CommandError outside practice mode."""
        try:
            check_practice()
        except NotPractice as problem:
            raise CommandError(str(problem)) from None
        with acting_from(Origin(is_sample=True)):
            made = sum(_is_made(*person) for person in PEOPLE)
        self.stdout.write(f"{made} sample people made, {len(PEOPLE) - made} were there already.")


@transaction.atomic
def _is_made(username: str, role: str, first_name: str, last_name: str) -> bool:
    if User.objects.filter(username=username).exists():
        return False
    person = User.objects.create_user(
        username, f"{username}@example.com", PASSWORD, first_name=first_name, last_name=last_name
    )
    person.groups.add(Group.objects.get(name=role))
    if role != roles.ADMINISTRATOR:
        Assignment.objects.create(user=person, given_at=timezone.now())
    record("person.add", person, by="system: sample", new={"role": role})
    return True
