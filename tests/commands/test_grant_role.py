"""`grant_role` puts people into roles, on record, and warns of what one person should not hold."""

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.audit.models import Entry
from tests.commands.conftest import Run
from tests.people import as_now


def test_a_role_is_given_and_on_record(run: Run, auditor: User) -> None:
    ran = run("grant_role", "auditor", roles.COMPLIANCE)
    assert (ran.exit_code, ran.summary) == (0, "auditor has the role compliance.")
    assert as_now(auditor).has_perm("cards.add_cardholderreview")
    entry = Entry.objects.get(verb="role.give")
    assert entry.old == {"roles": ["auditor"]}
    assert entry.new == {"roles": ["auditor", "compliance"]}
    assert entry.actor_name.startswith("system: grant_role by ")


def test_a_role_is_taken_away(run: Run, checker: User) -> None:
    ran = run("grant_role", "checker", roles.FINANCE_CHECKER, "--revoke")
    assert (ran.exit_code, ran.summary) == (0, "checker no longer has the role finance checker.")
    assert not as_now(checker).has_perm("approvals.decide_deposits")
    assert Entry.objects.filter(verb="role.take").exists()


def test_what_is_so_already_leaves_no_record(run: Run, checker: User) -> None:
    assert "nothing changed" in run("grant_role", "checker", roles.FINANCE_CHECKER).summary
    assert "nothing changed" in run("grant_role", "checker", roles.AUDITOR, "--revoke").summary
    assert not Entry.objects.exists()


def test_a_toxic_pair_is_given_with_a_warning(run: Run, maker: User) -> None:
    ran = run("grant_role", "maker", roles.FINANCE_CHECKER)
    assert ran.exit_code == 0
    assert "Warning: finance maker and finance checker" in ran.text


def test_nobody_and_no_role(run: Run, maker: User) -> None:
    assert run("grant_role", "nobody", roles.AUDITOR).exit_code == 1
    ran = run("grant_role", "maker", "emperor")
    assert ran.exit_code == 1
    assert "finance checker" in ran.summary
