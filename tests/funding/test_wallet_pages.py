"""The pages of wallets and of webhook events."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

from backoffice.access.models import User
from cards.models import Customer
from funding.models import Wallet, WebhookEvent
from tests.funding.conftest import a_token, an_event, deliver, text_of
from tests.funding.movements import a_deposit

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Browser]
ROOT = "/admin/funding"


class TestWallets:
    def add(self, browser: Browser, owner: Customer, **more: str) -> Any:
        given = {
            "form_token": a_token(),
            "customer": owner.pk,
            "endl_id": "wlt_new",
            "label": "New",
            "chain": "base",
            "currency": "USDC",
        }
        return browser.post(f"{ROOT}/wallet/add/", given | more)

    def test_maker_adds_one(self, client_of: SignIn, maker: User, business: Customer) -> None:
        assert self.add(client_of(maker), business).status_code == 302
        kept = Wallet.objects.get(endl_id="wlt_new")
        assert (kept.currency, kept.added_by, kept.source) == ("USDC", maker, Wallet.Source.TYPED)

    @pytest.mark.parametrize(
        "currency",
        [
            "usd",
            "USD ",
            " USD",
            "usd ",
            "U\u0405D",
            "\uff35\uff33\uff24",
            "💸💸💸",
            "U",
            "X" * 13,
            "US-D",
            "USD\u200b",
            "USD\n",
            "",
            "\x00",
            "\u0663\u0663\u0663",
            "$",
        ],
    )
    def test_a_currency_is_an_exact_code(
        self, client_of: SignIn, maker: User, business: Customer, currency: str
    ) -> None:
        form = self.add(client_of(maker), business, currency=currency).context["form"]
        assert form.errors["currency"]
        assert not Wallet.objects.filter(endl_id="wlt_new").exists()

    @pytest.mark.parametrize(
        ("field", "typed"),
        [
            ("endl_id", ""),
            ("endl_id", "wlt 1"),
            ("endl_id", "../x"),
            ("endl_id", "x" * 129),
            ("label", "x" * 101),
            ("label", "a\u202eb"),
            ("label", "4111111111111111"),
            ("chain", "x" * 41),
            ("customer", ""),
            ("customer", "99"),
        ],
    )
    def test_a_bad_field_gets_a_sentence(
        self, client_of: SignIn, maker: User, business: Customer, field: str, typed: str
    ) -> None:
        assert self.add(client_of(maker), business, **{field: typed}).context["form"].errors[field]

    def test_an_id_that_is_known_is_said_at_its_field(
        self, client_of: SignIn, maker: User, wallet: Wallet
    ) -> None:
        form = self.add(client_of(maker), wallet.customer, endl_id=wallet.endl_id).context["form"]
        assert form.errors["endl_id"] == ["wlt_harbour was added before."]

    def test_a_learned_one_is_marked_and_completed(
        self, client_of: SignIn, maker: User, business: Customer
    ) -> None:
        a_deposit(business, walletId="wlt_seen")
        wallet = Wallet.objects.get(endl_id="wlt_seen")
        browser, page = client_of(maker), f"{ROOT}/wallet/{wallet.pk}/"
        assert "Seen at Endl" in text_of(browser.get(f"{ROOT}/wallet/"))
        assert "Seen at Endl" in text_of(browser.get(f"{page}change/"))
        assert "cdp_1" in text_of(browser.get(f"{page}change/"))
        assert browser.post(f"{page}details/", {"currency": "usd", "is_active": "on"}).status_code == 200
        assert browser.post(f"{page}details/", {"currency": "USDC", "is_active": "on"}).status_code == 302
        wallet.refresh_from_db()
        assert (wallet.currency, wallet.is_active) == ("USDC", True)

    def test_checker_changes_nothing(self, client_of: SignIn, checker: User, wallet: Wallet) -> None:
        page = f"{ROOT}/wallet/{wallet.pk}/"
        assert client_of(checker).post(f"{page}details/", {"currency": "USD"}).status_code == 403
        assert "Change details" not in text_of(client_of(checker).get(f"{page}change/"))


class TestEventPages:
    def test_show_what_came_and_what_came_of_it(
        self, client_of: SignIn, checker: User, business: Customer
    ) -> None:
        deliver(an_event(depositId="cdp_1", customerId=business.endl_id, note="<b>x</b>"))
        deliver(an_event(depositId="cdp_2", customerId=business.endl_id))
        event = WebhookEvent.objects.get()
        shown = text_of(client_of(checker).get(f"{ROOT}/webhookevent/{event.pk}/change/"))
        for part in (
            "card_deposit.completed",
            "evt_1",
            "cdp_1",
            "Harbour & Sons",
            "Deliveries 2",
            "Conflict",
            "At once",
        ):
            assert part in shown

    def test_those_of_unknown_customers_are_for_people_who_see_all(
        self, client_of: SignIn, auditor: User
    ) -> None:
        deliver(an_event(depositId="cdp_1", customerId="cus_nobody"))
        assert client_of(auditor).get(f"{ROOT}/webhookevent/").context["cl"].result_count == 1
