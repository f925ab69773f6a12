"""A limit on the whole of one exchange, which no slow server can stretch.

A read timeout starts anew with every byte, so a server that drips one byte a second holds a worker for ever.
Here a timer shuts the connection itself: whoever waits on it, in the handshake, the headers or the body,
wakes up at once.
"""

import contextlib
import os
import socket
import threading
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Self

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_current: ContextVar["Deadline | None"] = ContextVar("endl_deadline", default=None)


class Deadline:
    """The time limit of one exchange, and the record of how far it came.

    ``sending`` turns true just before the first byte of the request may leave: what fails before is "not
    sent", what fails later may have happened. ``passed`` turns true when the time is over.
    """

    def __init__(self, seconds: float) -> None:
        self.sending = False
        self.passed = False
        self._line: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._token: Token[Deadline | None] | None = None

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._token is not None:
            _current.reset(self._token)
        with self._lock:
            self._let_go()

    def watch(self, connected: Any) -> None:
        """Hold a second handle on the connection: a TLS socket takes the first one away from its maker."""
        with self._lock:
            self._let_go()
            self._line = socket.socket(fileno=os.dup(connected.fileno()))
        self.refuse_if_passed()

    def refuse_if_passed(self) -> None:
        """Raise TimeoutError when the time is over: a slow name server must not delay a request past it."""
        if self.passed:
            raise TimeoutError("the time for this request is over")

    def _end(self) -> None:
        with self._lock:
            self.passed = True
            if self._line is not None:
                with contextlib.suppress(OSError):
                    self._line.shutdown(socket.SHUT_RDWR)

    def _let_go(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


def _watch(connected: Any) -> None:
    deadline = _current.get()
    if deadline is not None:
        deadline.watch(connected)


class _WatchedConnection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        try:
            _watch(connected)
        except TimeoutError:
            connected.close()
            raise
        return connected

    def request(self, *args: Any, **options: Any) -> None:
        """Connect first, on its own, so that failing to connect can be told from failing later."""
        if self.sock is None:
            self.connect()
        _watch(self.sock)
        deadline = _current.get()
        if deadline is not None:
            deadline.sending = True
        super().request(*args, **options)


class _WatchedTLSConnection(_WatchedConnection, HTTPSConnection):
    pass


class WatchedPool(HTTPConnectionPool):
    """A connection pool whose connections obey the deadline of the exchange that uses them."""

    ConnectionCls = _WatchedConnection


class WatchedTLSPool(HTTPSConnectionPool):
    """The same over TLS."""

    ConnectionCls = _WatchedTLSConnection
