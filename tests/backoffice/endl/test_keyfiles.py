"""A key's file must be its owner's alone; each way to get it wrong has a sentence."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from backoffice.endl import (
    KeyRefused,
    PrivateKey,
    is_named,
    key_named_in,
    load_private_key,
    public_half,
    read_key_file,
    warning_about,
)
from tests.backoffice.endl.sealing import direct, hybrid, jwe

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "keys"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def file(folder: Path, rsa_key: rsa.RSAPrivateKey) -> Path:
    """A key as it should be kept."""
    return written(folder / "current.pem", pem_of(rsa_key))


def pem_of(key: rsa.RSAPrivateKey, passphrase: bytes = b"") -> bytes:
    lock = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)


def written(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def sentence(path: Path, passphrase: Path | None = None) -> str:
    with pytest.raises(KeyRefused) as caught:
        read_key_file(path, passphrase)
    return str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_its_owner_alone_is_read(file: Path, mode: int, our_key: PrivateKey) -> None:
    file.chmod(mode)
    assert read_key_file(file).fingerprint == our_key.fingerprint


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o606, 0o644, 0o620, 0o610])
def test_a_file_that_others_can_get_at_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    assert sentence(file) == f"Others can get at the file (mode {mode:04o}). Close it: chmod 600 {file}"


def test_a_folder_that_everybody_can_write_to_is_refused(file: Path) -> None:
    file.parent.chmod(0o777)
    assert "replace the key" in sentence(file)


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(file: Path) -> None:
    os.chown(file, 12_345, -1)
    assert "belongs to another user" in sentence(file)


def _missing(file: Path) -> Path:
    return file.with_name("none.pem")


def _fifo(file: Path) -> Path:
    os.mkfifo(file.with_name("pipe"))
    return file.with_name("pipe")


@pytest.mark.parametrize(
    ("path_of", "words"),
    [
        (_missing, "There is no such file"),
        (lambda file: file.parent, "This is a folder"),
        (_fifo, "no ordinary file"),
        (lambda file: file / "below", "cannot be looked at"),
        (lambda file: written(file.with_name("empty"), b""), "The key file is empty."),
    ],
)
def test_what_is_no_readable_file_is_said(file: Path, path_of: Callable[[Path], Path], words: str) -> None:
    assert words in sentence(path_of(file))


class TestPassphrase:
    @pytest.fixture
    def locked(self, folder: Path, rsa_key: rsa.RSAPrivateKey) -> Path:
        return written(folder / "locked.pem", pem_of(rsa_key, b"correct horse "))

    @pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
    def test_opens_with_or_without_a_line_end(
        self, locked: Path, folder: Path, end: bytes, our_key: PrivateKey
    ) -> None:
        words = written(folder / "words", b"correct horse " + end)
        assert read_key_file(locked, words).fingerprint == our_key.fingerprint

    @pytest.mark.parametrize(
        ("content", "words"),
        [(None, "no passphrase was given"), (b"", "does not open"), (b"wrong\n", "does not open")],
    )
    def test_none_an_empty_and_a_wrong_one_are_told_apart(
        self, locked: Path, folder: Path, content: bytes | None, words: str
    ) -> None:
        said = sentence(locked, None if content is None else written(folder / "words", content))
        assert words in said
        assert "wrong" not in said

    def test_a_file_that_is_not_there_is_said(self, locked: Path, folder: Path) -> None:
        assert "passphrase file" in sentence(locked, folder / "none")
        assert "cannot be read" in sentence(locked, folder)

    def test_one_that_others_can_read_is_a_warning(self, file: Path, folder: Path, large_key: Path) -> None:
        words = written(folder / "words", b"x", mode=0o644)
        assert "chmod 600" in warning_about(read_key_file(large_key, words), words)


@pytest.fixture(scope="session")
def large_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    folder.chmod(0o700)
    return written(folder / "large.pem", pem_of(rsa.generate_private_key(65537, 3072)))


def test_fewer_bits_than_recommended_are_a_warning(file: Path, large_key: Path) -> None:
    assert "2048 bits; 3072 are recommended" in warning_about(read_key_file(file))
    assert warning_about(read_key_file(large_key)) == ""


def test_a_wrong_pair_is_found(file: Path, other_key: PrivateKey, our_key: PrivateKey) -> None:
    beside = public_half(file)
    beside.write_text(our_key.public_pem)
    assert read_key_file(file).fingerprint == our_key.fingerprint
    beside.write_text(other_key.public_pem)
    assert "public half of another key" in sentence(file)
    beside.write_text("nothing")
    assert "no public half of it" in sentence(file)


class TestNames:
    def test_an_envelope_names_its_key_or_none(self, rsa_key: rsa.RSAPrivateKey) -> None:
        assert key_named_in({**hybrid(rsa_key), "keyId": "k-1"}) == "k-1"
        assert key_named_in(jwe(rsa_key, kid="k-2")) == "k-2"
        assert key_named_in({"ciphertext": direct(rsa_key), "keyId": "k-3"}) == "k-3"
        for nameless in (direct(rsa_key), hybrid(rsa_key), jwe(rsa_key), "a.b.c.d.e", "", {"keyId": 5}):
            assert key_named_in(nameless) == ""
        assert key_named_in({"keyId": "x" * 201}) == ""

    def test_a_fingerprint_or_the_beginning_of_one_names_a_key(self, our_key: PrivateKey) -> None:
        whole = our_key.fingerprint
        in_pairs = ":".join(whole[at : at + 2] for at in range(0, 64, 2)).upper()
        for name in (whole, whole[:16], whole.upper(), in_pairs):
            assert is_named(whole, name)
        for other in ("", whole[:15], whole[1:17], "partner-key-number-1", None, 5, whole + "0"):
            assert not is_named(whole, other)

    def test_the_key_that_opened_it_is_known(self, rsa_key: rsa.RSAPrivateKey, file: Path) -> None:
        from backoffice.endl import open_envelope

        key = load_private_key(file.read_bytes())
        for envelope in (hybrid(rsa_key), jwe(rsa_key), direct(rsa_key)):
            assert open_envelope(envelope, [key]).opened_by == key.fingerprint
