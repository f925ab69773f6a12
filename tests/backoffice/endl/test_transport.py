"""What the network can do to one exchange, and how each is told apart."""

import gzip
import ipaddress
import logging
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from backoffice.endl import (
    Answer,
    Call,
    Client,
    NoAnswer,
    NotSent,
    OutcomeUnknown,
    UnreadableAnswer,
    error_from,
)
from backoffice.endl.transport import MAX_POST_ANSWER_BYTES, MAX_READ_BYTES
from tests.backoffice.endl.rogue import (
    answer,
    drips,
    free_port,
    hangs,
    resets,
    running,
    says,
    says_and_hangs_up,
)

API_KEY = "key-that-never-shows-4f1c"
CALL = Call("issue_card", "/api/v0/customer/cus_1/card-users/chd_1/cards/scoped", b'{"amountInUSDCents":1}')


def client(url: str, **options: object) -> Client:
    settings: dict[str, object] = {"connect_seconds": 1.0, "read_seconds": 1.0, "total_seconds": 0.6}
    return Client(base_url=url, api_key=API_KEY, **(settings | {"retries": 0} | options))  # type: ignore[arg-type]


def send(url: str, **options: object) -> Answer:
    with client(url, **options) as endl:
        return endl.send(CALL, key="k-1")


def test_the_exact_bytes_and_all_headers_leave() -> None:
    with running(says(answer(201, "{}"))) as server:
        send(server.url)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert body == CALL.body
    assert lines[0] == f"POST {CALL.path} HTTP/1.1"
    assert {f"Api-Key: {API_KEY}", "Api-Version: 2026-09.1", "Idempotency-Key: k-1"} <= set(lines)
    assert {"Content-Type: application/json", "Accept-Encoding: identity"} <= set(lines)


@pytest.mark.parametrize("status", [200, 201, 204, 302, 400, 401, 404, 409, 429, 500, 502, 503])
def test_send_returns_any_status(status: int) -> None:
    body = b"" if status == 204 else b"{}"
    with running(says(answer(status, body))) as server:
        assert send(server.url).status == status


def test_only_the_understood_headers_are_kept() -> None:
    raw = answer(429, "{}", Retry_After="2", X_Request_Id="req_1", Set_Cookie="a=b", Server="x")
    with running(says(raw)) as server:
        got = send(server.url)
    assert got.request_id == "req_1"
    assert dict(got.headers) == {"retry-after": "2", "x-request-id": "req_1"}
    assert "{}" not in repr(got)


def test_a_refused_connection_is_not_sent() -> None:
    with pytest.raises(NotSent):
        send(f"http://127.0.0.1:{free_port()}")


def test_a_name_that_does_not_resolve_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror("unknown")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    with pytest.raises(NotSent):
        send("https://no-such-host.invalid", total_seconds=10.0)


def test_a_certificate_nobody_vouches_for_is_not_sent(tls_context: ssl.SSLContext) -> None:
    with running(says(answer()), tls=tls_context) as server, pytest.raises(NotSent, match="SSL"):
        send(server.url, total_seconds=5.0)
    assert server.requests == []


def test_a_server_that_never_finishes_the_handshake_is_not_sent() -> None:
    with running(hangs) as server, pytest.raises(NotSent):
        send(server.url.replace("http:", "https:"), connect_seconds=30.0, read_seconds=30.0)


@pytest.mark.parametrize("behaviour", [resets, hangs, says_and_hangs_up(b"")], ids=["reset", "hang", "close"])
def test_a_connection_lost_after_the_request_is_no_answer(behaviour: object) -> None:
    with running(behaviour) as server, pytest.raises(NoAnswer):  # type: ignore[arg-type]
        send(server.url)
    assert len(server.requests) == 1


def test_silence_ends_after_the_read_time() -> None:
    started = time.monotonic()
    with running(hangs) as server, pytest.raises(NoAnswer):
        send(server.url, read_seconds=0.2, total_seconds=10.0)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(answer(200, "x" * 500), id="headers"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 50, id="interim answers"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + b"1" * 500, id="body without a length"),
    ],
)
def test_a_dripping_server_is_cut_off_at_the_deadline(data: bytes) -> None:
    started = time.monotonic()
    with running(drips(data)) as server, pytest.raises(NoAnswer):
        send(server.url)
    assert time.monotonic() - started < 2


def test_a_body_that_drips_after_quick_headers_is_cut_off() -> None:
    head, _, body = answer(200, "x" * 500).partition(b"\r\n\r\n")

    def behave(line: object) -> None:
        says(head + b"\r\n\r\n")(line)  # type: ignore[arg-type]
        drips(body)(line)  # type: ignore[arg-type]

    started = time.monotonic()
    with running(behave) as server, pytest.raises(NoAnswer):
        send(server.url)
    assert time.monotonic() - started < 2


def test_a_name_server_slower_than_the_deadline_delays_no_request_past_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = socket.getaddrinfo

    def slow(*args: object, **options: object) -> object:
        time.sleep(0.4)
        return ask(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("socket.getaddrinfo", slow)
    with running(says(answer(201))) as server, pytest.raises(NotSent):
        send(server.url, total_seconds=0.2)
    assert server.requests == []


def test_the_deadline_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    with running(says(answer())) as server, client(server.url) as endl:
        for _ in range(5):
            endl.send(CALL, key="k-1")
        assert sum("Timer" in thread.name for thread in threading.enumerate()) == 0
    assert threading.active_count() <= before + 2


def test_a_cut_off_body_is_unreadable() -> None:
    whole = answer(201, '{"cardId": "crd_1"}', X_Request_Id="req_9")
    with running(says_and_hangs_up(whole[:-4])) as server, pytest.raises(UnreadableAnswer) as caught:
        send(server.url)
    assert (caught.value.http_status, caught.value.request_id) == (201, "req_9")


def test_a_stale_kept_alive_connection_is_never_retried_for_a_post() -> None:
    """The server takes the second request on the kept connection and dies: it may have been carried out."""
    with running(says(answer(201)), resets, says(answer(201))) as server, client(server.url) as endl:
        endl.send(CALL, key="k-1")
        with pytest.raises(OutcomeUnknown):
            endl.send(CALL, key="k-2")
        assert len(server.requests) == 2
        assert server.connections == 1


def test_a_connection_closed_while_idle_is_opened_anew_before_sending() -> None:
    with running(says_and_hangs_up(answer(201)), says(answer(201))) as server, client(server.url) as endl:
        endl.send(CALL, key="k-1")
        time.sleep(0.1)
        assert endl.send(CALL, key="k-2").status == 201
        assert (len(server.requests), server.connections) == (2, 2)


def test_connections_are_kept_alive() -> None:
    with running(says(answer())) as server, client(server.url) as endl:
        for _ in range(3):
            endl.send(CALL, key="k-1")
        assert server.connections == 1


def test_a_redirect_is_not_followed_and_its_target_not_looked_at() -> None:
    with running(says(answer(200))) as elsewhere:
        with running(says(answer(307, "{}", Location=elsewhere.url))) as server:
            assert send(server.url).status == 307
        assert elsewhere.requests == []
    with running(says(answer(302, "{}", Location="http://[broken"))) as server:
        assert send(server.url).status == 302


@pytest.mark.parametrize("status", [201, 302, 400])
def test_a_post_answer_over_its_limit_is_unreadable(status: int) -> None:
    big = answer(status, b" " * (MAX_POST_ANSWER_BYTES + 1), Location="http://127.0.0.1/")
    with running(says(big)) as server, pytest.raises(UnreadableAnswer):
        send(server.url)


def test_a_read_may_be_larger_but_not_without_end() -> None:
    fits, too_large = b"[]" + b" " * (MAX_READ_BYTES - 2), b" " * (MAX_READ_BYTES + 1)
    with (
        running(says(answer(200, fits)), says(answer(200, too_large))) as server,
        client(server.url, total_seconds=10.0) as endl,
    ):
        assert endl.list_deposits("cus_1").items == []
        with pytest.raises(UnreadableAnswer):
            endl.list_deposits("cus_1")


def test_packed_answers_are_unpacked_only_as_far_as_the_limit() -> None:
    bomb = gzip.compress(b"0" * (MAX_POST_ANSWER_BYTES * 40))
    assert len(bomb) < MAX_POST_ANSWER_BYTES
    with (
        running(says(answer(201, bomb, Content_Encoding="gzip"))) as server,
        pytest.raises(UnreadableAnswer, match="over"),
    ):
        send(server.url)
    small = gzip.compress(b'{"cardId":"crd_1"}')
    with running(says(answer(201, small, Content_Encoding="gzip"))) as server:
        assert send(server.url).body == b'{"cardId":"crd_1"}'


@pytest.mark.parametrize(
    ("body", "encoding"),
    # Without its time, which would give the test another name in each process that collects it.
    [(b"not packed", "gzip"), (gzip.compress(b"{}", mtime=0)[:-9], "gzip"), (b"{}", "br")],
)
def test_an_answer_packed_wrongly_is_unreadable(body: bytes, encoding: str) -> None:
    with (
        running(says(answer(201, body, Content_Encoding=encoding))) as server,
        pytest.raises(UnreadableAnswer),
    ):
        send(server.url)


@pytest.mark.parametrize(
    "raw", [b"SSH-2.0-OpenSSH_9.6\r\n\r\n", b"HTTP/1.1 20 OK\r\n\r\n", b"\0" * 50 + b"\r\n"]
)
def test_what_is_not_http_has_an_unknown_outcome(raw: bytes) -> None:
    with running(says_and_hangs_up(raw)) as server, pytest.raises(OutcomeUnknown):
        send(server.url)


def test_cookies_are_not_kept() -> None:
    with (
        running(says(answer(200, "{}", Set_Cookie="session=a; Path=/"))) as server,
        client(server.url) as endl,
    ):
        endl.send(CALL, key="k-1")
        endl.send(CALL, key="k-2")
    assert b"session=a" not in server.requests[1]


def test_the_environment_sets_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with running(says(answer(201))) as server:
        assert send(server.url).status == 201


def test_the_environment_sets_no_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with running(says(answer(201))) as server:
        send(server.url)
    assert b"Authorization" not in server.requests[0]


def test_an_explicit_proxy_is_asked_for_a_tunnel_and_its_refusal_means_not_sent() -> None:
    with running(says_and_hangs_up(answer(403, ""))) as proxy, pytest.raises(NotSent):
        send("https://api.invalid", proxy=proxy.url)
    assert proxy.requests[0].startswith(b"CONNECT api.invalid:443")
    assert API_KEY.encode() not in proxy.requests[0]


def test_one_line_is_logged_without_key_or_body(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with running(says(answer(201, '{"secret":"4111111111111111"}', X_Request_Id="req_7"))) as server:
        send(server.url)
    lines = [record.getMessage() for record in caplog.records if record.name == "backoffice.endl"]
    assert len(lines) == 1
    assert "POST issue_card: 201 request_id=req_7" in lines[0]
    assert all(word not in caplog.text for word in (API_KEY, "4111", "amountInUSDCents"))


def test_a_key_that_the_server_quotes_is_cut_out() -> None:
    with running(says(answer(401, f'{{"message":"{API_KEY} is no key"}}'))) as server:
        got = send(server.url)
    assert error_from(got).message == "[API key] is no key"


def test_an_error_carries_nothing_of_the_request() -> None:
    """Error reports walk the chain of exceptions; the library's hold the request with its key."""
    with pytest.raises(NotSent) as caught:
        send(f"http://127.0.0.1:{free_port()}")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_threads_share_a_client() -> None:
    statuses: list[int] = []
    with running(says(answer(201))) as server, client(server.url, total_seconds=5.0) as endl:
        threads = [
            threading.Thread(target=lambda: statuses.append(endl.send(CALL, key="k-1").status))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert statuses == [201] * 8


def test_a_forked_process_gets_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(says(answer(201))) as server, client(server.url) as endl:
        endl.send(CALL, key="k-1")
        monkeypatch.setattr("backoffice.endl.transport.os.getpid", lambda: -1)
        endl.send(CALL, key="k-1")
        assert server.connections == 2


@pytest.fixture(scope="module")
def tls_file(rsa_key: rsa.RSAPrivateKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(rsa_key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(rsa_key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM) + rsa_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(pem)
    return path


@pytest.fixture
def tls_context(tls_file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls_file)
    return context


def test_the_deadline_holds_inside_a_tls_connection(
    tls_context: ssl.SSLContext, tls_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A TLS socket takes the descriptor away from the plain one: the timer must still reach it."""
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(tls_file))
    started = time.monotonic()
    with running(drips(answer(200, "x" * 500)), tls=tls_context) as server, pytest.raises(NoAnswer):
        send(server.url)
    assert time.monotonic() - started < 2
    assert len(server.requests) == 1
