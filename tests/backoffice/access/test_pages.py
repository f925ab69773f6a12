"""The pages of people and roles."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client as Browser

from backoffice.access import roles
from backoffice.access.models import User
from tests.people import as_now

SignIn = Callable[[User], Browser]
LIST, ADD = "/admin/access/user/", "/admin/access/user/add/"


def page_of(person: User, act: str = "change") -> str:
    return f"{LIST}{person.pk}/{act}/"


def post_new(browser: Browser, **changed: str) -> object:
    token = browser.get(ADD).context["form"].fields["form_token"].initial
    given = {
        "username": "nina", "first_name": "Nina", "last_name": "Berg", "email": "n@example.com",
        "password": "summer rain on tin", "form_token": token,
    }  # fmt: skip
    return browser.post(ADD, {**given, **changed})


class TestAdding:
    def test_leads_to_the_new_person(self, client_of: SignIn, administrator: User) -> None:
        answer = post_new(client_of(administrator))
        assert answer.headers["Location"] == page_of(User.objects.get(username="nina"))  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("field", "typed"),
        [
            ("username", "nina berg"), ("username", ""), ("username", "Administrator"),
            ("username", "x" * 151),
            ("first_name", "\u202eevil"), ("email", "nobody"), ("password", "short"), ("last_name", "a\0b"),
        ],
    )  # fmt: skip
    def test_bad_input_gets_a_sentence_at_its_field(
        self, client_of: SignIn, administrator: User, field: str, typed: str
    ) -> None:
        answer = post_new(client_of(administrator), **{field: typed})
        assert answer.status_code == 200  # type: ignore[attr-defined]
        assert list(answer.context["form"].errors) == [field]  # type: ignore[attr-defined]
        assert not User.objects.filter(first_name="Nina").exists()

    def test_never_repeats_a_password(self, client_of: SignIn, administrator: User) -> None:
        answer = post_new(client_of(administrator), email="nobody")
        assert b"summer rain" not in answer.content  # type: ignore[attr-defined]

    def test_neither_superuser_nor_permissions_can_be_typed(
        self, client_of: SignIn, administrator: User
    ) -> None:
        post_new(client_of(administrator), is_superuser="on", groups="1", user_permissions="1")
        nina = User.objects.get(username="nina")
        assert not nina.is_superuser
        assert nina.role_names == []


class TestThePage:
    def test_gives_a_role(self, client_of: SignIn, administrator: User, outsider: User) -> None:
        browser = client_of(administrator)
        browser.post(page_of(outsider, "give_role"), {"role": roles.AUDITOR, "reason": "Covers for Ann"})
        assert roles.AUDITOR in as_now(outsider).role_names

    def test_warns_of_too_much_for_one(self, client_of: SignIn, administrator: User, maker: User) -> None:
        maker.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        browser = client_of(administrator)
        assert "do what takes two" in browser.get(page_of(maker)).content.decode()
        assert "too much for one" in browser.get(LIST).content.decode()

    def test_says_why_nothing_can_be_done_to_oneself(self, client_of: SignIn, administrator: User) -> None:
        browser = client_of(administrator)
        shown = browser.get(page_of(administrator)).content.decode()
        assert "This is you" in shown
        answer = browser.post(page_of(administrator, "give_role"), {"role": roles.MANAGER, "reason": "x"})
        assert answer.status_code == 200
        assert as_now(administrator).role_names == [roles.ADMINISTRATOR]

    @pytest.mark.parametrize("act", ["give_role", "take_role", "deactivate", "activate"])
    def test_an_auditor_looks_and_changes_nothing(
        self, client_of: SignIn, auditor: User, maker: User, act: str
    ) -> None:
        browser = client_of(auditor)
        assert browser.get(page_of(maker)).status_code == 200
        answer = browser.post(page_of(maker, act), {"role": roles.AUDITOR, "reason": "x"})
        assert answer.status_code == 403
        assert browser.get(ADD).status_code == 403

    def test_no_other_role_sees_people(
        self, client_of: SignIn, maker: User, manager: User, compliance: User
    ) -> None:
        for person in (maker, manager, compliance):
            assert client_of(person).get(LIST).status_code == 403

    @pytest.mark.parametrize("address", ["/delete/", "/password/"])
    def test_there_is_no_deleting_and_no_setting_of_passwords(
        self, client_of: SignIn, superuser: User, maker: User, address: str
    ) -> None:
        answer = client_of(superuser).post(f"{LIST}{maker.pk}{address}", {"post": "yes"})
        assert answer.status_code in (302, 403, 404)
        assert User.objects.filter(pk=maker.pk).exists()
        assert as_now(maker).check_password("practice")


class TestRoles:
    def test_a_page_says_who_may_do_what(self, client_of: SignIn, administrator: User) -> None:
        role = Group.objects.get(name=roles.MANAGER)
        shown = client_of(administrator).get(f"/admin/auth/group/{role.pk}/change/").content.decode()
        assert "Reveal the details of a card" in shown
        assert "Finance checker" in shown

    def test_roles_cannot_be_edited(self, client_of: SignIn, superuser: User) -> None:
        role = Group.objects.get(name=roles.MANAGER)
        browser = client_of(superuser)
        assert browser.post(f"/admin/auth/group/{role.pk}/change/", {"name": "x"}).status_code == 405
        assert browser.get("/admin/auth/group/add/").status_code == 403
        assert Group.objects.filter(name=roles.MANAGER).exists()

    def test_second_factors_and_addresses_have_no_pages(self) -> None:
        names = {model._meta.label for model in admin.site._registry}
        assert names.isdisjoint({"account.EmailAddress", "mfa.Authenticator", "auth.Permission"})
