"""People and their roles: added, let in, kept out, given work. Nobody does any of it to themselves."""

from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.trail import NotAllowed, Refusal, operation, record


class NameTaken(Refusal):
    """Somebody has this sign-in name already."""


class WeakPassword(Refusal):
    """The password is too short, too common or too much like the person."""


class OwnAccount(Refusal):
    """Nobody changes what they themselves may do."""


class LastAdministrator(Refusal):
    """Without this person nobody could let people in any more."""


class NothingToChange(Refusal):
    """It is so already."""


@operation("person.add")
def add_person(
    *, username: str, first_name: str, last_name: str, email: str, password: str, by: User, now: datetime
) -> User:
    """Make a person without any role. The password is temporary: they choose their own at the first sign-in.

    Raises:
        NotAllowed, NameTaken, WeakPassword
    """
    _check(by, "access.add_user")
    person = User(username=username, first_name=first_name, last_name=last_name, email=email, date_joined=now)
    try:
        validate_password(password, person)
    except ValidationError as problem:
        raise WeakPassword(" ".join(problem.messages)) from None
    if User.objects.filter(username__iexact=username).exists():
        raise NameTaken("Somebody has this sign-in name already.")
    person.set_password(password)
    person.has_temporary_password = True
    try:
        with transaction.atomic():
            person.save(force_insert=True)
    except IntegrityError:
        raise NameTaken("Somebody has this sign-in name already.") from None
    record("person.add", person, by=by, new={"username": username, "email": email})
    return person


@operation("person.deactivate", about="person")
def deactivate(*, person: User, reason: str, by: User) -> None:
    """Keep somebody out from now on, and end their sessions. Their work stays.

    Raises:
        NotAllowed, OwnAccount, LastAdministrator, NothingToChange
    """
    _check(by, "access.change_user", person)
    locked = _locked(person)
    if not locked.is_active:
        raise NothingToChange(f"{person} is deactivated already.")
    _check_not_last_administrator(locked)
    User.objects.filter(pk=person.pk).update(is_active=False)
    ended = _end_sessions(person)
    record(
        "person.deactivate",
        person,
        by=by,
        reason=reason,
        old={"active": True},
        new={"active": False, "sessions ended": ended},
    )


@operation("person.activate", about="person")
def activate(*, person: User, reason: str, by: User) -> None:
    """Let somebody in again, with the roles they had.

    Raises:
        NotAllowed, OwnAccount, NothingToChange
    """
    _check(by, "access.change_user", person)
    if not User.objects.filter(pk=person.pk, is_active=False).update(is_active=True):
        raise NothingToChange(f"{person} is active already.")
    record("person.activate", person, by=by, reason=reason, old={"active": False}, new={"active": True})


@operation("role.give", about="person")
def give_role(*, person: User, role: str, reason: str, by: User) -> None:
    """Put somebody into a role.

    Raises:
        NotAllowed, OwnAccount, NothingToChange
    """
    _check(by, "access.change_user", person)
    group = _group(role)
    held = _locked(person).role_names
    if role in held:
        raise NothingToChange(f"{person} is {role} already.")
    person.groups.add(group)
    now_held = sorted([*held, role])
    toxic = [" and ".join(pair) for pair in roles.toxic_pairs_of(now_held)]
    record(
        "role.give",
        person,
        by=by,
        reason=reason,
        old={"roles": held},
        new={"roles": now_held, "can do alone": toxic},
    )


@operation("role.take", about="person")
def take_role(*, person: User, role: str, reason: str, by: User) -> None:
    """Take somebody out of a role.

    Raises:
        NotAllowed, OwnAccount, LastAdministrator, NothingToChange
    """
    _check(by, "access.change_user", person)
    locked = _locked(person)
    held = locked.role_names
    if role not in held:
        raise NothingToChange(f"{person} is not {role}.")
    if role == roles.ADMINISTRATOR:
        _check_not_last_administrator(locked)
    person.groups.remove(_group(role))
    record(
        "role.take",
        person,
        by=by,
        reason=reason,
        old={"roles": held},
        new={"roles": [each for each in held if each != role]},
    )


def why_not_change(person: User, by: User) -> str:
    """Say why the buttons on somebody's page are off; blank when they are on. The operations check again."""
    try:
        _check(by, "access.change_user", person)
    except Refusal as refusal:
        return refusal.sentence
    return ""


def _check(by: User, permission: str, person: User | None = None) -> None:
    if not (by.is_active and by.has_perm(permission)):
        raise NotAllowed("Only an administrator can do this.")
    if person is not None and person.pk == by.pk:
        raise OwnAccount("This is you: another administrator has to change what you may do.")


def _locked(person: User) -> User:
    return User.objects.select_for_update().get(pk=person.pk)


def _check_not_last_administrator(person: User) -> None:
    administrators = User.objects.filter(groups__name=roles.ADMINISTRATOR, is_active=True)
    if administrators.filter(pk=person.pk).exists() and not administrators.exclude(pk=person.pk).exists():
        raise LastAdministrator("This is the last administrator: nobody could let people in any more.")


def _group(role: str) -> Group:
    if role not in roles.ROLES:
        raise NothingToChange(f"There is no role {role}.")
    return Group.objects.get(name=role)


def _end_sessions(person: User) -> int:
    """Delete the sessions of a person. They do not say whose they are, so each has to be opened."""
    theirs = [
        row.pk for row in Session.objects.iterator() if row.get_decoded().get(SESSION_KEY) == str(person.pk)
    ]
    return Session.objects.filter(pk__in=theirs).delete()[0]
