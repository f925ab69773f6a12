"""The pages where single-use cards are ordered and decided on."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.approvals.models import Decision
from backoffice.delivery import sender
from backoffice.delivery.models import State
from backoffice.endl import Client
from backoffice.pages import forms as pages_forms
from cards import issuing, sync
from cards.models import Assignment, Cardholder, CardOrder
from tests.cards.desk import a_business, an_approved_cardholder, cardholders_of, errors, submit, texts_of, url

SignIn = Callable[[User], Browser]
NEW = {"amount": "19.99", "purpose": "A train ticket"}


@pytest.fixture
def holder(manager: User) -> Cardholder:
    return an_approved_cardholder(a_business(manager))


@pytest.fixture
def desk(manager: User, client_of: SignIn) -> Browser:
    return client_of(manager)


def the_order() -> CardOrder:
    return CardOrder.objects.select_related("approval").get()


class TestAmount:
    @pytest.mark.parametrize(
        ("typed", "cents"),
        [
            ("19.99", 1999), ("8.29", 829), ("0.29", 29), ("1.15", 115), ("4.35", 435), ("64.10", 6410),
            ("7.77", 777), ("0.01", 1), ("9999.99", 999999), ("100000", 10_000_000), ("5", 500),
            ("100000.00", 10_000_000), ("5.5", 550), (" 19.99 ", 1999),
        ],
    )  # fmt: skip
    def test_is_sent_as_the_exact_cents(
        self, typed: str, cents: int, holder: Cardholder, desk: Browser
    ) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, amount=typed, purpose="x")
        order = the_order()
        assert order.amount_cents == cents
        sent = json.loads(bytes(order.body))
        assert sent == {"amountInUSDCents": cents}
        assert type(sent["amountInUSDCents"]) is int

    @pytest.mark.parametrize(
        "typed",
        [
            "1e3", "1_000", "١٢", "\uff11\uff12", "12,50", "1,234.56", "1.234,56", "+5", "-1", "-0", ".5",
            "5.", "NaN", "Infinity", "0", "0.00", "0.001", "9" * 40, "0x10", "12\u00a050", "1 234",
            "1e1000000", "100000.01", "99999999999.99", "007", "$5", "5 USD",
            "1\u0000", "12\n50", "\u202e5", "½", "1.2.3",
        ],
    )  # fmt: skip
    def test_of_another_form_is_refused_with_the_wanted_one(
        self, typed: str, holder: Cardholder, desk: Browser
    ) -> None:
        answer = submit(desk, "cardorder", cardholder=holder.pk, amount=typed, purpose="x")
        assert list(errors(answer)) == ["amount"]
        assert errors(answer)["amount"][0].endswith(".")
        assert answer.context["form"]["amount"].value() == typed
        assert not CardOrder.objects.exists()

    def test_names_the_limits(self, holder: Cardholder, desk: Browser) -> None:
        answer = submit(desk, "cardorder", cardholder=holder.pk, amount="100000.01", purpose="x")
        assert errors(answer) == {"amount": ["Give an amount from 0.01 to 100,000.00 USD."]}

    def test_is_never_taken_from_the_address(self, holder: Cardholder, desk: Browser) -> None:
        form = desk.get(f"{url('cardorder', 'add')}?amount=75&cardholder={holder.pk}").context["form"]
        assert form["amount"].value() is None
        assert form["cardholder"].value() == holder.pk


class TestTheForm:
    def test_wants_a_purpose_of_at_most_140_characters(self, holder: Cardholder, desk: Browser) -> None:
        for typed, told in (
            ("", "Say what the card is for."),
            ("x" * 141, "at most 140"),
            ("a\u202eb", "direction"),
        ):
            answer = submit(desk, "cardorder", cardholder=holder.pk, amount="5", purpose=typed)
            assert told in errors(answer)["purpose"][0]

    @pytest.mark.parametrize("chosen", ["", "0", "abc", "99999999999999999999", "-1", "1\u0000"])
    def test_wants_a_cardholder_of_the_list(self, chosen: str, holder: Cardholder, desk: Browser) -> None:
        assert list(errors(submit(desk, "cardorder", cardholder=chosen, **NEW))) == ["cardholder"]

    def test_offers_approved_cardholders_only(self, holder: Cardholder, desk: Browser) -> None:
        unreviewed = cardholders_of(holder.customer, 1, first_name="Waiting")[0]
        page = texts_of(desk, url("cardorder", "add"))
        assert holder.endl_id in page
        assert unreviewed.endl_id not in page
        answer = submit(desk, "cardorder", cardholder=unreviewed.pk, **NEW)
        assert list(errors(answer)) == ["cardholder"]

    def test_says_at_the_cardholder_what_the_operation_refuses(
        self, holder: Cardholder, desk: Browser
    ) -> None:
        Cardholder.objects.update(status="disabled")
        answer = submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        assert "disabled at Endl" in errors(answer)["cardholder"][0]

    def test_tells_the_ceilings_in_words(self, holder: Cardholder, desk: Browser) -> None:
        page = texts_of(desk, url("cardorder", "add"))
        assert "Up to 1,000.00 USD a card, and 5,000.00 USD in 24 hours" in page

    def test_a_second_click_shows_the_order_of_the_first(self, holder: Cardholder, desk: Browser) -> None:
        token = desk.get(url("cardorder", "add")).context["form"].fields["form_token"].initial
        typed = {"form_token": token, "cardholder": holder.pk, **NEW}
        first, second = (desk.post(url("cardorder", "add"), typed) for _click in range(2))
        assert (
            first.headers["Location"]
            == second.headers["Location"]
            == url("cardorder", "change", the_order().pk)
        )

    def test_fields_that_nobody_asked_for_change_nothing(self, holder: Cardholder, desk: Browser) -> None:
        submit(
            desk, "cardorder", cardholder=holder.pk, amount="1500", purpose="x",
            state="approved", amount_cents="1", idempotency_key="x" * 30, approval="1", maker="1",
        )  # fmt: skip
        order = the_order()
        assert (order.state, order.amount_cents) == (State.REQUESTED, 150_000)
        assert order.idempotency_key.startswith("office-")


class TestTheSameOrderAgain:
    def test_is_asked_about_before_it_goes(self, holder: Cardholder, desk: Browser) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        answer = submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        assert "manager ordered a card of 19.99 USD for Nadia Berg 0" in errors(answer)["__all__"][0]
        assert "Yes, a second card" in answer.content.decode()
        assert CardOrder.objects.count() == 1

    def test_goes_when_a_second_card_is_wanted(self, holder: Cardholder, desk: Browser) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        submit(desk, "cardorder", cardholder=holder.pk, **NEW, second="on")
        assert CardOrder.objects.count() == 2

    def test_counts_whoever_made_the_first(
        self, holder: Cardholder, desk: Browser, outsider: User, client_of: SignIn
    ) -> None:
        Assignment.objects.create(user=outsider, customer=holder.customer)
        submit(client_of(outsider), "cardorder", cardholder=holder.pk, **NEW)
        assert (
            "outsider ordered" in errors(submit(desk, "cardorder", cardholder=holder.pk, **NEW))["__all__"][0]
        )

    def test_another_amount_or_another_person_is_another_order(
        self, holder: Cardholder, desk: Browser
    ) -> None:
        somebody = an_approved_cardholder(holder.customer)
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        submit(desk, "cardorder", cardholder=holder.pk, amount="20.00", purpose="x")
        submit(desk, "cardorder", cardholder=somebody.pk, **NEW)
        assert CardOrder.objects.count() == 3

    def test_one_that_came_to_nothing_does_not_count(self, holder: Cardholder, desk: Browser) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        desk.post(url("cardorder", "cancel", the_order().pk), {"reason": ""})
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        assert CardOrder.objects.count() == 2

    def test_is_no_question_after_ten_minutes(self, holder: Cardholder, desk: Browser, manager: User) -> None:
        issuing.request_card(
            cardholder=holder, amount_cents=1999, purpose="x", form_token="t" * 20, by=manager,
            now=timezone.now() - timedelta(minutes=11),
        )  # fmt: skip
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        assert CardOrder.objects.count() == 2


class TestThePicker:
    @pytest.fixture(autouse=True)
    def long_list(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What counts as too long is small here, to be quick."""
        monkeypatch.setattr("cards.forms.SHORT_LIST", 3)
        assert pages_forms.SHORT_LIST == 300

    def test_stands_where_the_list_would_be_too_long(self, holder: Cardholder, desk: Browser) -> None:
        cardholders_of(holder.customer, 5, review_state="approved")
        page = texts_of(desk, url("cardorder", "add"))
        assert 'data-ajax--url="/admin/autocomplete/"' in page
        assert "admin/js/autocomplete.js" in page
        assert "nadia" not in page

    def test_takes_what_was_picked_and_survives_what_was_not(self, holder: Cardholder, desk: Browser) -> None:
        cardholders_of(holder.customer, 5, review_state="approved")
        for chosen in ("abc", "99999999999999999999", "1\u0000", "²"):
            assert "cardholder" in errors(submit(desk, "cardorder", cardholder=chosen, **NEW))
        answer = submit(desk, "cardorder", cardholder=holder.pk, amount="x", purpose="x")
        assert holder.endl_id in answer.content.decode()
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        assert the_order().cardholder == holder

    def test_gives_names_and_ids_of_approved_people_in_scope(
        self, holder: Cardholder, desk: Browser, outsider: User, client_of: SignIn
    ) -> None:
        cardholders_of(holder.customer, 2)
        asked = "/admin/autocomplete/?app_label=cards&model_name=cardorder&field_name=cardholder&term=berg"
        found = desk.get(asked).json()["results"]
        assert found == [{"id": str(holder.pk), "text": "Nadia Berg 0"}]
        assert client_of(outsider).get(asked).json()["results"] == []

    def test_is_closed_to_who_sees_no_cardholders(
        self, holder: Cardholder, maker: User, client_of: SignIn
    ) -> None:
        asked = "/admin/autocomplete/?app_label=cards&model_name=cardorder&field_name=cardholder&term=berg"
        assert client_of(maker).get(asked).status_code == 403


class TestDeciding:
    @pytest.fixture
    def large(self, holder: Cardholder, desk: Browser) -> CardOrder:
        """An order above the ceiling."""
        submit(desk, "cardorder", cardholder=holder.pk, amount="1000.01", purpose="A conference")
        return the_order()

    def post(self, browser: Browser, order: CardOrder, **given: str) -> object:
        assert order.approval is not None
        seen = {"seen": order.approval.facts_hash, "verdict": "approve", "reason": ""}
        return browser.post(url("cardorder", "decide", order.pk), {**seen, **given})

    def test_the_ceiling_itself_needs_nobody(self, holder: Cardholder, desk: Browser) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, amount="1000.00", purpose="x")
        assert the_order().state == State.APPROVED
        assert "within the manager&#x27;s ceiling" in texts_of(
            desk, url("cardorder", "change", the_order().pk)
        )

    def test_a_checker_approves_what_the_page_shows(
        self, large: CardOrder, checker: User, client_of: SignIn
    ) -> None:
        browser = client_of(checker)
        page = texts_of(browser, url("cardorder", "change", large.pk))
        for shown in ("1,000.01", "A conference", large.idempotency_key, "amountInUSDCents&quot;: 100001"):
            assert shown in page
        self.post(browser, large)
        large.refresh_from_db()
        assert large.state == State.APPROVED

    def test_its_maker_cannot(self, large: CardOrder, desk: Browser) -> None:
        assert "another person must decide" in texts_of(desk, url("cardorder", "change", large.pk))
        self.post(desk, large)
        assert not Decision.objects.exists()

    def test_compliance_and_auditor_cannot(
        self, large: CardOrder, compliance: User, auditor: User, client_of: SignIn
    ) -> None:
        for person in (compliance, auditor):
            self.post(client_of(person), large)
        assert not Decision.objects.exists()

    def test_a_stale_page_decides_nothing(self, large: CardOrder, checker: User, client_of: SignIn) -> None:
        browser = client_of(checker)
        self.post(browser, large, seen="0" * 64)
        assert not Decision.objects.exists()
        page = browser.get(url("cardorder", "change", large.pk))
        assert "This changed since you looked" in page.content.decode()

    def test_the_second_checker_is_told_who_was_first(
        self, large: CardOrder, checker: User, checker2: User, client_of: SignIn
    ) -> None:
        self.post(client_of(checker), large)
        browser = client_of(checker2)
        self.post(browser, large)
        assert "checker was first: approved" in texts_of(browser, url("cardorder", "change", large.pk))
        assert Decision.objects.count() == 1

    def test_a_rejection_needs_a_reason(self, large: CardOrder, checker: User, client_of: SignIn) -> None:
        browser = client_of(checker)
        answer = self.post(browser, large, verdict="reject")
        assert "Say why you reject it" in answer.content.decode()  # type: ignore[attr-defined]
        self.post(browser, large, verdict="reject", reason="Too much")
        large.refresh_from_db()
        assert large.state == State.REJECTED


class TestThePage:
    def test_goes_from_approved_to_issued_and_leads_to_the_card(
        self, cardholder: Cardholder, endl: Client, desk: Browser
    ) -> None:
        submit(desk, "cardorder", cardholder=cardholder.pk, **NEW)
        order = the_order()
        assert 'data-live-state="approved"' in texts_of(desk, url("cardorder", "change", order.pk))
        sender.deliver(issuing.ROAD, order.pk, endl=endl)
        order.refresh_from_db()
        news = desk.get(url("cardorder", "state", order.pk)).json()
        assert news == {"state": "issued", "under_way": False}
        assert url("card", "change", order.card_id) in texts_of(desk, url("cardorder", "change", order.pk))

    def test_says_that_details_are_lost_and_never_asks_by_itself(
        self, holder: Cardholder, desk: Browser
    ) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        order = the_order()
        CardOrder.objects.update(state=State.DETAILS_LOST, outcome_code="ERRCRD_1008")
        page = texts_of(desk, url("cardorder", "change", order.pk))
        assert "never reached this office" in page
        again = f"{url('cardorder', 'add')}?again={order.pk}"
        assert again in page
        assert "Request another card" in page
        form = desk.get(again).context["form"]
        assert (form["cardholder"].value(), form["amount"].value()) == (holder.pk, "19.99")
        assert form["purpose"].value() == "A train ticket"
        assert CardOrder.objects.count() == 1

    def test_its_maker_cancels_it_before_it_is_sent(
        self, holder: Cardholder, desk: Browser, compliance: User, client_of: SignIn
    ) -> None:
        submit(desk, "cardorder", cardholder=holder.pk, **NEW)
        order = the_order()
        assert client_of(compliance).post(url("cardorder", "cancel", order.pk)).status_code == 403
        desk.post(url("cardorder", "cancel", order.pk), {"reason": "Not needed"})
        order.refresh_from_db()
        assert order.state == State.CANCELLED

    def test_a_refused_order_says_why_and_starts_again(
        self, cardholder: Cardholder, endl: Client, desk: Browser
    ) -> None:
        submit(desk, "cardorder", cardholder=cardholder.pk, **NEW)
        Cardholder.objects.update(endl_id="ch_nobody")
        order = the_order()
        CardOrder.objects.update(state=State.REFUSED, outcome_message="cardholder not found")
        page = texts_of(desk, url("cardorder", "change", order.pk))
        assert "cardholder not found" in page
        assert "Order again with changes" in page


def test_the_sync_is_what_confirms_a_card(cardholder: Cardholder, endl: Client, desk: Browser) -> None:
    submit(desk, "cardorder", cardholder=cardholder.pk, **NEW)
    sender.deliver(issuing.ROAD, the_order().pk, endl=endl)
    sync.sync_cardholders(customer=cardholder.customer, endl=endl, by="system: sync", now=timezone.now())
    page = texts_of(desk, url("cardholder", "change", cardholder.pk))
    assert "A train ticket" in page
    assert "19.99" in page
