"""The pages of keys and of retention, and the button that destroys details."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from django.test import Client as Browser
from pytest_django import Settings

from backoffice.access.models import User
from cards import keyring, retention, retention_report
from cards.models import Card, EncryptionKey, RetentionReport, SealedDetails
from tests.cards.desk import texts_of, url

SignIn = Callable[[User], Browser]


@pytest.fixture
def key(db: None, registered_key: Path) -> EncryptionKey:
    keyring.keep_in_step()
    return EncryptionKey.objects.get()


class TestKeys:
    def test_who_may_look(
        self, key: EncryptionKey, client_of: SignIn, administrator: User, auditor: User, manager: User,
        compliance: User, maker: User,
    ) -> None:  # fmt: skip
        for person, status in (
            (administrator, 200),
            (auditor, 200),
            (manager, 403),
            (compliance, 403),
            (maker, 403),
        ):
            browser = client_of(person)
            assert browser.get(url("encryptionkey")).status_code == status
            assert browser.get(url("encryptionkey", "change", key.pk)).status_code == status

    def test_the_list_tells_states_and_files(
        self, key: EncryptionKey, details: SealedDetails, client_of: SignIn, administrator: User,
        registered_key: Path,
    ) -> None:  # fmt: skip
        page = texts_of(client_of(administrator), url("encryptionkey"))
        assert 'data-state="active"' in page
        assert key.fingerprint[:16] in page
        assert str(registered_key) in page
        assert "PRIVATE" not in page

    def test_the_page_has_what_endl_must_be_given(
        self, key: EncryptionKey, details: SealedDetails, client_of: SignIn, auditor: User
    ) -> None:
        page = texts_of(client_of(auditor), url("encryptionkey", "change", key.pk))
        assert key.public_pem.strip().replace("+", "&#43;") in page.replace("+", "&#43;")
        assert "Endl must have this key" in page
        assert "PRIVATE" not in page

    def test_what_is_wrong_with_a_file_is_said(
        self, key: EncryptionKey, client_of: SignIn, administrator: User, settings: Settings, tmp_path: Path
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = [tmp_path / "none.pem"]
        assert "There is no such file" in texts_of(client_of(administrator), url("encryptionkey"))
        settings.ENDL_PRIVATE_KEY_FILES = []
        assert "ENDL_PRIVATE_KEY_FILES is empty" in texts_of(client_of(administrator), url("encryptionkey"))

    @pytest.mark.parametrize(
        ("state", "words"),
        [("pending", "--activate"), ("decrypt_only", "--destroy"), ("destroyed", "shred -u")],
    )
    def test_what_to_do_depends_on_the_state(
        self,
        key: EncryptionKey,
        client_of: SignIn,
        administrator: User,
        now: datetime,
        state: str,
        words: str,
    ) -> None:
        gone = {"destroyed_at": now, "destroyed_by": "command: ops"} if state == "destroyed" else {}
        EncryptionKey.objects.update(state=state, **gone)
        assert words in texts_of(client_of(administrator), url("encryptionkey", "change", key.pk))

    def test_looking_changes_nothing(self, registered_key: Path, client_of: SignIn, auditor: User) -> None:
        texts_of(client_of(auditor), url("encryptionkey"))
        assert not EncryptionKey.objects.exists()


class TestDestroying:
    @pytest.mark.parametrize("noun", ["card", "sealeddetails"])
    def test_a_person_gives_a_reason(
        self, details: SealedDetails, card: Card, client_of: SignIn, compliance: User, noun: str
    ) -> None:
        pk = card.pk if noun == "card" else details.pk
        browser, address = client_of(compliance), url(noun, "destroy-details", pk)
        assert "Destroy details now" in texts_of(browser, url(noun, "change", pk))
        assert "cannot stay empty" in browser.post(address, {"reason": ""}).content.decode()
        assert SealedDetails.objects.get().envelope is not None
        assert browser.post(address, {"reason": "Sent by mistake"}).status_code == 302
        assert SealedDetails.objects.get().envelope is None
        assert "destroyed them: Sent by mistake" in texts_of(browser, url("card", "change", card.pk))

    def test_a_get_destroys_nothing(
        self, details: SealedDetails, card: Card, client_of: SignIn, manager: User
    ) -> None:
        client_of(manager).get(url("card", "destroy-details", card.pk))
        assert SealedDetails.objects.get().envelope is not None

    def test_others_have_no_button_and_no_door(
        self, details: SealedDetails, card: Card, client_of: SignIn, auditor: User, checker: User
    ) -> None:
        for person in (auditor, checker):
            browser = client_of(person)
            assert "Destroy details now" not in texts_of(browser, url("card", "change", card.pk))
            answer = browser.post(url("card", "destroy-details", card.pk), {"reason": "Why not"})
            assert answer.status_code == 403
        assert SealedDetails.objects.get().envelope is not None

    def test_what_is_gone_has_no_button(
        self, details: SealedDetails, card: Card, client_of: SignIn, manager: User, now: datetime
    ) -> None:
        retention.destroy_now(details=details, reason="Sent by mistake", by=manager, now=now)
        assert "Destroy details now" not in texts_of(client_of(manager), url("card", "change", card.pk))


class TestReports:
    @pytest.fixture
    def report(self, details: SealedDetails, manager: User, now: datetime) -> RetentionReport:
        retention.destroy_now(details=details, reason="Sent by mistake", by=manager, now=now)
        return retention_report.make_report(by="system: retention", now=now)

    def test_who_may_look(
        self,
        report: RetentionReport,
        client_of: SignIn,
        compliance: User,
        auditor: User,
        administrator: User,
        manager: User,
    ) -> None:
        for person in (compliance, auditor, administrator):
            page = texts_of(client_of(person), url("retentionreport", "change", report.pk))
            assert "Nothing is kept past its time" in page
            assert 'data-state="well"' in texts_of(client_of(person), url("retentionreport"))
        assert client_of(manager).get(url("retentionreport")).status_code == 403

    def test_it_tells_what_went_and_why(
        self, report: RetentionReport, client_of: SignIn, compliance: User
    ) -> None:
        page = texts_of(client_of(compliance), url("retentionreport", "change", report.pk))
        assert "Sent by mistake" in page
        assert "DETAILS_HOURS" in page

    def test_compliance_makes_a_new_one(
        self, report: RetentionReport, client_of: SignIn, compliance: User, auditor: User
    ) -> None:
        address = url("retentionreport", "report", report.pk)
        assert client_of(auditor).post(address).status_code == 403
        answer = client_of(compliance).post(address)
        newest = RetentionReport.objects.first()
        assert newest is not None
        assert newest.by == "compliance"
        assert answer.headers["Location"] == url("retentionreport", "change", newest.pk)
