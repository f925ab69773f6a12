"""The pages where cardholders are registered."""

import json
from collections.abc import Callable

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.delivery.models import State
from backoffice.endl import Client
from cards import phones, registering
from cards.models import Assignment, CardholderRequest, Customer
from tests.cards.desk import a_business, errors, submit, texts_of, url

SignIn = Callable[[User], Browser]
ANN = {"first_name": "Ann", "last_name": "Lee", "email": "ann.lee@example.com", "phone": ""}


@pytest.fixture
def quay(manager: User) -> Customer:
    return a_business(manager)


@pytest.fixture
def desk(manager: User, client_of: SignIn) -> Browser:
    return client_of(manager)


class TestTheForm:
    def test_registers_somebody_and_leads_to_the_page(self, quay: Customer, desk: Browser) -> None:
        answer = submit(desk, "cardholderrequest", customer=quay.pk, **ANN)
        made = CardholderRequest.objects.get()
        assert answer.headers["Location"] == url("cardholderrequest", "change", made.pk)
        assert json.loads(bytes(made.body)) == {
            "firstName": "Ann", "lastName": "Lee", "email": "ann.lee@example.com",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("first", "last"),
        [
            ("Siobhán", "O'Connor"),
            ("D\u2019Arcy", "Smith-Jones"),
            ("山田", "太郎"),
            ("محمد", "العربي"),
            ("Nguyễn", "Ánh"),
            ("Ju\u0308rgen", "Mu\u0308ller"),
            ("J.", "II."),
            ("X Æ A-12", "3rd"),
            ("क्\u200dष", "शर्मा"),
            ("Anna  Maria", "de la  Cruz"),
            ("x" * 100, "y" * 100),
        ],
    )
    def test_takes_every_name_as_it_was_typed(
        self, first: str, last: str, quay: Customer, desk: Browser
    ) -> None:
        given = {**ANN, "first_name": f"  {first} ", "last_name": last}
        submit(desk, "cardholderrequest", customer=quay.pk, **given)
        made = CardholderRequest.objects.get()
        assert (made.first_name, made.last_name) == (first, last)

    @pytest.mark.parametrize("field", ["first_name", "last_name"])
    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            ("", "needs a first and a last name"),
            ("   ", "needs a first and a last name"),
            ("\u200b\u2060", "needs a first and a last name"),
            ("An\u0000n", "control or direction"),
            ("An\nn", "control or direction"),
            ("An\u202en", "control or direction"),
            ("An\u200bn", "control or direction"),
            ("x" * 101, "at most 100 characters"),
            ("4111 1111 1111 1111", "card number"),
        ],
    )
    def test_refuses_a_name_that_nobody_can_read(
        self, field: str, typed: str, told: str, quay: Customer, desk: Browser
    ) -> None:
        answer = submit(desk, "cardholderrequest", customer=quay.pk, **{**ANN, field: typed})
        assert list(errors(answer)) == [field]
        assert told in errors(answer)[field][0]
        assert answer.context["form"][field].value() == typed
        assert not CardholderRequest.objects.exists()

    @pytest.mark.parametrize(
        "typed", ["", "ann", "ann@", "ann@host", "a b@example.com", "ann@example.com\u0000"]
    )
    def test_wants_a_whole_address(self, typed: str, quay: Customer, desk: Browser) -> None:
        answer = submit(desk, "cardholderrequest", customer=quay.pk, **{**ANN, "email": typed})
        assert list(errors(answer)) == ["email"]

    @pytest.mark.parametrize("customer", ["", "0", "abc", "99999999999999999999", "1\u0000", "-1"])
    def test_wants_a_business_of_the_list(self, customer: str, quay: Customer, desk: Browser) -> None:
        answer = submit(desk, "cardholderrequest", customer=customer, **ANN)
        assert list(errors(answer)) == ["customer"]

    def test_offers_businesses_in_use_only(self, manager: User, quay: Customer, desk: Browser) -> None:
        a_business(manager, "cus_one", "One Person", type=Customer.Type.INDIVIDUAL)
        a_business(manager, "cus_old", "Old Ltd", is_active=False)
        page = texts_of(desk, url("cardholderrequest", "add"))
        assert "Quay Ltd" in page
        assert "One Person" not in page
        assert "Old Ltd" not in page

    def test_says_at_the_field_what_the_operation_refuses(
        self, manager: User, quay: Customer, desk: Browser
    ) -> None:
        submit(desk, "cardholderrequest", customer=quay.pk, **ANN)
        answer = submit(
            desk, "cardholderrequest", customer=quay.pk, **{**ANN, "email": "Ann.Lee@EXAMPLE.com"}
        )
        assert "already has a cardholder with this e-mail" in errors(answer)["email"][0]
        Customer.objects.update(is_enabled=False)
        answer = submit(desk, "cardholderrequest", customer=quay.pk, **{**ANN, "email": "b@example.com"})
        assert "not enabled for cards" in errors(answer)["customer"][0]

    def test_a_second_click_shows_what_the_first_one_made(self, quay: Customer, desk: Browser) -> None:
        page = desk.get(url("cardholderrequest", "add"))
        typed = {"form_token": page.context["form"].fields["form_token"].initial, "customer": quay.pk, **ANN}
        first, second = (desk.post(url("cardholderrequest", "add"), typed) for _click in range(2))
        assert first.headers["Location"] == second.headers["Location"]
        assert CardholderRequest.objects.count() == 1

    def test_somebody_elses_page_is_not_taken(
        self, quay: Customer, desk: Browser, outsider: User, client_of: SignIn
    ) -> None:
        Assignment.objects.create(user=outsider, customer=quay)
        token = desk.get(url("cardholderrequest", "add")).context["form"].fields["form_token"].initial
        typed = {"form_token": token, "customer": quay.pk, **ANN}
        desk.post(url("cardholderrequest", "add"), typed)
        answer = client_of(outsider).post(
            url("cardholderrequest", "add"), {**typed, "email": "b@example.com"}
        )
        assert "somebody else" in errors(answer)["__all__"][0]

    def test_fields_that_nobody_asked_for_change_nothing(self, quay: Customer, desk: Browser) -> None:
        submit(
            desk, "cardholderrequest", customer=quay.pk, **ANN,
            state="registered", idempotency_key="x" * 30, maker="1", base_url="https://evil.example",
        )  # fmt: skip
        made = CardholderRequest.objects.get()
        assert made.state == State.REQUESTED
        assert made.idempotency_key.startswith("office-")
        assert "evil" not in made.base_url


class TestPhone:
    @pytest.mark.parametrize(
        ("typed", "kept"),
        [
            ("+14155552671", "+14155552671"),
            ("+1 (415) 555-2671", "+14155552671"),
            ("+1.415.555.2671", "+14155552671"),
            ("+44 20 7946 0958", "+442079460958"),
            (" +4915112345678 ", "+4915112345678"),
            ("", ""),
        ],
    )
    def test_is_kept_as_e164(self, typed: str, kept: str, quay: Customer, desk: Browser) -> None:
        submit(desk, "cardholderrequest", customer=quay.pk, **{**ANN, "phone": typed})
        assert CardholderRequest.objects.get().phone == kept

    @pytest.mark.parametrize(
        "typed",
        [
            "(415) 555-2671", "4155552671", "0014155552671", "+1 415 555 2671 ext. 5", "+14155552671x5",
            "+١٤١٥٥٥٥٢٦٧١", "+14155552671;phone-context=x", "+1415555267123456789", "+1 415", "+999 12345678",
            "+", "call me", "+1\u00a0415\u00a05552671", "tel:+14155552671",
        ],
    )  # fmt: skip
    def test_of_another_form_is_refused_with_the_wanted_one(
        self, typed: str, quay: Customer, desk: Browser
    ) -> None:
        answer = submit(desk, "cardholderrequest", customer=quay.pk, **{**ANN, "phone": typed})
        assert "Write it with + and country code, such as +14155552671" in errors(answer)["phone"][0]
        assert answer.context["form"]["phone"].value() == typed

    def test_never_breaks(self) -> None:
        for text in ("+" + "9" * 400, "+0", "+-", "+\u0000", "++1"):
            with pytest.raises(phones.NotAPhoneNumber):
                phones.to_e164(text)


class TestThePage:
    def test_follows_the_registration_to_its_cardholder(
        self, business: Customer, endl: Client, desk: Browser
    ) -> None:
        submit(desk, "cardholderrequest", customer=business.pk, **ANN)
        made = CardholderRequest.objects.get()
        page = texts_of(desk, url("cardholderrequest", "change", made.pk))
        assert 'data-live-state="requested"' in page
        assert made.idempotency_key in page
        assert "&quot;firstName&quot;: &quot;Ann&quot;" in page
        sender.deliver(registering.ROAD, made.pk, endl=endl)
        made.refresh_from_db()
        assert desk.get(url("cardholderrequest", "state", made.pk)).json() == {
            "state": "registered", "under_way": False,
        }  # fmt: skip
        page = texts_of(desk, url("cardholderrequest", "change", made.pk))
        assert 'data-state="registered"' in page
        assert url("cardholder", "change", made.cardholder_id) in page

    def test_shows_what_endl_refused_and_starts_again_from_it(self, quay: Customer, desk: Browser) -> None:
        submit(desk, "cardholderrequest", customer=quay.pk, **ANN)
        made = CardholderRequest.objects.get()
        CardholderRequest.objects.update(
            state=State.REFUSED, outcome_code="ERRCRD_1005", outcome_message="lastName must be Latin.",
            outcome_field="lastName", outcome_remedy="Mend the field that Endl names.",
        )  # fmt: skip
        page = texts_of(desk, url("cardholderrequest", "change", made.pk))
        for told in ("lastName must be Latin.", "ERRCRD_1005", "Mend the field", ">lastName<"):
            assert told in page
        again = f"{url('cardholderrequest', 'add')}?again={made.pk}"
        assert again in page
        form = desk.get(again).context["form"]
        assert (form["first_name"].value(), form["email"].value()) == ("Ann", "ann.lee@example.com")
        assert form["customer"].value() == quay.pk

    def test_nothing_out_of_scope_is_started_again(
        self, quay: Customer, desk: Browser, outsider: User, client_of: SignIn
    ) -> None:
        submit(desk, "cardholderrequest", customer=quay.pk, **ANN)
        again = f"{url('cardholderrequest', 'add')}?again={CardholderRequest.objects.get().pk}"
        assert client_of(outsider).get(again).context["form"]["first_name"].value() is None

    def test_its_maker_cancels_it(self, quay: Customer, desk: Browser) -> None:
        submit(desk, "cardholderrequest", customer=quay.pk, **ANN)
        made = CardholderRequest.objects.get()
        assert desk.get(url("cardholderrequest", "cancel", made.pk)).status_code == 200
        desk.post(url("cardholderrequest", "cancel", made.pk), {"reason": "Wrong person"})
        made.refresh_from_db()
        assert made.state == State.CANCELLED

    def test_a_cancellation_that_comes_too_late_is_told_so(self, quay: Customer, desk: Browser) -> None:
        submit(desk, "cardholderrequest", customer=quay.pk, **ANN)
        made = CardholderRequest.objects.get()
        CardholderRequest.objects.update(state=State.UNKNOWN, unclear_at=timezone.now())
        answer = desk.post(url("cardholderrequest", "cancel", made.pk), {"reason": ""})
        assert "cannot be cancelled any more" in errors(answer)["__all__"][0]
        answer = desk.get(url("cardholderrequest", "cancel", made.pk))
        assert answer.headers["Location"] == url("cardholderrequest", "change", made.pk)
