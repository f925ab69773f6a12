"""The emulator as an object: a server with its world, for tests and for the command."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from backoffice.emulator import faults, ledger, settling, traffic
from backoffice.emulator.background import Background
from backoffice.emulator.envelopes import read_public_key
from backoffice.emulator.seeds import sow
from backoffice.emulator.server import EmulatorServer
from backoffice.emulator.wire import Doc
from backoffice.emulator.world import World


class Emulator:
    """A server on 127.0.0.1 whose world is the file at `world_path`; port 0 takes any free one.

    Without a path the world is a temporary file that goes when the server stops.

    Keyword arguments beyond the port are switches (see `switches.Switches`). Raises OSError when the port is
    taken and `switches.UnknownSwitch` for a switch that does not exist.
    """

    def __init__(self, world_path: str | Path | None = None, *, port: int = 0, **switches: Any) -> None:
        self._folder = None if world_path else tempfile.TemporaryDirectory(prefix="endl-emulator-")
        path = Path(self._folder.name) / "world.sqlite3" if self._folder else Path(world_path or "")
        self.world = World(path, switches)
        try:
            self._server = EmulatorServer(port, self.world)
        except OSError:
            self.world.close()
            self._remove_folder()
            raise
        self._background = Background(self.world)
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Serve, in threads of this process."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="emulator", daemon=True
        )
        self._thread.start()
        self._background.start()
        return self

    def stop(self) -> None:
        """Stop at once, breaking off what is open; the world stays in its file."""
        if self._thread is None:
            self._server.server_close()
            self._remove_folder()
            return
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()
        self._background.stop()
        self._thread = None
        self._remove_folder()

    def _remove_folder(self) -> None:
        # SQLite goes on working with its open file, so the ledger can still be read afterwards.
        if self._folder:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self if self._thread else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        """Where the client should look for Endl."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_key(self) -> str:
        """The key that it accepts."""
        return self.world.switches.api_key

    def seed(self, **kinds: list[Doc]) -> dict[str, list[str]]:
        """Create or update things: `seed(customers=[...], wallets=[...])`; answers the ids by kind."""
        return sow(self.world, kinds)

    def settings(self, **switches: Any) -> None:
        """Turn switches."""
        self.world.set_switches(switches)

    def fault(self, **fault: Any) -> Doc:
        """Plan a fault: `fault(operation="start_deposit", when="after", kind="drop")`."""
        return faults.plan(self.world, fault)

    def clear_faults(self) -> None:
        """Let nothing go wrong any more."""
        faults.clear(self.world)

    def ledger(self) -> list[Doc]:
        """The effects that really took place, oldest first."""
        return ledger.entries(self.world)

    def requests_seen(self) -> Doc:
        """Counts per operation and key, and the last requests."""
        return traffic.seen(self.world)

    def settle(self) -> list[str]:
        """Settle every pending deposit now; answers their ids."""
        return settling.settle_all(self.world)

    def register_key(self, pem: str | bytes) -> None:
        """Register the partner's RSA public key; ValueError when it is none."""
        text = pem.decode() if isinstance(pem, bytes) else pem
        read_public_key(text)
        self.world.set_fact("partner_key", text)
