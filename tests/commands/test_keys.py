"""`keys` shows and makes keys, and never loses one."""

import stat
from pathlib import Path

import pytest
from pytest_django import Settings

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
    assert ran.lines[0] == f"current: {current}, 2048 bits, fingerprint {key.fingerprint}"
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
