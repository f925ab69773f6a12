"""`manage.py grant_role USER ROLE`: put a person into a role, or take it away."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from backoffice.access.models import User
from backoffice.access.roles import ROLES, toxic_pairs_of
from backoffice.audit.trail import record


class Command(BaseCommand):
    help = f"Put a person into a role, or take it away. Roles: {', '.join(ROLES)}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the name that the person signs in with")
        parser.add_argument("role", help="one of the six roles; quote a name of two words")
        parser.add_argument("--revoke", action="store_true", help="take the role away")

    def handle(self, *_args: Any, user: str, role: str, revoke: bool = False, **_options: Any) -> None:
        """Change and record it. Raises CommandError for a person or role that does not exist."""
        person = User.objects.filter(username=user).first()
        if person is None:
            raise CommandError(f"There is nobody called {user} here.")
        if role not in ROLES:
            raise CommandError(f"There is no role {role}. Roles: {', '.join(ROLES)}.")
        changed = _change(person, role, revoke=revoke)
        for pair in toxic_pairs_of(person.role_names):
            self.stdout.write(
                f"Warning: {' and '.join(pair)} in one person can do alone what should take two."
            )
        has = "no longer has" if revoke else "has"
        self.stdout.write(f"{user} {has} the role {role}{'' if changed else '; nothing changed'}.")


@transaction.atomic
def _change(person: User, role: str, *, revoke: bool) -> bool:
    """Change the roles and put it on record with both lists. Returns whether anything changed."""
    before = person.role_names
    if (role in before) != revoke:
        return False
    group = Group.objects.get(name=role)
    if revoke:
        person.groups.remove(group)
    else:
        person.groups.add(group)
    verb = "role.take" if revoke else "role.give"
    by = f"system: grant_role by {getpass.getuser()}"
    record(verb, person, by=by[:150], old={"roles": before}, new={"roles": person.role_names})
    return True
