"""What the tests of money share: a deposit on its way, and pages to look at."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client as Browser
from django.utils import timezone

from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.endl import Client
from funding import deposits
from funding.models import DepositRequest, Wallet

SECRET = b"a webhook secret of the tests"
HOOK = "/webhooks/endl/"
ADD_REQUEST = "/admin/funding/depositrequest/add/"

Request = Callable[..., DepositRequest]


@pytest.fixture
def request_deposit(wallet: Wallet, maker: User) -> Request:
    """Ask for a deposit as maker."""
    asked = 0

    def ask(amount: str = "12.50", **more: Any) -> DepositRequest:
        nonlocal asked
        asked += 1
        given = {"wallet": wallet, "chain": "", "note": "", "by": maker, "now": timezone.now(), **more}
        token = given.pop("form_token", f"the page number {asked} of this test")
        return deposits.request_deposit(amount=Decimal(amount), form_token=token, **given)

    return ask


@pytest.fixture
def approve(checker: User, checker2: User) -> Callable[[DepositRequest], DepositRequest]:
    """Approve a deposit as checker, a large one as checker2 too."""

    def decide(wish: DepositRequest) -> DepositRequest:
        assert wish.approval is not None
        for person in (checker, checker2)[: wish.approval.needed]:
            deposits.approve_deposit(
                request=wish, by=person, seen=wish.approval.facts_hash, now=timezone.now()
            )
        return wish

    return decide


@pytest.fixture
def send(request_deposit: Request, approve: Any, endl: Client) -> Request:
    """Ask for a deposit, approve it, and drive it as far as it goes."""

    def drive(amount: str = "12.50", **more: Any) -> DepositRequest:
        wish: DepositRequest = approve(request_deposit(amount, **more))
        sender.deliver(deposits.ROAD, wish.pk, endl=endl)
        wish.refresh_from_db()
        return wish

    return drive


def a_token() -> str:
    """A form token that no other test has used."""
    return hashlib.sha256(str(timezone.now().timestamp()).encode()).hexdigest()[:32]


def post_request(browser: Browser, payer: Wallet, amount: str, **more: Any) -> Any:
    """Post the form that asks for a deposit."""
    given = {"form_token": a_token(), "wallet": payer.pk, "amount": amount, "chain": "", "note": ""} | more
    return browser.post(ADD_REQUEST, given)


def text_of(answer: Any) -> str:
    """The page as a person reads it: without tags, entities as characters, single spaces."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def signed(
    raw: bytes, *, event_id: str = "evt_1", at: datetime | int | str | None = None, key: bytes = SECRET
) -> dict[str, str]:
    """The headers of a delivery as Endl signs it."""
    moment = timezone.now() if at is None else at
    sent_at = str(int(moment.timestamp())) if isinstance(moment, datetime) else str(moment)
    mac = hmac.digest(key, f"{event_id}.{sent_at}.".encode() + raw, "sha256")
    return {
        "webhook-id": event_id,
        "webhook-timestamp": sent_at,
        "webhook-signature": "v1," + base64.b64encode(mac).decode(),
    }


def an_event(event_id: str = "evt_1", kind: str = "card_deposit.completed", **data: Any) -> bytes:
    """A delivery's body."""
    body = {"id": event_id, "type": kind, "createdAt": "2026-11-30T10:00:00Z", "data": data}
    return json.dumps(body).encode()


def deliver(
    raw: bytes, *, browser: Browser | None = None, headers: dict[str, str] | None = None, **more: Any
) -> Any:
    """Post a delivery to our door, signed unless headers are given."""
    return (browser or Browser()).post(
        HOOK,
        data=raw,
        content_type="application/json",
        headers=signed(raw, **more) if headers is None else headers,
    )
