"""The pages of cardholders: looked at on record, reviewed by compliance."""

import unicodedata
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.audit.models import Entry
from cards import registering, review
from cards.models import Cardholder, CardholderRequest, CardholderReview
from tests.cards.desk import a_business, an_approved_cardholder, cardholders_of, cards_of, texts_of, url

SignIn = Callable[[User], Browser]


@pytest.fixture
def holder(manager: User) -> Cardholder:
    """Somebody whom sync found, and nobody has reviewed."""
    return cardholders_of(a_business(manager), 1)[0]


class TestLooking:
    def test_leaves_one_row_a_view(self, holder: Cardholder, manager: User, client_of: SignIn) -> None:
        browser = client_of(manager)
        for _view in range(2):
            texts_of(browser, url("cardholder", "change", holder.pk))
        looks = Entry.objects.filter(verb="cardholder.look", object_id=str(holder.pk))
        assert [look.actor for look in looks] == [manager, manager]
        assert looks[0].customer_endl_id == "cus_quay"

    def test_leaves_none_for_a_head_a_poll_or_the_list(
        self, holder: Cardholder, manager: User, client_of: SignIn
    ) -> None:
        browser = client_of(manager)
        browser.head(url("cardholder", "change", holder.pk))
        browser.get(url("cardholder", "state", holder.pk))
        browser.get(url("cardholder"))
        assert not Entry.objects.filter(verb="cardholder.look").exists()

    def test_leaves_none_where_nothing_was_seen(
        self, holder: Cardholder, outsider: User, client_of: SignIn
    ) -> None:
        client_of(outsider).get(url("cardholder", "change", holder.pk))
        assert not Entry.objects.filter(verb="cardholder.look").exists()


class TestReviewing:
    def post(self, browser: Browser, holder: Cardholder, verdict: str, **given: str) -> object:
        return browser.post(
            url("cardholder", "review", holder.pk), {"verdict": verdict, "seen": "0", "reason": "", **given}
        )

    def test_approves_and_opens_the_way_to_a_card(
        self, holder: Cardholder, compliance: User, manager: User, client_of: SignIn
    ) -> None:
        desk = client_of(manager)
        assert "Compliance has not approved" in texts_of(desk, url("cardholder", "change", holder.pk))
        self.post(client_of(compliance), holder, "approved")
        holder.refresh_from_db()
        assert holder.review_state == Cardholder.Review.APPROVED
        page = texts_of(desk, url("cardholder", "change", holder.pk))
        assert f"{url('cardorder', 'add')}?cardholder={holder.pk}" in page
        assert "compliance" in page

    def test_a_rejection_needs_a_reason_and_keeps_it(
        self, holder: Cardholder, compliance: User, client_of: SignIn
    ) -> None:
        browser = client_of(compliance)
        answer = self.post(browser, holder, "rejected")
        assert "Say why you reject the cardholder." in answer.content.decode()  # type: ignore[attr-defined]
        self.post(browser, holder, "rejected", reason="Not the person in the papers")
        holder.refresh_from_db()
        assert holder.review_state == Cardholder.Review.REJECTED
        page = texts_of(browser, url("cardholder", "change", holder.pk))
        assert "Not the person in the papers" in page

    def test_a_stale_page_reviews_nobody(
        self, holder: Cardholder, compliance: User, client_of: SignIn
    ) -> None:
        review.review_cardholder(
            cardholder=holder, verdict=CardholderReview.Verdict.REJECTED, reason="No", by=compliance,
            now=timezone.now(),
        )  # fmt: skip
        answer = self.post(client_of(compliance), holder, "approved", seen="0")
        assert "since you looked" in answer.content.decode()  # type: ignore[attr-defined]
        holder.refresh_from_db()
        assert holder.review_state == Cardholder.Review.REJECTED

    @pytest.mark.parametrize("verdict", ["", "unreviewed", "APPROVED", "x" * 300])
    def test_a_verdict_that_is_none_is_refused(
        self, verdict: str, holder: Cardholder, compliance: User, client_of: SignIn
    ) -> None:
        answer = self.post(client_of(compliance), holder, verdict)
        assert "Choose to approve or to reject." in answer.content.decode()  # type: ignore[attr-defined]

    def test_is_not_for_managers_or_auditors(
        self, holder: Cardholder, manager: User, auditor: User, client_of: SignIn
    ) -> None:
        for person in (manager, auditor):
            assert self.post(client_of(person), holder, "approved").status_code == 403  # type: ignore[attr-defined]
        assert not CardholderReview.objects.exists()

    def test_is_not_for_whoever_registered_them(
        self, holder: Cardholder, manager: User, client_of: SignIn
    ) -> None:
        manager.groups.add(Group.objects.get(name="compliance"))
        wish = registering.register_cardholder(
            customer=holder.customer, first_name="N", last_name="B", email="n@example.com", phone="",
            form_token="t" * 20, by=User.objects.get(pk=manager.pk), now=timezone.now(),
        )  # fmt: skip
        CardholderRequest.objects.filter(pk=wish.pk).update(state="registered", cardholder=holder)
        browser = client_of(manager)
        assert "You registered this cardholder" in texts_of(browser, url("cardholder", "change", holder.pk))
        self.post(browser, holder, "approved")
        holder.refresh_from_db()
        assert holder.review_state == Cardholder.Review.UNREVIEWED


class TestTheList:
    @pytest.mark.parametrize("stored", ["NFC", "NFD"])
    @pytest.mark.parametrize("typed", ["NFC", "NFD"])
    def test_finds_a_name_however_its_accents_are_written(
        self, stored: str, typed: str, manager: User, client_of: SignIn
    ) -> None:
        kept, asked = (unicodedata.normalize(form, "Müller") for form in (stored, typed))  # type: ignore[arg-type]
        cardholders_of(a_business(manager), 1, last_name=kept)
        found = client_of(manager).get(url("cardholder"), {"q": asked}).context["cl"]
        assert found.result_count == 1

    def test_finds_by_e_mail_and_id(self, holder: Cardholder, manager: User, client_of: SignIn) -> None:
        browser = client_of(manager)
        for asked in (holder.email, holder.endl_id, "berg nadia"):
            assert browser.get(url("cardholder"), {"q": asked}).context["cl"].result_count == 1
        assert browser.get(url("cardholder"), {"q": "somebody else"}).context["cl"].result_count == 0

    def test_filters_by_review_status_and_customer(
        self, holder: Cardholder, manager: User, client_of: SignIn
    ) -> None:
        an_approved_cardholder(holder.customer)
        browser = client_of(manager)
        for query, count in (
            ({"review_state__exact": "unreviewed"}, 1),
            ({"status": "active"}, 2),
            ({"customer__id__exact": str(holder.customer_id)}, 2),
            ({"customer__id__exact": "0"}, 0),
        ):
            assert browser.get(url("cardholder"), query).context["cl"].result_count == count

    def test_counts_cards_and_marks_what_it_does_not_know(
        self, holder: Cardholder, manager: User, client_of: SignIn
    ) -> None:
        cards_of(holder, 3)
        Cardholder.objects.update(status="dreaming")
        page = client_of(manager).get(url("cardholder"))
        assert page.context["cl"].result_list[0].held == 3
        assert "dreaming · not recognised" in page.content.decode()


def test_what_somebody_else_wrote_is_only_text(holder: Cardholder, manager: User, client_of: SignIn) -> None:
    Cardholder.objects.update(
        first_name='<img src=x x-init="alert(1)">', email="{{ 7*7 }}", payload={"a": "</pre><script>"}
    )
    browser = client_of(manager)
    for address in (url("cardholder"), url("cardholder", "change", holder.pk)):
        page = texts_of(browser, address)
        assert "<img src=x" not in page
        assert "</pre><script>" not in page
        assert "{{ 7*7 }}" in page
