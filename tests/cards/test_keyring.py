"""Keys: read from files, known by a table, led through their life, and refused when anything is wrong."""

import os
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.checks import run_checks
from django.db import IntegrityError, transaction
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.audit.models import Entry
from backoffice.delivery.models import State as Road
from backoffice.endl import KeyRefused, PrivateKey, read_key_file
from cards import keyring, keys
from cards.models import Cardholder, CardOrder, EncryptionKey, SealedDetails
from tests.wishes import an_order

State = EncryptionKey.State
MakeKey = Callable[..., Path]


@pytest.fixture
def make_key(tmp_path: Path) -> MakeKey:
    """Make a private key's file: `make_key("next")`."""

    def make(name: str, bits: int = 2048) -> Path:
        path = tmp_path / f"{name}.pem"
        private = rsa.generate_private_key(65537, bits)
        path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        path.chmod(0o600)
        return path

    return make


@pytest.fixture
def old(make_key: MakeKey, settings: Settings, db: None) -> Path:
    path = make_key("old")
    settings.ENDL_PRIVATE_KEY_FILES = [path]
    return path


def row_of(path: Path) -> EncryptionKey:
    return EncryptionKey.objects.get(file=str(path))


def states() -> list[str]:
    return list(EncryptionKey.objects.order_by("pk").values_list("state", flat=True))


class TestStayingInStep:
    def test_the_first_key_is_active_at_once(self, old: Path) -> None:
        [file] = keyring.keep_in_step()
        row = row_of(old)
        assert file.key is not None
        assert (row.fingerprint, row.bits, row.state) == (file.key.fingerprint, 2048, State.ACTIVE)
        assert "PRIVATE" not in row.public_pem
        assert set(Entry.objects.values_list("verb", flat=True)) == {"key.add", "key.activate"}

    def test_a_second_look_changes_nothing(self, old: Path) -> None:
        keyring.keep_in_step()
        before = Entry.objects.count()
        keyring.keep_in_step()
        assert (Entry.objects.count(), states()) == (before, [State.ACTIVE])

    def test_a_key_behind_the_first_waits(self, old: Path, make_key: MakeKey, settings: Settings) -> None:
        keyring.keep_in_step()
        settings.ENDL_PRIVATE_KEY_FILES = [old, make_key("next")]
        keyring.keep_in_step()
        assert states() == [State.ACTIVE, State.PENDING]

    def test_a_new_key_put_first_takes_over(self, old: Path, make_key: MakeKey, settings: Settings) -> None:
        keyring.keep_in_step()
        settings.ENDL_PRIVATE_KEY_FILES = [make_key("next"), old]
        keyring.keep_in_step()
        assert states() == [State.DECRYPT_ONLY, State.ACTIVE]

    def test_a_retired_key_does_not_come_back_by_standing_first(
        self, old: Path, make_key: MakeKey, settings: Settings, now: datetime
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = [old, make_key("next")]
        keyring.keep_in_step()
        keys.activate(key=row_of(settings.ENDL_PRIVATE_KEY_FILES[1]), by="command: ops", now=now)
        keyring.keep_in_step()
        assert states() == [State.DECRYPT_ONLY, State.ACTIVE]

    def test_a_changed_file_is_noticed_without_a_restart(self, old: Path, make_key: MakeKey) -> None:
        [before] = keyring.private_keys()
        stamp = old.stat()
        make_key("other").replace(old)
        # Neither name nor time of modification tells.
        os.utime(old, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        [after] = keyring.private_keys()
        assert before.fingerprint != after.fingerprint

    def test_a_file_is_read_once(self, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        reads: list[Path] = []
        read = read_key_file

        def counting(path: Path, passphrase: Path | None) -> PrivateKey:
            reads.append(path)
            return read(path, passphrase)

        monkeypatch.setattr(keyring, "read_key_file", counting)
        for _ in range(5):
            keyring.private_keys()
        assert reads == [old]


@pytest.mark.django_db(transaction=True)
def test_a_thread_keeps_watch(make_key: MakeKey, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "LOOK_SECONDS", 0.05)
    path = make_key("old")
    settings.ENDL_PRIVATE_KEY_FILES = [path]
    stop = threading.Event()
    watcher = threading.Thread(target=keyring._watch, args=(stop,))
    watcher.start()
    try:
        assert becomes(lambda: EncryptionKey.objects.count() == 1)
        make_key("other").replace(path)
        assert becomes(lambda: EncryptionKey.objects.count() == 2)
    finally:
        stop.set()
        watcher.join(timeout=10)


def becomes(true: Callable[[], bool]) -> bool:
    return any(true() or threading.Event().wait(0.05) for _ in range(200))


class TestTrouble:
    def test_without_files_there_is_no_key(self, db: None, settings: Settings) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = []
        with pytest.raises(KeyRefused, match="is empty"):
            keyring.private_keys()

    def test_a_file_that_others_can_read_opens_nothing(
        self, old: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        old.chmod(0o644)
        with pytest.raises(KeyRefused, match="chmod 600"):
            keyring.private_keys()
        assert f"{old} cannot be used to open card details: Others can get at the file" in caplog.text

    def test_a_file_that_is_mended_is_taken_at_once(self, old: Path) -> None:
        old.chmod(0o644)
        assert keyring.key_files()[0].key is None
        old.chmod(0o400)
        assert keyring.key_files()[0].key is not None

    def test_one_bad_file_does_not_stop_the_others(
        self, old: Path, tmp_path: Path, settings: Settings
    ) -> None:
        settings.ENDL_PRIVATE_KEY_FILES = [tmp_path / "none.pem", old]
        assert len(keyring.private_keys()) == 1

    def test_the_same_key_twice_is_said(self, old: Path, tmp_path: Path, settings: Settings) -> None:
        twin = tmp_path / "twin.pem"
        twin.write_bytes(old.read_bytes())
        twin.chmod(0o600)
        settings.ENDL_PRIVATE_KEY_FILES = [old, twin]
        assert keyring.key_files()[1].problem == f"It holds the same key as {old}."

    def test_a_destroyed_key_is_never_used_again(self, old: Path, now: datetime) -> None:
        keyring.keep_in_step()
        key = keys.retire(key=row_of(old), by="command: ops", now=now)
        keys.destroy(key=key, by="command: ops", now=now)
        with pytest.raises(KeyRefused, match=f"shred -u {old}"):
            keyring.private_keys()

    def test_the_deployment_check_names_the_file(self, old: Path) -> None:
        found = {message.id for message in run_checks(include_deployment_checks=True)}
        assert "cards.W001" in found  # 2048 bits
        old.chmod(0o644)
        [error] = [each for each in run_checks(include_deployment_checks=True) if each.id == "cards.E001"]
        assert str(old) in error.msg
        assert not [each for each in run_checks() if each.id == "cards.E001"]


class TestTheTable:
    def test_holds_no_private_half(self, old: Path, now: datetime) -> None:
        with pytest.raises(IntegrityError, match="key_public_half_only"), transaction.atomic():
            EncryptionKey.objects.create(
                fingerprint="a" * 64, bits=3072, public_pem=old.read_text(), first_seen_at=now
            )

    def test_has_one_active_key(self, old: Path, now: datetime) -> None:
        keyring.keep_in_step()
        with pytest.raises(IntegrityError), transaction.atomic():
            EncryptionKey.objects.create(
                fingerprint="a" * 64, bits=3072, public_pem="x", first_seen_at=now, state=State.ACTIVE
            )


class TestEnvelopes:
    @pytest.fixture
    def active(self, db: None, registered_key: Path) -> EncryptionKey:
        keyring.keep_in_step()
        return EncryptionKey.objects.get()

    def test_the_key_that_endl_names_is_kept_with_it(
        self, active: EncryptionKey, details: SealedDetails
    ) -> None:
        assert details.key_fingerprint == active.fingerprint

    def test_where_endl_names_none_the_active_one_is(self, active: EncryptionKey) -> None:
        assert keys.fingerprint_for("QUJD") == active.fingerprint
        assert keys.fingerprint_for({"keyId": "partner-key-number-1"}) == active.fingerprint

    def test_where_no_key_is_known_the_name_is_kept(self, db: None) -> None:
        assert keys.fingerprint_for({"keyId": "partner-key-number-1"}) == "partner-key-number-1"
        assert keys.fingerprint_for("QUJD") == ""

    def test_what_was_assumed_is_corrected(self, active: EncryptionKey, details: SealedDetails) -> None:
        keys.note_opened(details, "b" * 64)
        assert SealedDetails.objects.get().key_fingerprint == "b" * 64

    def test_a_key_that_they_need_cannot_be_destroyed(
        self,
        active: EncryptionKey,
        details: SealedDetails,
        cardholder: Cardholder,
        manager: User,
        now: datetime,
    ) -> None:
        with pytest.raises(keys.StillNeeded, match="activate another"):
            keys.destroy(key=active, by="command: ops", now=now)
        keys.retire(key=active, by="command: ops", now=now)
        with pytest.raises(keys.StillNeeded, match="1 envelopes need this key"):
            keys.destroy(key=active, by="command: ops", now=now)
        SealedDetails.objects.update(key_fingerprint="")
        with pytest.raises(keys.StillNeeded, match="name no key"):
            keys.destroy(key=active, by="command: ops", now=now)
        SealedDetails.objects.update(envelope=None, destroyed_at=now)
        CardOrder.objects.filter(pk=an_order(cardholder, by=manager, now=now).pk).update(
            state=Road.SENDING, lease_until=now
        )
        with pytest.raises(keys.StillNeeded, match="on their way"):
            keys.destroy(key=active, by="command: ops", now=now)
        assert Entry.objects.filter(verb="key.destroy", result=Entry.Result.REFUSED).count() == 4

    def test_one_that_nothing_needs_is_destroyed_on_record(
        self, active: EncryptionKey, administrator: User, now: datetime
    ) -> None:
        keys.retire(key=active, by=administrator, now=now)
        gone = keys.destroy(key=active, by=administrator, now=now)
        assert (gone.state, gone.destroyed_at, gone.destroyed_by) == (State.DESTROYED, now, "administrator")
        for deed in (keys.activate, keys.retire, keys.destroy):
            with pytest.raises(keys.WrongState, match="destroyed"):
                deed(key=active, by=administrator, now=now)
        told = Entry.objects.get(verb="key.destroy", result=Entry.Result.DONE)
        assert told.new["file"] == active.file
