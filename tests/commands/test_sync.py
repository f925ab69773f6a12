"""`sync` and `endl_status`, with the emulator at the other end."""

from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from backoffice.delivery import line
from backoffice.delivery.models import Pause
from backoffice.emulator import Emulator
from backoffice.endl import OursToFix
from backoffice.mirror import reads
from cards.models import Cardholder, Customer
from funding.models import Deposit, Wallet
from tests.commands.conftest import Run


class TestSync:
    def test_every_customer(self, run: Run, emulator: Emulator, business: Customer, wallet: Wallet) -> None:
        emulator.seed(
            cardholders=[{"customerId": business.endl_id}],
            deposits=[{"customerId": business.endl_id, "walletId": wallet.endl_id}],
        )
        ran = run("sync")
        assert (ran.exit_code, ran.summary) == (0, "1 customers synced.")
        assert ran.lines[0] == "cus_harbour: 2 new, 0 changed, 0 missing"
        assert Cardholder.objects.count() == Deposit.objects.count() == 1

    def test_one_customer(self, run: Run, emulator: Emulator, business: Customer) -> None:
        assert run("sync", "--customer", business.endl_id).exit_code == 0

    def test_one_that_nobody_added(self, run: Run) -> None:
        ran = run("sync", "--customer", "cus_nobody")
        assert ran.exit_code == 1
        assert "add it first" in ran.summary

    def test_trouble_is_told(self, run: Run, emulator: Emulator, business: Customer) -> None:
        emulator.seed(customers=[{"customerId": business.endl_id, "cardsEnabled": False}])
        ran = run("sync")
        assert ran.exit_code == 1
        assert "not enabled" in ran.lines[0]
        assert ran.summary == "1 customers asked for, 1 with trouble."

    def test_not_while_everything_is_paused(self, run: Run, business: Customer) -> None:
        line.pause(OursToFix("no", code="ERRCORE_1004"), scope=Pause.Scope.EVERYTHING, now=timezone.now())
        ran = run("sync")
        assert ran.exit_code == 1
        assert "endl_status" in ran.summary


class TestEndlStatus:
    def test_all_is_well(self, run: Run, business: Customer) -> None:
        ran = run("endl_status")
        assert ran.exit_code == 0, ran.text
        assert ran.summary == "The line to Endl is well."
        assert line.the_line().probe_customer == business.endl_id

    def test_no_secret_is_shown(self, run: Run, business: Customer, settings: Settings) -> None:
        settings.ENDL_HTTP_PROXY = ""
        text = run("endl_status").text
        assert settings.ENDL_API_KEY not in text
        assert not any(secret in text for secret in settings.ENDL_WEBHOOK_SECRETS)

    @pytest.mark.parametrize(
        ("switch", "words"), [({"api_key": "another"}, "ENDL_API_KEY"), ({"allowlisted": False}, "address")]
    )
    def test_a_refused_key_or_address(
        self, run: Run, emulator: Emulator, business: Customer, switch: dict[str, object], words: str
    ) -> None:
        emulator.settings(**switch)
        ran = run("endl_status")
        assert ran.exit_code == 1
        assert words in ran.text
        assert ran.summary == "1 problems with the line to Endl."

    def test_a_key_that_was_never_tried(self, run: Run, registered_key: Path) -> None:
        ran = run("endl_status")
        assert ran.exit_code == 1
        assert "Add a business customer" in ran.text

    def test_pauses_with_their_remedy(self, run: Run, business: Customer) -> None:
        remedy = "Register this server's address."
        problem = OursToFix("Not allowed", code="IP_NOT_ALLOWLISTED", remedy=remedy)
        line.pause(problem, scope=Pause.Scope.EVERYTHING, now=timezone.now())
        ran = run("endl_status")
        assert ran.exit_code == 1
        assert remedy in ran.text

    def test_a_read_that_endl_lacks_is_told_and_no_problem(
        self, run: Run, emulator: Emulator, business: Customer
    ) -> None:
        emulator.settings(reads_off=["list_deposits"])
        run("sync")
        ran = run("endl_status")
        assert ran.exit_code == 0, ran.text
        assert f"read {reads.LIST_DEPOSITS}: off since" in ran.text

    def test_keys_that_are_missing_or_unreadable(
        self, run: Run, business: Customer, settings: Settings, tmp_path: Path
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = []
        assert "ENDL_PRIVATE_KEY_FILES" in run("endl_status").text
        bad = tmp_path / "bad.pem"
        bad.write_text("no key")
        settings.ENDL_PRIVATE_KEY_FILES = [bad]
        ran = run("endl_status")
        assert ran.exit_code == 1
        assert "bad.pem" in ran.text

    def test_webhooks_that_are_off(self, run: Run, business: Customer, settings: Settings) -> None:
        settings.ENDL_WEBHOOK_SECRETS = []
        assert "ENDL_WEBHOOK_SECRETS" in run("endl_status").text
