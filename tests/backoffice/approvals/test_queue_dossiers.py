"""Dossiers: what they tell, what is kept of them at a decision, and what people write."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client as Browser

from backoffice.access.models import User
from backoffice.approvals import checks, comments, dossiers
from backoffice.approvals.models import Approval, Comment, Dossier
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed
from cards.models import Cardholder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.pages import QUEUE, decide, queue, text_of
from tests.wishes import a_deposit, an_order, approval_of

SignIn = Callable[[User], Browser]


def grades(approval: Approval, now: datetime) -> dict[str, str]:
    return {each["name"]: each["grade"] for each in dossiers.build(approval, now=now)["checks"]}


class TestWhatItTells:
    def test_what_is_sent_to_the_byte(self, approval: Approval, wish: DepositRequest, now: datetime) -> None:
        sent = dossiers.build(approval, now=now)["sent"]
        assert sent["bytes"] == len(bytes(wish.body))
        assert json.loads(sent["body"]) == json.loads(bytes(wish.body))
        assert sent["body_sha256"] == approval.facts["body_sha256"]

    def test_is_plain_data_that_json_holds(self, approval: Approval, now: datetime) -> None:
        content = dossiers.build(approval, now=now)
        assert json.loads(json.dumps(content)) == content

    def test_the_first_ones_are_named_and_passes_are_visible(self, approval: Approval, now: datetime) -> None:
        told = grades(approval, now)
        assert told["First for this wallet"] == "look"
        assert told["What would be sent"] == "pass"

    def test_the_same_amount_is_named(
        self, approval: Approval, wallet: Wallet, maker: User, now: datetime
    ) -> None:
        again = approval_of(a_deposit(wallet, by=maker, now=now))
        assert grades(again, now)["Same amount"] == "look"
        assert len(dossiers.build(again, now=now)["alike"]) == 1

    def test_more_than_usual_is_named(self, wallet: Wallet, maker: User, now: datetime) -> None:
        for day in range(1, 7):
            a_deposit(wallet, by=maker, now=now - timedelta(days=day), amount="10.00")
        much = approval_of(a_deposit(wallet, by=maker, now=now, amount="500.00"))
        assert grades(much, now)["Usual for this maker"] == "look"
        usual = dossiers.build(much, now=now)["usual"]
        assert {(each["of"], each["days"]) for each in usual} == {
            (of, days) for of in ("maker", "wallet", "customer") for days in (30, 90)
        }
        assert usual[0]["median"] == usual[0]["p95"] == "10.00"

    def test_what_could_not_be_sent_is_a_stop(
        self, approval: Approval, wallet: Wallet, now: datetime
    ) -> None:
        Wallet.objects.filter(pk=wallet.pk).update(is_active=False)
        assert grades(approval, now)["Customer and wallet"] == "stop"
        assert checks.worst_of([]) == "pass"

    def test_card_orders_not_yet_sent_are_counted(
        self, approval: Approval, cardholder: Cardholder, manager: User, now: datetime
    ) -> None:
        an_order(cardholder, by=manager, now=now, cents=150_000)
        (unsent,) = dossiers.build(approval, now=now)["unsent"]
        assert (unsent["kind"], unsent["count"], unsent["total"]) == ("card_order", 1, "1500.00")

    def test_a_card_order_has_one_too(
        self, cardholder: Cardholder, manager: User, checker: User, client_of: SignIn, now: datetime
    ) -> None:
        order = an_order(cardholder, by=manager, now=now, cents=150_000)
        assert grades(approval_of(order), now)["Cardholder"] == "pass"
        page = client_of(checker).get(f"/admin/cards/cardorder/{order.pk}/change/")
        assert "Usual for this cardholder" in text_of(page)


class TestKept:
    def test_is_frozen_with_the_decision(
        self, client_of: SignIn, checker: User, approval: Approval, wallet: Wallet
    ) -> None:
        browser = client_of(checker)
        decide(browser, approval)
        decision = approval.decisions.get()
        kept = Dossier.objects.get(decision=decision).content
        assert kept["decisions"][0]["person"] == "checker"
        Wallet.objects.filter(pk=wallet.pk).update(label="Renamed")
        page = browser.get(f"{QUEUE}{approval.pk}/dossier/{decision.pk}/")
        assert "Treasury" in text_of(page)
        assert "It never changes" in text_of(page)
        answer = browser.get(f"{QUEUE}{approval.pk}/dossier/{decision.pk}/?form=json")
        assert answer.json() == kept
        assert "attachment" in answer["Content-Disposition"]

    def test_is_no_part_of_the_hash(
        self, checker: User, wish: DepositRequest, approval: Approval, now: datetime
    ) -> None:
        comments.comment(approval=approval, text="Is this right?", by=checker, now=now)
        made = deposits.approve_deposit(request=wish, by=checker, seen=approval.facts_hash, now=now)
        assert made.state == "approved"

    @pytest.mark.parametrize("model", [Dossier, Comment])
    def test_never_changes_and_never_goes(
        self, checker: User, wish: DepositRequest, approval: Approval, now: datetime, model: type
    ) -> None:
        comments.comment(approval=approval, text="Is this right?", by=checker, now=now)
        deposits.approve_deposit(request=wish, by=checker, seen=approval.facts_hash, now=now)
        rows = model._default_manager.all()  # type: ignore[attr-defined]
        column: dict[str, object] = {"content": {}} if model is Dossier else {"text": "It was right"}
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**column)
        with pytest.raises(IntegrityError), transaction.atomic():
            rows._raw_delete(rows.db)

    def test_another_decisions_is_not_there(
        self, client_of: SignIn, checker: User, wallet: Wallet, approval: Approval, now: datetime
    ) -> None:
        browser = client_of(checker)
        decide(browser, approval)
        other = approval_of(a_deposit(wallet, by=approval.maker, now=now, amount="1.00"))
        decision = approval.decisions.get()
        assert browser.get(f"{QUEUE}{other.pk}/dossier/{decision.pk}/").status_code == 404
        assert browser.get(f"{QUEUE}{approval.pk}/dossier/").status_code == 200


class TestComments:
    def test_are_read_by_the_maker_too(
        self, client_of: SignIn, checker: User, maker: User, wish: DepositRequest, approval: Approval
    ) -> None:
        answer = client_of(checker).post(
            f"{QUEUE}{approval.pk}/comment/?turn=mine", {"text": "Which <b>invoice</b>?"}
        )
        assert answer["Location"] == f"{QUEUE}?turn=mine&at={approval.pk}"
        page = client_of(maker).get(f"/admin/funding/depositrequest/{wish.pk}/change/")
        assert "Which <b>invoice</b>?" in text_of(page).replace("&lt;", "<")
        assert b"Which <b>invoice" not in page.content
        assert Entry.objects.filter(verb="approval.comment", actor=checker).exists()

    def test_the_maker_answers_on_the_request(
        self, client_of: SignIn, maker: User, checker: User, wish: DepositRequest, approval: Approval
    ) -> None:
        client_of(maker).post(f"/admin/funding/depositrequest/{wish.pk}/comment/", {"text": "Number 7."})
        assert "Number 7." in queue(client_of(checker), f"?at={approval.pk}")

    @pytest.mark.parametrize("text", ["", "   ", "x" * 1001, "4111 1111 1111 1111"])
    def test_say_something_and_no_card_number(
        self, client_of: SignIn, checker: User, approval: Approval, text: str
    ) -> None:
        answer = client_of(checker).post(f"{QUEUE}{approval.pk}/comment/", {"text": text})
        assert answer.status_code == 200
        assert not Comment.objects.exists()

    def test_auditors_and_strangers_write_none(
        self, auditor: User, outsider: User, approval: Approval, now: datetime
    ) -> None:
        for person in (auditor, outsider):
            with pytest.raises(NotAllowed):
                comments.comment(approval=approval, text="Hello", by=person, now=now)
