"""People and roles: who may change whom, and what stays on record."""

from datetime import datetime

import pytest
from django.test import Client as Browser

from backoffice.access import people, roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from tests.people import PASSWORD, a_person, as_now

GOOD = "summer rain on tin"


def add(by: User, now: datetime, **changed: str) -> User:
    given = {"username": "nina", "first_name": "Nina", "last_name": "Berg", "email": "", "password": GOOD}
    return people.add_person(**{**given, **changed}, by=by, now=now)


@pytest.fixture
def administrator2(db: None) -> User:
    return a_person("administrator2", roles.ADMINISTRATOR)


class TestAdding:
    def test_a_new_person_has_no_role_and_a_temporary_password(
        self, administrator: User, now: datetime
    ) -> None:
        nina = add(administrator, now)
        assert nina.role_names == []
        assert nina.has_temporary_password
        assert not nina.is_superuser
        assert Entry.objects.get(verb="person.add").actor == administrator

    @pytest.mark.parametrize("password", ["short", "password1234", "nina-berg-nina"])
    def test_a_weak_password_is_refused(self, administrator: User, now: datetime, password: str) -> None:
        with pytest.raises(people.WeakPassword):
            add(administrator, now, password=password, username="nina-berg-nina")
        assert not User.objects.filter(username="nina-berg-nina").exists()

    def test_the_password_stands_in_no_entry(self, administrator: User, now: datetime) -> None:
        add(administrator, now)
        with pytest.raises(people.WeakPassword):
            add(administrator, now, username="other", password="short-one")
        told = str(list(Entry.objects.values_list("old", "new", "reason", "object_name")))
        assert GOOD not in told
        assert "short-one" not in told

    def test_a_name_is_taken_in_any_case(self, administrator: User, now: datetime) -> None:
        add(administrator, now)
        with pytest.raises(people.NameTaken):
            add(administrator, now, username="NINA")

    def test_only_an_administrator_adds(self, manager: User, now: datetime) -> None:
        with pytest.raises(NotAllowed):
            add(manager, now)
        assert Entry.objects.get(verb="person.add").result == Entry.Result.REFUSED


class TestRoles:
    def test_a_role_is_given_and_taken(self, administrator: User, outsider: User) -> None:
        people.give_role(person=outsider, role=roles.AUDITOR, reason="Covers for Ann", by=administrator)
        assert roles.AUDITOR in as_now(outsider).role_names
        people.take_role(person=outsider, role=roles.AUDITOR, reason="Ann is back", by=administrator)
        assert as_now(outsider).role_names == [roles.MANAGER]
        assert Entry.objects.get(verb="role.take").old == {"roles": [roles.AUDITOR, roles.MANAGER]}

    def test_nobody_changes_their_own(self, administrator: User, administrator2: User) -> None:
        for change in (people.give_role, people.take_role):
            with pytest.raises(people.OwnAccount):
                change(person=administrator, role=roles.MANAGER, reason="I want to", by=administrator)
        assert as_now(administrator).role_names == [roles.ADMINISTRATOR]
        assert Entry.objects.filter(verb="role.give", result=Entry.Result.REFUSED).count() == 1

    def test_only_an_administrator_gives(self, manager: User, auditor: User) -> None:
        with pytest.raises(NotAllowed):
            people.give_role(person=auditor, role=roles.MANAGER, reason="Please", by=manager)

    def test_a_superuser_without_a_role_gives_to_others_only(self, superuser: User, maker: User) -> None:
        people.give_role(person=maker, role=roles.AUDITOR, reason="First day", by=superuser)
        with pytest.raises(people.OwnAccount):
            people.give_role(person=superuser, role=roles.MANAGER, reason="Myself", by=superuser)

    def test_the_last_administrator_stays(self, administrator: User, superuser: User) -> None:
        with pytest.raises(people.LastAdministrator):
            people.take_role(person=administrator, role=roles.ADMINISTRATOR, reason="No more", by=superuser)
        with pytest.raises(people.LastAdministrator):
            people.deactivate(person=administrator, reason="No more", by=superuser)

    @pytest.mark.parametrize("role", ["king", roles.MANAGER])
    def test_what_is_so_already_or_never_was_is_refused(
        self, administrator: User, manager: User, role: str
    ) -> None:
        with pytest.raises(people.NothingToChange):
            people.give_role(person=manager, role=role, reason="Again", by=administrator)

    def test_too_much_for_one_is_noted(self, administrator: User, maker: User) -> None:
        people.give_role(person=maker, role=roles.FINANCE_CHECKER, reason="Holiday", by=administrator)
        assert Entry.objects.get(verb="role.give").new["can do alone"] == [
            "finance maker and finance checker"
        ]


class TestKeepingOut:
    def test_ends_their_sessions_and_no_others(
        self, administrator: User, maker: User, checker: User, client_of: object
    ) -> None:
        theirs, others = client_of(maker), client_of(checker)  # type: ignore[operator]
        people.deactivate(person=maker, reason="Has left", by=administrator)
        assert theirs.get("/admin/").status_code == 302
        assert others.get("/admin/").status_code == 200
        assert Entry.objects.get(verb="person.deactivate").new["sessions ended"] == 1

    def test_who_is_let_in_again_has_to_sign_in(
        self, administrator: User, maker: User, client_of: object
    ) -> None:
        browser = client_of(maker)  # type: ignore[operator]
        people.deactivate(person=maker, reason="By mistake", by=administrator)
        people.activate(person=maker, reason="It was a mistake", by=administrator)
        assert browser.get("/admin/").status_code == 302

    def test_nobody_keeps_themselves_out(self, administrator: User, administrator2: User) -> None:
        with pytest.raises(people.OwnAccount):
            people.deactivate(person=administrator, reason="Holiday", by=administrator)

    def test_who_is_kept_out_cannot_sign_in(self, administrator: User, maker: User) -> None:
        people.deactivate(person=maker, reason="Has left", by=administrator)
        answer = Browser().post("/accounts/login/", {"login": "maker", "password": PASSWORD})
        assert "_auth_user_id" not in answer.client.session
