"""Events: signed, sent until they are taken, and troubled on request."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.backoffice.emulator.client import WALLET, Api, eventually

SECRET = "whsec_" + base64.b64encode(b"a secret of at least 24 bytes").decode()
OLDER = "whsec_" + base64.b64encode(b"an older secret, still in use").decode()


class Receiver(ThreadingHTTPServer):
    """Takes events, or turns away the first few."""

    def __init__(self) -> None:
        self.taken: list[tuple[dict[str, str], bytes]] = []
        self.turned_away = 0
        self.turn_away = 0
        super().__init__(("127.0.0.1", 0), Taker)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/webhooks/endl/"

    def kinds(self) -> list[str]:
        return [json.loads(body)["type"] for _, body in self.taken]


class Taker(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.turned_away < self.server.turn_away:
            self.server.turned_away += 1
            self.send_response(503)
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.server.taken.append((headers, body))
            self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def receiver(api: Api) -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    api.emulator.settings(webhook_url=server.url, webhook_secret=SECRET, webhook_retry_seconds=[0.05])
    yield server
    server.shutdown()
    server.server_close()


def signature(secret: str, headers: dict[str, str], body: bytes) -> str:
    """The signature by the words of the Standard Webhooks specification."""
    content = b".".join((headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def test_a_completed_deposit_is_told_with_a_signature(api: Api, receiver: Receiver) -> None:
    deposit = api.deposit().json()
    api.emulator.settle()
    headers, body = eventually(lambda: receiver.taken)[0]
    event = json.loads(body)
    assert (event["type"], event["data"]["depositId"]) == ("card_deposit.completed", deposit["depositId"])
    assert event["data"]["status"] == "completed"
    assert headers["webhook-id"] == event["id"]
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 10
    assert headers["webhook-signature"] == signature(SECRET, headers, body)


def test_a_failed_deposit_is_told(api: Api, receiver: Receiver) -> None:
    api.emulator.settings(failing_wallets=[WALLET])
    api.deposit()
    api.emulator.settle()
    eventually(lambda: receiver.kinds() == ["card_deposit.failed"])


def test_several_secrets_sign_alike(api: Api, receiver: Receiver) -> None:
    api.emulator.settings(webhook_secret=f"{SECRET},{OLDER}")
    api.deposit()
    api.emulator.settle()
    headers, body = eventually(lambda: receiver.taken)[0]
    expected = [signature(secret, headers, body) for secret in (SECRET, OLDER)]
    assert headers["webhook-signature"].split(" ") == expected


def test_the_other_scheme_is_a_plain_hex_digest(api: Api, receiver: Receiver) -> None:
    api.emulator.settings(webhook_scheme="hex", webhook_secret="plain", webhook_header="X-Signed")
    api.deposit()
    api.emulator.settle()
    headers, body = eventually(lambda: receiver.taken)[0]
    assert headers["x-signed"] == hmac.new(b"plain", body, hashlib.sha256).hexdigest()
    assert "webhook-signature" not in headers


def test_an_event_is_sent_until_it_is_taken(api: Api, receiver: Receiver) -> None:
    receiver.turn_away = 3
    api.deposit()
    api.emulator.settle()
    eventually(lambda: receiver.taken)
    assert receiver.turned_away == 3
    done = eventually(lambda: [one for one in api.control("deliveries") if one["state"] == "delivered"])
    assert (done[0]["attempts"], done[0]["last"]) == (4, "202")
    time.sleep(0.2)
    assert len(receiver.taken) == 1


def test_an_unreachable_receiver_is_tried_again(api: Api) -> None:
    api.emulator.settings(webhook_url="http://127.0.0.1:1/", webhook_retry_seconds=[0.05])
    api.deposit()
    api.emulator.settle()
    eventually(lambda: api.control("deliveries")[0]["attempts"] >= 3)
    assert api.control("deliveries")[0]["state"] == "waiting"


def test_lost_is_never_sent(api: Api, receiver: Receiver) -> None:
    api.emulator.fault(operation="webhook", kind="lost")
    for key in ("a", "b"):
        api.deposit(key=key)
        api.emulator.settle()
    eventually(lambda: receiver.taken)
    time.sleep(0.2)
    assert len(receiver.taken) == 1
    assert [one["state"] for one in api.control("deliveries")] == ["delivered", "lost"]


def test_doubled_comes_twice_with_one_id(api: Api, receiver: Receiver) -> None:
    api.emulator.fault(operation="webhook", kind="doubled")
    api.deposit()
    api.emulator.settle()
    eventually(lambda: len(receiver.taken) == 2)
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 1


def test_late_comes_late(api: Api, receiver: Receiver) -> None:
    api.emulator.fault(operation="webhook", kind="late", seconds=0.5)
    api.deposit()
    began = time.monotonic()
    api.emulator.settle()
    eventually(lambda: receiver.taken)
    assert time.monotonic() - began >= 0.45


def test_out_of_order_comes_after_the_next(api: Api, receiver: Receiver) -> None:
    api.emulator.fault(operation="webhook", kind="out_of_order", seconds=60)
    for kind in ("first", "second"):
        api.control("webhook", {"type": kind, "data": {}})
    eventually(lambda: receiver.kinds() == ["second", "first"])


def test_any_event_can_be_sent_by_hand(api: Api, receiver: Receiver) -> None:
    api.control("webhook", {"type": "odd.event", "data": {"a": 1}, "id": "evt_by_hand"})
    headers, body = eventually(lambda: receiver.taken)[0]
    assert headers["webhook-id"] == "evt_by_hand"
    assert json.loads(body)["data"] == {"a": 1}
