"""The processes of a fault run: emulator, web server, worker, clock; started, killed, started again."""

import base64
import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from backoffice.practice.children import die_with
from tests.faults import seam_files as files
from tests.faults.ground import Broker, CannotRun, Cluster, free_port, until

ROOT = Path(__file__).resolve().parent.parent.parent
# A fraction of production's; what a busy machine needs between two steps must fit into a fifth of it.
CALL_SECONDS = 3.0
LEASE_SECONDS = CALL_SECONDS * 1.4
API_KEY = "endl_faults_key"
# Six of them may be held at a crash point at once; the others carry on.
CHILDREN = 8


class Process:
    """One of the office's processes, in a process group of its own."""

    def __init__(self, name: str, command: list[str], environ: Mapping[str, str], log: Path) -> None:
        self.name, self.command, self.environ, self.log = name, command, dict(environ), log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        parent = os.getpid()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environ, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, process_group=0,
                preexec_fn=lambda: die_with(parent),  # noqa: PLW1509  (it calls the kernel and nothing else)
            )  # fmt: skip

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def children(self) -> list[int]:
        """The processes that it forked."""
        try:
            return [
                int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
            ]
        except FileNotFoundError:
            return []

    def kill(self) -> None:
        """End it at once with everything it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def kill_parent_only(self) -> None:
        """End the parent at once; what becomes of its children is their own affair."""
        os.kill(self.pid, signal.SIGKILL)
        assert self.process is not None
        self.process.wait()


class Office:
    """Everything that runs, on ground of its own. A context: whatever happens, all of it ends."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="office-faults-"))
        self.folder.chmod(0o711)
        self.control = self.folder / "control"
        self.control.mkdir(mode=0o700)
        self.cluster, self.broker = Cluster(self.folder / "cluster"), Broker(self.folder / "broker")
        self.emulator_port, self.web_port = free_port(), free_port()
        self.webhook_key = secrets.token_bytes(24)
        self.world = self.folder / "world.sqlite3"
        self.private_key, self.public_pem = _key_pair(self.folder / "current.pem")
        self.variables = self._variables()
        self._keeper = threading.Thread(target=self._keep_running, daemon=True)
        self._ending = threading.Event()
        self._hold = threading.Lock()
        self.processes: dict[str, Process] = {}

    def __enter__(self) -> Self:
        try:
            self.cluster.start()
            self.broker.start()
            self._migrate()
            self.processes = {each.name: each for each in self._all()}
            for process in self.processes.values():
                process.start()
            self._wait_until_open()
            self._keeper.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        with self._hold:
            for process in self.processes.values():
                process.kill()
            self.broker.kill()
            self.cluster.stop()
        kept = os.environ.get("FAULTS_KEEP_LOGS")
        if kept:
            Path(kept).mkdir(parents=True, exist_ok=True)
            for log in self.folder.glob("*.log"):
                shutil.copy(log, kept)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- Faults ---------------------------------------------------------------------------------------

    def crash_worker(self) -> None:
        """Kill parent and children, and start anew."""
        with self._hold:
            self.processes["worker"].kill()
            self.processes["worker"].start()

    def orphan_worker(self) -> None:
        """Kill the parent alone: Celery's children ask the kernel to go with it. Then start anew."""
        with self._hold:
            worker = self.processes["worker"]
            children = worker.children()
            worker.kill_parent_only()
            if not until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 5):
                raise CannotRun("Worker processes outlive their parent here.")
            worker.start()

    def crash_web(self) -> None:
        with self._hold:
            self.processes["web"].kill()
            self.processes["web"].start()
        self.wait_for_web()

    def crash_emulator(self) -> None:
        """Kill Endl, and bring it back with what it had committed."""
        with self._hold:
            self.processes["emulator"].kill()
            self.processes["emulator"].start()
        self.wait_for_emulator()

    @contextlib.contextmanager
    def without_worker(self, **environ: str) -> Iterator[None]:
        """Nobody works meanwhile; then the worker starts anew, with other settings."""
        with self._hold:
            worker = self.processes.pop("worker")
            worker.kill()
        worker.environ.update(environ)
        try:
            yield
        finally:
            with self._hold:
                worker.start()
                self.processes["worker"] = worker

    # --- Endl -----------------------------------------------------------------------------------------

    def endl(self, name: str, **given: Any) -> Any:
        """Steer the emulator: POST when something is given, else GET."""
        line = http.client.HTTPConnection("127.0.0.1", self.emulator_port, timeout=10)
        try:
            body = json.dumps(given) if given else None
            line.request(
                "POST" if given else "GET", f"/_control/{name}", body, {"Content-Type": "application/json"}
            )
            answer = line.getresponse()
            said = json.loads(answer.read())
        finally:
            line.close()
        if answer.status != 200:
            raise ValueError(f"The emulator does not take {name}: {said}")
        return said

    # --- Starting -------------------------------------------------------------------------------------

    def _variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TZ")}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "backoffice.settings",
            "PYTHONPATH": str(ROOT),
            "PRACTICE": "1",
            "VAR_DIR": str(self.folder),
            "SPOOL_DIR": str(self.folder / "spool"),
            "SECRET_KEY": secrets.token_urlsafe(60),
            "STORAGE_KEYS": base64.b64encode(secrets.token_bytes(32)).decode(),
            "DATABASE_URL": self.cluster.url,
            "CELERY_BROKER_URL": self.broker.url,
            "ENDL_BASE_URL": f"http://127.0.0.1:{self.emulator_port}",
            "ENDL_API_KEY": API_KEY,
            "ENDL_WEBHOOK_SECRETS": "whsec_" + base64.b64encode(self.webhook_key).decode(),
            "ENDL_CALL_SECONDS": str(CALL_SECONDS),
            "ENDL_RATE_PER_SECOND": "500",
            "ORDER_CEILING_CENTS": "1000000",
            "ORDER_DAY_CEILING_CENTS": "2000000000",
            "FOLLOW_SECONDS": "3",
            "SYNC_SECONDS": "3600",
            "PORT": str(self.web_port),
            "WEB_PROCESSES": "2",
            "WEB_THREADS": "4",
            files.VARIABLE: str(self.control),
        }

    def _migrate(self) -> None:
        for command in (["migrate", "--verbosity", "0"], ["createcachetable"]):
            done = subprocess.run(
                [sys.executable, ROOT / "manage.py", *command], env=self.variables, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
            if done.returncode:
                raise CannotRun(f"The tables could not be made: {done.stderr.strip()[-500:]}")

    def _all(self) -> list[Process]:
        python, hook = sys.executable, f"http://127.0.0.1:{self.web_port}/webhooks/endl/"
        emulator = [
            python, "-m", "backoffice.emulator", "--port", str(self.emulator_port),
            "--world", str(self.world), "--api-key", API_KEY, "--webhook-url", hook,
            "--settle-seconds", "0.3", "--webhook-secret", self.variables["ENDL_WEBHOOK_SECRETS"],
        ]  # fmt: skip
        worker = [
            python, "-m", "celery", "--app", "tests.faults.worker:app", "worker", "--pool", "prefork",
            "--concurrency", str(CHILDREN), "--queues", "money,sync,webhook", "--loglevel", "INFO",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip
        beat = [python, "-m", "celery", "--app", "backoffice.celery:app", "beat"]
        web = [python, "-m", "gunicorn", "--config", "python:backoffice.gunicorn", "tests.faults.web"]
        with_keys = {**self.variables, "ENDL_PRIVATE_KEY_FILES": str(self.private_key)}
        return [
            Process("emulator", emulator, self.variables, self.folder / "emulator.log"),
            Process("worker", worker, self.variables, self.folder / "worker.log"),
            Process("beat", beat, self.variables, self.folder / "beat.log"),
            Process("web", web, with_keys, self.folder / "web.log"),
        ]

    def _wait_until_open(self) -> None:
        self.wait_for_emulator()
        self.endl("keys", pem=self.public_pem)
        self.wait_for_web()
        log = self.folder / "worker.log"
        if not until(lambda: b" ready." in log.read_bytes(), 60):
            raise CannotRun(f"The worker did not start:\n{log.read_text()[-1500:]}")

    def wait_for_emulator(self) -> None:
        self._wait_for("emulator", f"http://127.0.0.1:{self.emulator_port}/_control/healthz")

    def wait_for_web(self) -> None:
        self._wait_for("web", f"http://127.0.0.1:{self.web_port}/healthz")

    def _wait_for(self, name: str, url: str) -> None:
        if not until(lambda: _answers(url), 60):
            log = self.processes[name].log
            raise CannotRun(f"The {name} did not start:\n{log.read_text()[-1500:]}")

    def _keep_running(self) -> None:
        """Start again what died, as a service manager would."""
        while not self._ending.wait(0.1):
            with self._hold:
                for process in self.processes.values():
                    if not self._ending.is_set() and not process.is_running():
                        process.kill()
                        process.start()
            time.sleep(0)


def _answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, timeout=3).close()
    except (OSError, ValueError):
        return False
    return True


def _key_pair(path: Path) -> tuple[Path, str]:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    path.chmod(0o600)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return path, public.decode()
