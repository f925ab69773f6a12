"""The pages of rules and limits: read, propose without a script, compare, rehearse, agree, set."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client as Browser

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.approvals import limits, policies
from backoffice.approvals.models import Approval, Limit, LimitChange, RuleSet, RuleSetChange
from backoffice.approvals.rule_forms import Draft
from tests.backoffice.approvals.pages import text_of

SignIn = Callable[[User], Browser]
RULES, CHANGES = "/admin/approvals/ruleset/", "/admin/approvals/rulesetchange/"
LIMITS, RAISES = "/admin/approvals/limit/", "/admin/approvals/limitchange/"


@pytest.fixture
def administrator2(another: Callable[..., User]) -> User:
    return another("administrator2", roles.ADMINISTRATOR)


def typed(**more: str) -> dict[str, str]:
    """The form as its page offers it, with the active rules in it."""
    active = policies.active()
    draft = Draft.of_rules(policies.rules_of(active))
    given = {f"r{number}-{name}": text for number, raw in enumerate(draft.raws) for name, text in raw.items()}
    return {"count": str(len(draft.raws)), "base": str(active.pk), "reason": "A test", "do": "propose",
            **given, **more}  # fmt: skip


def names_on(answer: Any) -> list[str]:
    """The names of the rules on the page, in order."""
    return [form["name"].value() for form in answer.context["written"]]


class TestReading:
    def test_the_active_rules_stand_in_sentences(self, client_of: SignIn, checker: User) -> None:
        shown = text_of(client_of(checker).get(RULES))
        assert "The amount is 10,000.00 or more." in shown
        assert "Two of the role finance checker decide." in shown
        assert "The rule itself approves: nobody is asked." in shown
        assert "Only an administrator can propose other rules." in shown

    def test_makers_do_not_read_them(self, client_of: SignIn, maker: User) -> None:
        assert client_of(maker).get(RULES).status_code == 403

    def test_a_version_has_its_page(self, client_of: SignIn, auditor: User) -> None:
        assert client_of(auditor).get(f"{RULES}{policies.active().pk}/change/").status_code == 200


class TestProposing:
    def test_rows_are_added_moved_and_removed_by_the_server(
        self, client_of: SignIn, administrator: User
    ) -> None:
        browser = client_of(administrator)
        before = names_on(browser.get(f"{CHANGES}add/"))
        up = names_on(browser.post(f"{CHANGES}add/", typed(do="up-1")))
        assert up[:2] == [before[1], before[0]]
        assert names_on(browser.post(f"{CHANGES}add/", typed(do="remove-0"))) == before[1:]
        assert len(names_on(browser.post(f"{CHANGES}add/", typed(do="add")))) == len(before) + 1
        assert not RuleSetChange.objects.exists()

    @pytest.mark.parametrize("do", ["up-0", "down-99", "remove-x", "remove--1", "nonsense", "up-" + "9" * 50])
    def test_impossible_moves_change_nothing(self, client_of: SignIn, administrator: User, do: str) -> None:
        browser = client_of(administrator)
        assert names_on(browser.post(f"{CHANGES}add/", typed(do=do))) == names_on(
            browser.get(f"{CHANGES}add/")
        )

    def test_a_proposal_waits_and_changes_nothing(self, client_of: SignIn, administrator: User) -> None:
        answer = client_of(administrator).post(f"{CHANGES}add/", typed(**{"r0-least": "9000"}))
        change = RuleSetChange.objects.get()
        assert answer["Location"] == f"{CHANGES}{change.pk}/change/"
        assert policies.active().version == 1
        assert change.proposed[0]["least"] == "9000"

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"r0-least": "1e3"}, "plain digits with a point"),
            ({"r0-name": ""}, "Give the rule a name."),
            ({"r0-people0": "9"}, "less than or equal to 5"),
            ({"r0-role0": ""}, "how many people, and of which role"),
            ({"r0-role0": "nobody"}, "Select a valid choice"),
            ({"r0-least": "20000", "r0-most": "10000"}, "a range begins with its smaller end"),
            ({"r1-name": "large deposit"}, "Two rules have the same name."),
            ({"r3-people0": "", "r3-role0": ""}, "must say for which kind, and up to which amount"),
            ({"reason": ""}, "cannot stay empty"),
            ({}, "nothing would change"),
            ({"count": "0"}, "from 1 to 50 rules"),
            ({"count": "x"}, "from 1 to 50 rules"),
            ({"base": "999", "r0-least": "9000"}, ""),
        ],
    )
    def test_what_makes_no_sense_gets_a_sentence(
        self, client_of: SignIn, administrator: User, wrong: dict[str, str], says: str
    ) -> None:
        answer = client_of(administrator).post(f"{CHANGES}add/", typed(**wrong))
        assert answer.status_code in (200, 302)
        assert says in text_of(answer)

    def test_it_can_be_rehearsed_before_it_is_proposed(
        self, client_of: SignIn, administrator: User, approval: Approval
    ) -> None:
        shown = text_of(
            client_of(administrator).post(f"{CHANGES}add/", typed(do="rehearse", **{"r0-least": "10"}))
        )
        assert "Looked at 1 requests" in shown
        assert "Other people asked 1" in shown
        assert not RuleSetChange.objects.exists()

    def test_only_administrators_propose(self, client_of: SignIn, auditor: User, checker: User) -> None:
        for person in (auditor, checker):
            assert client_of(person).get(f"{CHANGES}add/").status_code == 403
            assert client_of(person).post(f"{CHANGES}add/", typed()).status_code == 403


class TestAgreeing:
    @pytest.fixture
    def change(self, client_of: SignIn, administrator: User, approval: Approval) -> RuleSetChange:
        client_of(administrator).post(f"{CHANGES}add/", typed(**{"r0-least": "20"}))
        return RuleSetChange.objects.get()

    def test_another_compares_reads_the_rehearsal_and_agrees(
        self, client_of: SignIn, administrator2: User, change: RuleSetChange
    ) -> None:
        browser, page = client_of(administrator2), f"{CHANGES}{change.pk}/change/"
        answer = browser.get(page)
        assert "<del" in answer.content.decode()
        assert "<ins" in answer.content.decode()
        assert "Other people asked 1" in text_of(answer)
        given = {"verdict": "approve", "seen": change.proposed_hash, "reason": ""}
        browser.post(f"{CHANGES}{change.pk}/decide/", given)
        assert policies.active().version == 2
        assert RuleSet.objects.filter(state="retired").count() == 1

    def test_who_proposed_reads_why_not_and_is_refused(
        self, client_of: SignIn, administrator: User, change: RuleSetChange
    ) -> None:
        browser = client_of(administrator)
        assert "another administrator must decide" in text_of(browser.get(f"{CHANGES}{change.pk}/change/"))
        given = {"verdict": "approve", "seen": change.proposed_hash, "reason": ""}
        browser.post(f"{CHANGES}{change.pk}/decide/", given)
        assert policies.active().version == 1

    def test_another_hash_is_not_agreed_to(
        self, client_of: SignIn, administrator2: User, change: RuleSetChange
    ) -> None:
        given = {"verdict": "approve", "seen": "0" * 64, "reason": ""}
        client_of(administrator2).post(f"{CHANGES}{change.pk}/decide/", given)
        assert policies.active().version == 1

    def test_it_is_rejected_with_a_reason_or_taken_back(
        self, client_of: SignIn, administrator: User, administrator2: User, change: RuleSetChange
    ) -> None:
        browser = client_of(administrator2)
        given = {"verdict": "reject", "seen": change.proposed_hash, "reason": ""}
        assert "Say why you reject it" in text_of(browser.post(f"{CHANGES}{change.pk}/decide/", given))
        client_of(administrator).post(f"{CHANGES}{change.pk}/withdraw/")
        change.refresh_from_db()
        assert change.state == "cancelled"
        late = browser.post(f"{CHANGES}{change.pk}/decide/", {**given, "reason": "No"})
        assert "This is decided: taken back." in text_of(browser.get(late["Location"]))

    def test_the_home_page_counts_it_for_the_other_one(
        self, client_of: SignIn, administrator: User, administrator2: User, change: RuleSetChange
    ) -> None:
        assert "Changes of rules to decide 1" in text_of(client_of(administrator2).get("/admin/"))
        assert "Changes of rules to decide 0" in text_of(client_of(administrator).get("/admin/"))


class TestLimits:
    def post(self, browser: Browser, person: User, **more: str) -> Any:
        given = {
            "form_token": "a page of the limits", "approver": str(person.pk), "currency": "USDC",
            "per_decision": "100", "per_day": "500.50", "reason": "New here",
        }  # fmt: skip
        return browser.post(f"{LIMITS}add/", {**given, **more})

    def test_a_first_one_and_a_lower_one_hold_at_once(
        self, client_of: SignIn, administrator: User, checker: User
    ) -> None:
        browser = client_of(administrator)
        self.post(browser, checker)
        self.post(browser, checker, per_decision="50")
        limit = Limit.objects.get()
        assert (limit.per_decision, limit.per_day) == (Decimal(50), Decimal("500.5"))
        shown = text_of(browser.get(f"{LIMITS}{limit.pk}/change/"))
        assert "Left 500.50 USDC" in shown

    def test_a_raise_waits_for_another(
        self, client_of: SignIn, administrator: User, administrator2: User, checker: User
    ) -> None:
        browser = client_of(administrator)
        self.post(browser, checker)
        self.post(browser, checker, per_decision="400")
        change = LimitChange.objects.get()
        assert Limit.objects.get().per_decision == Decimal(100)
        given = {"verdict": "approve", "seen": limits.seen_hash(change), "reason": ""}
        browser.post(f"{RAISES}{change.pk}/decide/", given)
        assert Limit.objects.get().per_decision == Decimal(100)
        client_of(administrator2).post(f"{RAISES}{change.pk}/decide/", given)
        assert Limit.objects.get().per_decision == Decimal(400)

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"per_decision": "1,000"}, "no thousands separators"),
            ({"per_decision": "600"}, "between zero and the limit of the day"),
            ({"currency": "usdc"}, "Give the currency as a code"),
            ({"approver": "999999"}, "Select a valid choice"),
            ({"reason": ""}, "cannot stay empty"),
        ],
    )
    def test_wrong_input_gets_a_sentence(
        self, client_of: SignIn, administrator: User, checker: User, wrong: dict[str, str], says: str
    ) -> None:
        answer = self.post(client_of(administrator), checker, **wrong)
        assert answer.status_code == 200
        assert says in text_of(answer)
        assert not Limit.objects.exists()

    def test_people_see_their_own_and_set_none(
        self, client_of: SignIn, administrator: User, checker: User, checker2: User, now: datetime
    ) -> None:
        limit = limits.set_limit(
            person=checker, currency="USDC", per_decision=Decimal(5), per_day=Decimal(9), reason="new",
            by=administrator, now=now,
        )  # fmt: skip
        own, other = client_of(checker), client_of(checker2)
        assert own.get(f"{LIMITS}{limit.pk}/change/").status_code == 200
        assert other.get(f"{LIMITS}{limit.pk}/change/").status_code in (302, 404)
        assert "5.00" not in text_of(other.get(LIMITS))
        assert self.post(own, checker2).status_code == 403
