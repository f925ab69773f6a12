"""What a practice office finds or makes on a machine, and what it says when something is in the way."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from backoffice.practice import ground as grounds
from backoffice.practice.ground import CannotStart, Ground, survey


@pytest.fixture
def ground(tmp_path: Path, free_port: int) -> Ground:
    return survey(
        {"VAR_DIR": str(tmp_path / "var"), "PORT": str(free_port), "EMULATOR_PORT": other(free_port)}
    )


def other(port: int) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found = int(probe.getsockname()[1])
    return str(found if found != port else found + 1)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def test_a_taken_port_is_one_sentence_with_a_way_out(taken_port: int) -> None:
    with pytest.raises(
        CannotStart, match=rf"Port {taken_port} is taken: .* PORT={taken_port + 1} make run\."
    ):
        survey({"PORT": str(taken_port)})


@pytest.mark.parametrize("text", ["0", "65536", "http", "-1", "٣"])
def test_what_is_no_port_is_named(text: str) -> None:
    with pytest.raises(CannotStart, match="PORT must be a port number"):
        survey({"PORT": text})


def test_one_port_cannot_serve_both(free_port: int) -> None:
    with pytest.raises(CannotStart, match="must differ"):
        survey({"PORT": str(free_port), "EMULATOR_PORT": str(free_port)})


@pytest.mark.parametrize(
    "url", ["https://api.example", "http://10.0.0.1", "ftp://127.0.0.1", "127.0.0.1:8100"]
)
def test_practice_talks_to_this_machine_only(url: str, free_port: int) -> None:
    with pytest.raises(CannotStart, match="on loopback"):
        survey({"PORT": str(free_port), "ENDL_BASE_URL": url})


def test_another_server_has_no_emulator_and_a_database_of_its_own(ground: Ground, free_port: int) -> None:
    theirs = survey({"PORT": str(free_port), "ENDL_BASE_URL": "http://localhost:9999/x/"})
    assert (ground.has_emulator, theirs.has_emulator) == (True, False)
    assert theirs.name == "localhost-9999-x"
    assert theirs.name != ground.name


def test_secrets_and_keys_are_made_once_and_for_this_user_only(ground: Ground) -> None:
    grounds.lay(ground)
    made = {
        path: path.read_text()
        for path in (grounds.secrets_file(ground), ground.private_key, ground.public_key)
    }
    grounds.lay(ground)
    assert made == {path: path.read_text() for path in made}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    assert stat.S_IMODE(ground.var.stat().st_mode) == 0o700


def test_the_pair_is_rsa_of_3072_bits_and_belongs_together(ground: Ground) -> None:
    grounds.lay(ground)
    private = load_pem_private_key(ground.private_key.read_bytes(), None)
    public = load_pem_public_key(ground.public_key.read_bytes())
    assert private.public_key() == public
    assert getattr(public, "key_size", 0) == 3072


def test_only_the_web_server_is_told_where_the_private_key_is(ground: Ground) -> None:
    grounds.lay(ground)
    environ = grounds.variables(ground) | {
        "ENDL_PRIVATE_KEY_FILES": "x",
        "ENDL_PRIVATE_KEY_PASSPHRASE_FILE": "y",
    }
    assert not any(name.startswith("ENDL_PRIVATE") for name in grounds.without_private_keys(environ))
    fresh = grounds.with_private_keys(ground, grounds.variables(ground))
    assert fresh["ENDL_PRIVATE_KEY_FILES"] == str(ground.private_key)


def test_what_the_person_set_wins(tmp_path: Path, free_port: int) -> None:
    given = {"DATABASE_URL": "postgres://x/y", "CELERY_BROKER_URL": "redis://z", "ENDL_API_KEY": "mine"}
    ground = survey(
        {"VAR_DIR": str(tmp_path / "var"), "PORT": str(free_port), "ENDL_BASE_URL": "http://[::1]:1", **given}
    )
    grounds.lay(ground)
    environ = grounds.variables(ground)
    assert {name: environ[name] for name in given} == given
    assert environ["PRACTICE"] == "1"


def test_a_secret_given_as_a_file_is_not_overridden(tmp_path: Path, free_port: int) -> None:
    given = {"VAR_DIR": str(tmp_path / "var"), "PORT": str(free_port), "ENDL_BASE_URL": "http://127.0.0.1:1"}
    ground = survey({**given, "ENDL_API_KEY_FILE": "/run/key"})
    grounds.lay(ground)
    assert "ENDL_API_KEY" not in grounds.variables(ground)
