"""Servers on loopback that answer, or fail to, exactly as a test says."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Behaviour = Callable[[socket.socket], None]


@dataclass
class Rogue:
    """A raw server. Each request is met by the next behaviour; the last one stays."""

    behaviours: list[Behaviour]
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def url(self) -> str:
        scheme = "https" if isinstance(self.listener, ssl.SSLSocket) else "http"
        return f"{scheme}://127.0.0.1:{self.listener.getsockname()[1]}"

    def start(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self.stopping.set()
        self.listener.close()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                line, _ = self.listener.accept()
            except ssl.SSLError:
                continue
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with contextlib.suppress(OSError), line:
            while request := _read_request(line):
                self.requests.append(request)
                behave = self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]
                behave(line)


def _read_request(line: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = line.recv(65536)
        if not chunk:
            return b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    while len(body) < _length(head):
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body


def _length(head: bytes) -> int:
    lines = [line.lower() for line in head.split(b"\r\n")]
    return next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)


def answer(status: int = 200, body: bytes | str = b"{}", **headers: str) -> bytes:
    raw = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(raw)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


def says(data: bytes) -> Behaviour:
    return lambda line: line.sendall(data)


def says_and_hangs_up(data: bytes) -> Behaviour:
    def behave(line: socket.socket) -> None:
        line.sendall(data)
        line.shutdown(socket.SHUT_RDWR)

    return behave


def resets(line: socket.socket) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def drips(data: bytes, *, every_seconds: float = 0.05) -> Behaviour:
    def behave(line: socket.socket) -> None:
        pause = threading.Event()
        for place in range(len(data)):
            line.sendall(data[place : place + 1])
            pause.wait(every_seconds)

    return behave


def hangs(line: socket.socket) -> None:
    line.recv(1)


@contextlib.contextmanager
def running(*behaviours: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Rogue]:
    server = Rogue(list(behaviours))
    if tls:
        server.listener = tls.wrap_socket(server.listener, server_side=True)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: Any = listener.getsockname()[1]
        return int(port)
