"""Start a practice office, keep it running, and stop it cleanly."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from backoffice.practice import ground as grounds
from backoffice.practice.children import Child, die_with, stop_all
from backoffice.practice.ground import ROOT, CannotStart, Ground

PEOPLE = "maker, checker, checker2, compliance, manager, auditor, administrator, administrator2"
EMULATOR_SECONDS = 30
WEB_SECONDS = 90


class Stopped(BaseException):
    """Ctrl-C, SIGTERM, or the terminal is gone."""


def main() -> int:
    """Run until told to stop. Returns the exit code."""
    os.umask(0o077)
    if "MAKELEVEL" in os.environ:
        # `make` killed outright cannot pass anything on.
        die_with(os.getppid())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    children: list[Child] = []
    try:
        run(children)
    except Stopped:
        say("\nStopping ...")
    except CannotStart as problem:
        say(str(problem), to=sys.stderr)
        return 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        stop_all(children)
    say("Stopped. The data is kept: `make run` goes on where you left it.")
    return 0


def stop(_number: int, _frame: FrameType | None) -> None:
    raise Stopped


def run(children: list[Child]) -> None:
    """Start everything in order, then look after it for ever. Raises CannotStart and Stopped."""
    ground = grounds.survey(os.environ)
    ground.var.mkdir(mode=0o700, parents=True, exist_ok=True)
    with the_only_one(ground):
        say("Starting the Endl back office (practice mode).")
        grounds.lay(ground)
        environ = grounds.variables(ground)
        if ground.has_emulator:
            start_emulator(ground, environ, children)
        prepare(ground, environ)
        start_office(ground, environ, children)
        say(welcome(ground, environ))
        look_after(children)


@contextmanager
def the_only_one(ground: Ground) -> Iterator[None]:
    """Hold the lock of this base URL's data. Raises CannotStart when another runner has it."""
    with (ground.var / f"practice-{ground.name}.lock").open("w") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f"An office for {ground.base_url} already runs on the data in {ground.var}: stop it first."
            ) from None
        yield


def start_emulator(ground: Ground, environ: Mapping[str, str], children: list[Child]) -> None:
    """Start the emulator, wait until it answers, and register our public key with it."""
    say(f"  Starting the Endl emulator on port {ground.emulator_port} ...")
    emulator = Child("emulator", emulator_command(ground, environ), environ, ground.log_of("emulator"))
    children.append(emulator)
    emulator.start()
    control = f"{ground.base_url}/_control"
    wait_for(lambda: answers(f"{control}/state"), emulator, EMULATOR_SECONDS)
    register_key(control, ground.public_key.read_text())


def emulator_command(ground: Ground, environ: Mapping[str, str]) -> list[str]:
    options = {
        "--port": str(ground.emulator_port),
        "--world": str(ground.var / f"emulator-{ground.name}.sqlite3"),
        "--webhook-url": f"http://127.0.0.1:{ground.port}/webhooks/endl/",
        "--webhook-secret": environ.get("ENDL_WEBHOOK_SECRETS", ""),
        "--api-key": environ.get("ENDL_API_KEY", ""),
    }
    given = [word for name, value in options.items() if value for word in (name, value)]
    # Not through manage.py: the emulator needs no Django, and starts at once without it.
    return [sys.executable, "-m", "backoffice.emulator", *given]


def register_key(control: str, pem: str) -> None:
    """Give the emulator the public key. Raises CannotStart."""
    body = json.dumps({"pem": pem}).encode()
    request = urllib.request.Request(f"{control}/keys", body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        direct().open(request, timeout=10).close()
    except OSError as problem:
        raise CannotStart(f"The emulator did not take the public key: {problem}.") from problem


def prepare(ground: Ground, environ: Mapping[str, str]) -> None:
    """Make tables, people and activity. Raises CannotStart."""
    command = [sys.executable, str(ROOT / "manage.py"), "prepare_practice"]
    parent = os.getpid()
    done = subprocess.run(  # noqa: S603  (our own command, no shell)
        [*command, *(["--activity"] if ground.has_emulator else [])],
        env=grounds.without_private_keys(environ),
        check=False,
        # A group of its own: Ctrl-C is the runner's to pass on.
        process_group=0,
        preexec_fn=lambda: die_with(parent),
    )
    if done.returncode:
        raise CannotStart("The office could not be prepared; the reason stands above.")


def start_office(ground: Ground, environ: Mapping[str, str], children: list[Child]) -> None:
    """Start worker and web server, and wait until the latter answers."""
    say("  Starting the worker and the web server ...")
    worker = Child("worker", worker_command(), grounds.without_private_keys(environ), ground.log_of("worker"))
    web = Child(
        "web server", web_command(ground), grounds.with_private_keys(ground, environ), ground.log_of("web")
    )
    children += [worker, web]
    worker.start()
    web.start()
    wait_for(lambda: answers(f"http://127.0.0.1:{ground.port}/healthz"), web, WEB_SECONDS)


def worker_command() -> list[str]:
    """One worker for all queues, with the clock inside. No processes: SQLite has one writer anyway."""
    celery = [sys.executable, "-m", "celery", "--app", "backoffice.celery:app", "worker", "--beat"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [*celery, "--pool", "threads", "--concurrency", "4", "--queues", "money,sync,webhook", *quiet]


def web_command(ground: Ground) -> list[str]:
    gunicorn = [sys.executable, "-m", "gunicorn", "--config", "python:backoffice.gunicorn"]
    binds = [word for address in grounds.addresses(ground.port) for word in ("--bind", address)]
    return [*gunicorn, *binds, "--graceful-timeout", "3", "backoffice.wsgi"]


def wait_for(is_there: Callable[[], bool], child: Child, seconds: float) -> None:
    """Wait until a child answers. Raises CannotStart when it dies or takes too long."""
    until = time.monotonic() + seconds
    while not is_there():
        if not child.is_running() or time.monotonic() > until:
            raise CannotStart(f"The {child.name} did not start; its log says why: {child.log}")
        time.sleep(0.1)


def answers(url: str) -> bool:
    try:
        direct().open(url, timeout=5).close()
    except (OSError, ValueError):
        return False
    return True


def direct() -> urllib.request.OpenerDirector:
    """An opener that asks no proxy: this machine is the only place it goes."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def look_after(children: list[Child]) -> None:
    """Start again what dies, and say so."""
    while True:
        for child in children:
            words = child.look_after()
            if words:
                say(words)
        time.sleep(0.3)


def welcome(ground: Ground, environ: Mapping[str, str]) -> str:
    """What a newcomer needs to know, in a screenful."""
    place = f"http://localhost:{ground.port}"
    return "\n".join(
        [
            "",
            f"The office is open: {place}",
            "",
            f"  Sign in as       {PEOPLE}",
            "  Password         practice",
            "  Try first        as maker: Deposit requests, Request deposit; then as checker: Approve it;",
            "                   as manager: Card orders, Issue card, then Reveal on the card's page",
            *endl_lines(ground),
            f"  Database         {environ['DATABASE_URL'].rpartition('@')[2]}",
            f"  Logs             {ground.var / 'log'}/*.log",
            "  Stop             Ctrl-C (the data is kept)",
            "",
        ]
    )


def endl_lines(ground: Ground) -> list[str]:
    """What there is to say about the server at the other end."""
    if ground.has_emulator:
        return [f"  Endl emulator    {ground.base_url}/_control/  (faults, money, what it did)"]
    return [
        f"  Endl             {ground.base_url}  (no emulator started; this server has a database of its own)",
        f"  Register there   the public key {ground.public_key}",
        f"  Webhook secret   ENDL_WEBHOOK_SECRETS in {grounds.secrets_file(ground)}",
    ]


def say(words: str, *, to: object = None) -> None:
    print(words, file=to or sys.stdout, flush=True)  # type: ignore[arg-type]
