"""One request out, one answer back, within a fixed time and size. Never a second attempt."""

import http.client
import logging
import os
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from backoffice.endl.answers import Answer, kept_headers, request_id_of, without_secret
from backoffice.endl.checks import check_proxy
from backoffice.endl.deadline import Deadline, WatchedPool, WatchedTLSPool
from backoffice.endl.errors import EndlError, NoAnswer, NotSent, UnreadableAnswer

MAX_READ_BYTES = 5 * 1024 * 1024
MAX_POST_ANSWER_BYTES = 256 * 1024
_CHUNK_BYTES = 64 * 1024
_POOL_CLASSES = {"http": WatchedPool, "https": WatchedTLSPool}

log = logging.getLogger("backoffice.endl")


@dataclass(frozen=True)
class Limits:
    """Time limits of one exchange, in seconds: to connect, between two bytes, and in all."""

    connect_seconds: float = 5.0
    read_seconds: float = 20.0
    total_seconds: float = 25.0


@dataclass(frozen=True)
class Outgoing:
    """A request about to leave. ``operation`` is its name in the log; the repr shows nothing else."""

    method: str
    operation: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    params: Mapping[str, str] | None = None

    @property
    def max_answer_bytes(self) -> int:
        return MAX_READ_BYTES if self.method == "GET" else MAX_POST_ANSWER_BYTES

    def __repr__(self) -> str:
        return f"Outgoing({self.method} {self.operation})"


class _Adapter(HTTPAdapter):
    """Connections that obey the deadline. The base class retries nothing: max_retries stays 0."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOL_CLASSES

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = _POOL_CLASSES
        return manager


class _Session(requests.Session):
    """A session that neither follows redirects nor looks at where they lead.

    With redirects merely "not allowed" the base class still reads a redirect's whole body, however large.
    """

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


class Transport:
    """A pool of connections to one server. Safe to share between threads, and after a fork.

    ``secret`` is cut out of every answer: some servers quote the key that they refuse.
    """

    def __init__(self, *, proxy: str | None, limits: Limits, secret: str) -> None:
        self._proxies = {"https": check_proxy(proxy)} if proxy else {}
        self._limits = limits
        self._secret = secret
        self._process = os.getpid()
        self._pool = self._new_pool()

    def exchange(self, outgoing: Outgoing) -> Answer:
        """Send once and return whatever came back, whatever its status.

        Raises NotSent when no connection came about, NoAnswer when it broke or the time ran out after that,
        and UnreadableAnswer when the answer is too large, cut off or packed in a way that was not asked for.
        """
        started = time.monotonic()
        outcome = self._attempt(outgoing)
        _log_line(outgoing, outcome, time.monotonic() - started)
        # Raised here, outside any except block: the library's own exceptions carry the request, key and all.
        if isinstance(outcome, EndlError):
            raise outcome
        return outcome

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _attempt(self, outgoing: Outgoing) -> Answer | EndlError:
        with Deadline(self._limits.total_seconds) as deadline:
            try:
                answer = without_secret(self._send(outgoing), self._secret)
            except UnreadableAnswer as problem:
                return _late() if deadline.passed else problem
            except _NETWORK_TROUBLE as problem:
                return _failure(deadline, type(problem).__name__)
            # A connection shut by the timer looks like the ordinary end of a body without a length.
            return _late() if deadline.passed else answer

    def _send(self, outgoing: Outgoing) -> Answer:
        session = self._session()
        request = session.prepare_request(
            requests.Request(
                outgoing.method,
                outgoing.url,
                headers=dict(outgoing.headers),
                data=outgoing.body,
                params=dict(outgoing.params or {}),
            )
        )
        response = session.send(
            request,
            stream=True,
            allow_redirects=False,
            timeout=(self._limits.connect_seconds, self._limits.read_seconds),
            verify=True,
            proxies=dict(self._proxies),
        )
        try:
            return _read(response, outgoing.max_answer_bytes)
        finally:
            response.close()

    def _session(self) -> requests.Session:
        # A forked worker must not share its parent's connections: two processes would read each other's
        # answers.
        if self._process != os.getpid():
            self._process, self._pool = os.getpid(), self._new_pool()
        return self._pool

    def _new_pool(self) -> requests.Session:
        session = _Session()
        session.trust_env = False
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        session.mount("https://", _Adapter())
        session.mount("http://", _Adapter())
        return session


_NETWORK_TROUBLE = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    OSError,
    ValueError,
)


def _failure(deadline: Deadline, kind: str) -> EndlError:
    if not deadline.sending:
        return NotSent(f"No connection to Endl ({kind}).")
    if deadline.passed:
        return _late()
    return NoAnswer(f"The connection to Endl broke before the answer came ({kind}).")


def _late() -> EndlError:
    return NoAnswer("Endl did not answer in time.")


def _read(response: requests.Response, limit: int) -> Answer:
    headers = kept_headers(response.headers)
    request_id = request_id_of(headers)
    try:
        body = _unpacked(_read_raw(response, limit), response.headers.get("Content-Encoding", ""), limit)
    except (_Refused, urllib3.exceptions.ProtocolError, zlib.error) as problem:
        reason = str(problem) if isinstance(problem, _Refused) else "The answer is cut off or damaged."
    else:
        return Answer(response.status_code, body, headers, request_id)
    raise UnreadableAnswer(reason, http_status=response.status_code, request_id=request_id)


class _Refused(ValueError):
    """The body, as sent or unpacked, is over the limit, or packed in an unknown way."""


def _read_raw(response: requests.Response, limit: int) -> bytes:
    body = bytearray()
    while chunk := response.raw.read(_CHUNK_BYTES, decode_content=False):
        body += chunk
        if len(body) > limit:
            raise _Refused(f"The answer is over {limit} bytes.")
    return bytes(body)


def _unpacked(body: bytes, encoding: str, limit: int) -> bytes:
    """Undo a packing that was not asked for, as far as the limit: a few bytes may unpack to gigabytes."""
    if encoding.strip().lower() in ("", "identity") or not body:
        return body
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise _Refused("The answer is packed in a way that was not asked for.")
    unpacker = zlib.decompressobj(wbits=47)
    unpacked = unpacker.decompress(body, limit + 1)
    if len(unpacked) > limit:
        raise _Refused(f"The answer is over {limit} bytes.")
    if not unpacker.eof:
        raise zlib.error("cut off")
    return unpacked


def _log_line(outgoing: Outgoing, outcome: Answer | EndlError, seconds: float) -> None:
    result = outcome.status if isinstance(outcome, Answer) else type(outcome).__name__
    log.info(
        "%s %s: %s request_id=%s %d ms",
        outgoing.method,
        outgoing.operation,
        result,
        outcome.request_id,
        seconds * 1000,
    )
