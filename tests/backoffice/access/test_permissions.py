"""Permissions come from roles alone; superusers get nothing on money, cards and decisions."""

import pytest
from django.contrib.auth.models import Group, Permission

from backoffice.access import roles
from backoffice.access.models import GUARDED_APPS, User
from tests.people import a_person, as_now

MONEY = ("funding.add_depositrequest", "approvals.decide_deposits", "approvals.decide_card_orders")


def perms_of(*role_names: str) -> set[str]:
    return set(a_person("somebody", *role_names).get_all_permissions())


class TestSuperusers:
    def test_get_nothing_that_is_guarded(self, superuser: User) -> None:
        guarded = {perm for perm in superuser.get_all_permissions() if perm.partition(".")[0] in GUARDED_APPS}
        assert guarded == set()
        assert not any(superuser.has_perm(perm) for perm in (*MONEY, "cards.reveal_card", "audit.view_entry"))
        assert not superuser.has_perms(["cards.view_card"])

    @pytest.mark.parametrize("app", sorted(GUARDED_APPS))
    def test_see_no_guarded_application(self, superuser: User, app: str) -> None:
        assert not superuser.has_module_perms(app)

    def test_keep_the_house(self, superuser: User) -> None:
        assert superuser.has_perm("access.add_user")
        assert superuser.has_module_perms("access")

    def test_get_what_their_role_gives(self, superuser: User) -> None:
        superuser.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        assert as_now(superuser).has_perm("approvals.decide_deposits")
        assert not as_now(superuser).has_perm("cards.reveal_card")

    def test_get_nothing_once_they_left(self, superuser: User) -> None:
        superuser.groups.add(Group.objects.get(name=roles.FINANCE_CHECKER))
        User.objects.update(is_active=False)
        assert not as_now(superuser).has_perm("approvals.decide_deposits")
        assert not as_now(superuser).has_module_perms("approvals")


class TestRoles:
    def test_what_each_may_do_is_what_the_table_says(self, db: None) -> None:
        for name, wanted in roles.ROLES.items():
            group = Group.objects.get(name=name)
            held = group.permissions.values_list("content_type__app_label", "codename")
            assert {f"{app}.{codename}" for app, codename in held} == set(wanted), name

    def test_a_table_that_was_changed_by_hand_is_put_right(self, db: None) -> None:
        auditor = Group.objects.get(name=roles.AUDITOR)
        auditor.permissions.add(Permission.objects.get(codename="decide_deposits"))
        roles.keep_roles()
        assert not auditor.permissions.filter(codename="decide_deposits").exists()

    def test_no_role_both_asks_for_money_and_decides(self) -> None:
        for name, perms in roles.ROLES.items():
            assert not {"funding.add_depositrequest", "approvals.decide_deposits"} <= set(perms), name
            assert not {"cards.add_cardorder", "approvals.decide_card_orders"} <= set(perms), name
            assert not {"cards.add_cardholderrequest", "cards.add_cardholderreview"} <= set(perms), name

    def test_only_managers_reveal(self) -> None:
        assert [name for name, perms in roles.ROLES.items() if "cards.reveal_card" in perms] == [
            roles.MANAGER
        ]

    def test_auditors_change_nothing(self, auditor: User) -> None:
        verbs = {perm.partition(".")[2].partition("_")[0] for perm in auditor.get_all_permissions()}
        assert verbs == {"view"}

    def test_administrators_touch_neither_money_nor_cards(self, administrator: User) -> None:
        perms = administrator.get_all_permissions()
        assert not any(
            perm.startswith(("funding.", "approvals.decide", "approvals.view_appr")) for perm in perms
        )
        assert not {"cards.add_cardorder", "cards.reveal_card", "cards.open_mask", "cards.view_card"} & perms

    def test_toxic_pairs_are_named(self) -> None:
        assert roles.toxic_pairs_of([roles.FINANCE_MAKER, roles.FINANCE_CHECKER, roles.AUDITOR]) == [
            (roles.FINANCE_MAKER, roles.FINANCE_CHECKER)
        ]
        assert roles.toxic_pairs_of([roles.AUDITOR, roles.FINANCE_MAKER]) == []

    def test_who_has_no_role_may_do_nothing(self, db: None) -> None:
        assert perms_of() == set()


def test_people_are_called_by_their_name(db: None) -> None:
    assert str(a_person("plain")) == "plain"
    assert str(a_person("named", first_name="Mara", last_name="Lindqvist")) == "Mara Lindqvist"
