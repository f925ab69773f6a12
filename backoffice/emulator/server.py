"""The HTTP server: reads calls, sends answers, and lets the planned faults strike the connection."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from backoffice.emulator import api, control, faults, traffic
from backoffice.emulator.admission import Bucket
from backoffice.emulator.errors import Refusal, coded, uncoded
from backoffice.emulator.routes import route
from backoffice.emulator.spoiling import spoiled
from backoffice.emulator.wire import Answer, Call, Doc, html_answer, rendered
from backoffice.emulator.world import World

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_PIECES_A_SECOND = 10


class EmulatorServer(ThreadingHTTPServer):
    """A server on the loopback address that can break off every connection at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, port: int, world: World) -> None:
        self.world = world
        self.bucket = Bucket()
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, then hand it to a thread of its own."""
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget and close a connection."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Break off what is open, so that no kept-alive connection outlives the server."""
        self.stopping.set()
        with self._guard:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is everyday life here; anything else is shown as usual."""
        with contextlib.suppress(Exception):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # Without this, Nagle's algorithm and delayed acknowledgements cost 40 ms on each kept-alive request.
    disable_nagle_algorithm = True
    server: EmulatorServer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_") and name[3:] in _METHODS:
            return self._serve
        raise AttributeError(name)

    def handle(self) -> None:
        """Serve until either side hangs up."""
        with contextlib.suppress(ConnectionError, TimeoutError, BrokenPipeError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the requests are on record in the world."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a malformed request in Endl's envelope."""
        del explain  # the standard page would show it
        self.close_connection = True
        self._write(api.refused(self.server.world, uncoded(int(code), message or "Bad request")))

    def _serve(self) -> None:
        try:
            body = self._body()
        except Refusal as refusal:
            self.close_connection = True
            self._write(api.refused(self.server.world, refusal))
            return
        if urlsplit(self.path).path.startswith("/_control"):
            self._write(self._controlled(body))
        else:
            self._call(self._as_call(body))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding"):
            raise uncoded(411, "Content-Length is required")
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()):
            raise uncoded(400, "Content-Length is not a number")
        control_call = self.path.startswith("/_control")
        if int(length) > self.server.world.switches.max_body_bytes and not control_call:
            raise coded("ERRCRD_1005", "body is too large")
        return self.rfile.read(int(length))

    def _as_call(self, body: bytes) -> Call:
        parts = urlsplit(self.path)
        found = route(self.command, parts.path)
        return Call(
            operation=found.operation,
            method=self.command,
            path=unquote(parts.path),
            params=found.params,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers=_lowered(self.headers),
            body=body,
        )

    def _controlled(self, body: bytes) -> Answer:
        headers = _lowered(self.headers)
        # A page elsewhere in the browser must not reach the controls, not even by a name that points here.
        host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        origin = urlsplit(headers.get("origin", ""))
        if host not in ("127.0.0.1", "localhost") or origin.hostname not in (None, "127.0.0.1", "localhost"):
            return html_answer(403, "Only for this machine")
        form = headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        return control.answer(self.server.world, self.command, urlsplit(self.path).path, body, form=form)

    def _call(self, call: Call) -> None:
        world = self.server.world
        with world.transaction():
            number = traffic.arrived(world, call)
            fault = faults.take(world, call.operation, call.customer)
        if fault is None:
            answer = api.answer(world, call, self.server.bucket)
            traffic.ended(world, number, str(answer.status))
            self._write(answer)
        else:
            self._fail(call, fault, number)

    def _fail(self, call: Call, fault: Doc, number: int) -> None:
        """Let a fault strike, before the effect (there is none then) or after it."""
        world = self.server.world
        answer = api.answer(world, call, self.server.bucket) if fault["when"] == "after" else None
        traffic.ended(world, number, f"{fault['kind']} {fault['when']}")
        put = spoiled(answer, fault)
        match fault["kind"]:
            case "drop":
                self._reset()
            case "close":
                self.close_connection = True
            case "hang":
                self._hang(call, fault, put)
            case "truncate" if put is not None:
                self._truncate(put, fault)
            case "slow":
                self._write_slowly(put or api.answer(world, call, self.server.bucket), fault)
            case _ if put is not None:
                self._write(put)

    def _reset(self) -> None:
        # Lingering for no time at all makes the close a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _hang(self, call: Call, fault: Doc, answer: Answer | None) -> None:
        """Wait; then close without a word, answer late, or even act late ("then": "answer")."""
        self.server.stopping.wait(float(fault.get("seconds", 60)))
        then = fault.get("then", "close" if answer is None else "answer")
        if then == "close":
            self.close_connection = True
        else:
            self._write(answer or api.answer(self.server.world, call, self.server.bucket))

    def _truncate(self, answer: Answer, fault: Doc) -> None:
        cut = Answer(answer.status, answer.body[: int(fault.get("at", 0))], answer.headers)
        self.close_connection = True
        length = len(cut.body) if fault.get("length") == "cut" else len(answer.body)
        self.wfile.write(rendered(cut, close=True, length=length))

    def _write_slowly(self, answer: Answer, fault: Doc) -> None:
        speed = float(fault.get("bytes_per_second", 10))
        for piece in _pieces(rendered(answer), max(1, int(speed / _PIECES_A_SECOND))):
            self.wfile.write(piece)
            if self.server.stopping.wait(len(piece) / speed):
                break

    def _write(self, answer: Answer) -> None:
        head = getattr(self, "command", None) == "HEAD"
        self.wfile.write(rendered(answer, close=self.close_connection, head=head))


def _lowered(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _pieces(content: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]
