"""What a practice office stands on: ports, folders, secrets, keys, the environment of its processes."""

import base64
import os
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ROOT = Path(__file__).resolve().parent.parent.parent
PRACTICE_API_KEY = "endl_practice_key"


class CannotStart(Exception):
    """Something on this machine is in the way; the text says what to do about it."""


@dataclass(frozen=True)
class Ground:
    """Where this office runs and what it talks to."""

    var: Path
    port: int
    emulator_port: int
    base_url: str
    has_emulator: bool
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        """A name for this base URL, fit for file names: rows of two servers never meet."""
        return re.sub(r"[^a-z0-9]+", "-", self.base_url.lower().partition("://")[2]).strip("-")

    @property
    def private_key(self) -> Path:
        return self.var / "keys" / "current.pem"

    @property
    def public_key(self) -> Path:
        return self.var / "keys" / "current.pub.pem"

    def log_of(self, name: str) -> Path:
        return self.var / "log" / f"{name}.log"


def survey(environ: Mapping[str, str]) -> Ground:
    """Find out where the office is to run. Raises CannotStart."""
    port, emulator_port = port_of(environ, "PORT", 8000), port_of(environ, "EMULATOR_PORT", 8100)
    given = environ.get("ENDL_BASE_URL", "")
    if given and not is_loopback(given):
        raise CannotStart(
            "make run is for practice on this machine: ENDL_BASE_URL must be an http(s) address on loopback. "
            "For production see docs/operations.md."
        )
    check_port(port, "PORT")
    if not given:
        if port == emulator_port:
            raise CannotStart("PORT and EMULATOR_PORT must differ.")
        check_port(emulator_port, "EMULATOR_PORT")
    return Ground(
        var=Path(environ.get("VAR_DIR") or ROOT / "var").absolute(),
        port=port,
        emulator_port=emulator_port,
        base_url=(given or f"http://127.0.0.1:{emulator_port}").rstrip("/"),
        has_emulator=not given,
        environment=environ,
    )


def port_of(environ: Mapping[str, str], name: str, default: int) -> int:
    """Read a port number. Raises CannotStart."""
    text = environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise CannotStart(f"{name} must be a port number from 1 to 65535, not {text!r}.")
    return int(text)


def check_port(port: int, name: str) -> None:
    """Raise CannotStart when somebody listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise CannotStart(f"Port {port} is for the system: choose one above 1023 with {name}=.") from None
        except OSError:
            raise CannotStart(
                f"Port {port} is taken: stop what uses it, or choose another with {name}={port + 1} make run."
            ) from None


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine and nothing else."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return parts.scheme in {"http", "https"} and (host in {"localhost", "::1"} or host.startswith("127."))


def addresses(port: int) -> list[str]:
    """Where the web server listens: both addresses that a browser may take `localhost` for."""
    return [f"127.0.0.1:{port}", *([f"[::1]:{port}"] if can_bind_ipv6(port) else [])]


def can_bind_ipv6(port: int) -> bool:
    """Whether this machine has an IPv6 loopback with this port free."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("::1", port))
    except OSError:
        return False
    return True


def lay(ground: Ground) -> None:
    """Make the folders, the secrets and the key pair that are not there yet."""
    for folder in (ground.var, ground.var / "log", ground.var / "keys", ground.var / "static"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not secrets_file(ground).exists():
        write_private(secrets_file(ground), new_secrets())
    if not (ground.private_key.exists() and ground.public_key.exists()):
        make_key_pair(ground)


def secrets_file(ground: Ground) -> Path:
    return ground.var / "practice.env"


def new_secrets() -> str:
    """Secrets for this checkout alone, as lines of NAME=value."""
    random_32 = [base64.b64encode(secrets.token_bytes(32)).decode() for _ in range(2)]
    return (
        f"SECRET_KEY={secrets.token_urlsafe(60)}\n"
        f"STORAGE_KEYS={random_32[0]}\n"
        f"ENDL_WEBHOOK_SECRETS=whsec_{random_32[1]}\n"
    )


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, whole or not at all."""
    aside = path.with_suffix(".new")
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    aside.rename(path)


def make_key_pair(ground: Ground) -> None:
    """Make the RSA pair that card details are encrypted to. The private half is for the web process alone."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=3072)
    private_pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_pem = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    # The public half last: where it is, the private one is.
    write_private(ground.private_key, private_pem.decode())
    write_private(ground.public_key, public_pem.decode())


def variables(ground: Ground) -> dict[str, str]:
    """The environment of all processes. What the person set wins, but for what makes it practice."""
    lines = secrets_file(ground).read_text().splitlines()
    made = dict(line.split("=", 1) for line in lines if "=" in line)
    defaults = {
        **made,
        "ENDL_API_KEY": PRACTICE_API_KEY,
        "DATABASE_URL": f"sqlite:///{ground.var / f'practice-{ground.name}.sqlite3'}",
        "CELERY_BROKER_URL": f"embedded://{ground.var / f'broker-{ground.name}'}",
        "WEB_PROCESSES": "2",
    }
    given = {name: value for name, value in ground.environment.items() if value or name not in defaults}
    unset = {name: value for name, value in defaults.items() if f"{name}_FILE" not in given}
    return {
        **unset,
        **given,
        "PRACTICE": "1",
        "PORT": str(ground.port),
        "EMULATOR_PORT": str(ground.emulator_port),
        "ENDL_BASE_URL": ground.base_url,
        "VAR_DIR": str(ground.var),
        "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        "PYTHONUNBUFFERED": "1",
    }


def without_private_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that never opens card details."""
    return {name: value for name, value in environ.items() if not name.startswith("ENDL_PRIVATE_KEY")}


def with_private_keys(ground: Ground, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the one process that does."""
    return {"ENDL_PRIVATE_KEY_FILES": str(ground.private_key), **environ}
