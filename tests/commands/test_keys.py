"""`keys` shows and makes keys, and never loses one."""

import stat
from pathlib import Path

import pytest
from pytest_django import Settings

from backoffice.audit.models import Entry
from backoffice.endl import fingerprint_of_public, load_private_key
from tests.commands.conftest import Run


@pytest.fixture
def current(settings: Settings, key_pair: tuple[Path, str]) -> Path:
    settings.ENDL_PRIVATE_KEY_FILES = [key_pair[0]]
    return key_pair[0]


def test_they_are_shown_by_fingerprint_and_bits(run: Run, current: Path) -> None:
    ran = run("keys")
    key = load_private_key(current.read_bytes())
    assert ran.exit_code == 0
    told = f"current: {current}, 2048 bits, fingerprint {key.fingerprint}, active, 0 envelopes"
    assert ran.lines[0] == told
    assert ran.lines[1].startswith(f"warning: {current}: It has 2048 bits")
    assert ran.summary == "1 keys can be used."
    assert "PRIVATE" not in ran.text


def test_the_public_one_can_be_registered(run: Run, current: Path) -> None:
    ran = run("keys", "--public")
    pem = "\n".join(ran.lines[:-1])
    assert fingerprint_of_public(pem.encode()) in ran.summary
    assert "PRIVATE" not in ran.text


def test_one_that_cannot_be_used_is_told(run: Run, current: Path, settings: Settings, tmp_path: Path) -> None:
    settings.ENDL_PRIVATE_KEY_FILES = [current, tmp_path / "missing.pem"]
    ran = run("keys")
    assert ran.exit_code == 1
    assert ran.summary == "1 of 2 keys cannot be used."


@pytest.mark.parametrize("words", [(), ("--public",)])
def test_none_at_all(run: Run, settings: Settings, words: tuple[str, ...]) -> None:
    settings.ENDL_PRIVATE_KEY_FILES = []
    assert run("keys", *words).exit_code == 1


def test_a_new_pair(run: Run, tmp_path: Path) -> None:
    ran = run("keys", "--new", str(tmp_path / "next.pem"))
    made = load_private_key((tmp_path / "next.pem").read_bytes())
    assert ran.exit_code == 0
    assert made.bits == 3072
    assert made.fingerprint in ran.summary
    assert stat.S_IMODE((tmp_path / "next.pem").stat().st_mode) == 0o600
    assert fingerprint_of_public((tmp_path / "next.pub.pem").read_bytes()) == made.fingerprint


def test_a_new_pair_is_locked_where_a_passphrase_is_set(run: Run, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("open sesame\n")
    (tmp_path / "words").chmod(0o600)
    settings.ENDL_PRIVATE_KEY_PASSPHRASE_FILE = str(tmp_path / "words")
    run("keys", "--new", str(tmp_path / "next.pem"))
    assert b"ENCRYPTED" in (tmp_path / "next.pem").read_bytes()
    assert load_private_key((tmp_path / "next.pem").read_bytes(), b"open sesame").bits == 3072


@pytest.mark.parametrize("there", ["next.pem", "next.pub.pem"])
def test_nothing_is_overwritten(run: Run, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("precious")
    ran = run("keys", "--new", str(tmp_path / "next.pem"))
    assert ran.exit_code == 1
    assert "never overwritten" in ran.summary
    assert (tmp_path / there).read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there(run: Run, tmp_path: Path) -> None:
    assert run("keys", "--new", str(tmp_path / "none" / "next.pem")).exit_code == 1


def test_an_empty_passphrase_makes_no_pair(run: Run, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("\n")
    settings.ENDL_PRIVATE_KEY_PASSPHRASE_FILE = str(tmp_path / "words")
    ran = run("keys", "--new", str(tmp_path / "next.pem"))
    assert (ran.exit_code, "is empty" in ran.summary) == (1, True)
    assert not (tmp_path / "next.pem").exists()


def test_a_new_pair_is_on_record(run: Run, tmp_path: Path) -> None:
    run("keys", "--new", str(tmp_path / "next.pem"))
    entry = Entry.objects.get(verb="key.make")
    assert entry.actor_name.startswith("command: ")
    assert entry.new["file"] == str(tmp_path / "next.pem")
    assert "PRIVATE" not in str(entry.new)


class TestRotating:
    @pytest.fixture
    def both(self, run: Run, current: Path, settings: Settings, tmp_path: Path) -> tuple[str, str]:
        """The fingerprints of the current key and of a new one behind it."""
        run("keys")
        run("keys", "--new", str(tmp_path / "next.pem"))
        settings.ENDL_PRIVATE_KEY_FILES = [current, tmp_path / "next.pem"]
        old, new = (load_private_key(path.read_bytes()) for path in settings.ENDL_PRIVATE_KEY_FILES)
        return old.fingerprint, new.fingerprint

    def test_the_new_one_waits_until_it_is_activated(self, run: Run, both: tuple[str, str]) -> None:
        old, new = both
        assert ", pending, 0 envelopes" in run("keys").text
        assert old in run("keys", "--public").summary
        ran = run("keys", "--activate", new[:12])
        assert (ran.exit_code, ran.summary.startswith(f"{new}: active, 0 envelopes.")) == (0, True)
        assert new in run("keys", "--public").summary

    def test_the_old_one_goes_in_the_end(
        self, run: Run, both: tuple[str, str], current: Path, settings: Settings
    ) -> None:
        old, new = both
        assert run("keys", "--destroy", old).exit_code == 1
        run("keys", "--activate", new)
        ran = run("keys", "--destroy", old)
        assert ran.exit_code == 0
        assert ran.lines[0].endswith(f"shred -u {current}")
        assert "marked destroyed" in run("keys").text
        settings.ENDL_PRIVATE_KEY_FILES = settings.ENDL_PRIVATE_KEY_FILES[1:]
        assert f"no file: fingerprint {old}, destroyed" in run("keys").text

    def test_each_step_is_on_record(self, run: Run, both: tuple[str, str]) -> None:
        old, new = both
        run("keys", "--activate", new)
        run("keys", "--destroy", old)
        verbs = Entry.objects.filter(actor_name__startswith="command: ").values_list("verb", flat=True)
        assert set(verbs) >= {"key.make", "key.activate", "key.retire", "key.destroy"}

    @pytest.mark.parametrize("words", ["--activate", "--retire", "--destroy"])
    def test_a_fingerprint_that_nobody_knows(self, run: Run, both: tuple[str, str], words: str) -> None:
        for text in ("feedfeedfeed", "ab"):
            ran = run("keys", words, text)
            assert (ran.exit_code, "No key that was seen here" in ran.summary) == (1, True)

    def test_an_active_one_can_be_retired(self, run: Run, both: tuple[str, str]) -> None:
        assert "decrypt only" in run("keys", "--retire", both[0]).summary
        assert run("keys", "--retire", both[0]).exit_code == 1
