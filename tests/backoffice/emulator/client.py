"""A bare client: it sends what the documents ask for, and a test may bend any of it."""

import json
import time
from collections.abc import Callable
from typing import Any

import requests

from backoffice.emulator import Emulator

COMPANY = "cus_company"
HOLDER = "chd_holder"
WALLET = "wlt_company"
PERSON = {"firstName": "Ada", "lastName": "Byron", "email": "ada@example.com", "phone": "+12025550100"}


class Api:
    """Calls to one emulator over a kept-alive connection."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers.update({"Api-Key": emulator.api_key, "Api-Version": "2026-09.1"})

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        options.setdefault("timeout", 5)
        options.setdefault("allow_redirects", False)
        return self.session.request(method, f"{self.emulator.base_url}{path}", **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.call("GET", f"/api/v0{path}", **options)

    def post(self, path: str, body: Any, *, key: str | None = None, **options: Any) -> requests.Response:
        headers = {"Content-Type": "application/json", **options.pop("headers", {})}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.call("POST", f"/api/v0{path}", data=data, headers=headers, **options)

    def register(
        self, *, key: str | None = None, customer: str = COMPANY, **fields: Any
    ) -> requests.Response:
        return self.post(f"/customer/{customer}/card-users", {**PERSON, **fields}, key=key)

    def issue(
        self, cents: Any = 4200, *, key: str | None = None, holder: str = HOLDER, **fields: Any
    ) -> requests.Response:
        path = f"/customer/{COMPANY}/card-users/{holder}/cards/scoped"
        return self.post(path, {"amountInUSDCents": cents, **fields}, key=key)

    def deposit(
        self,
        amount: Any = "10.00",
        *,
        key: str | None = "first",
        customer: str = COMPANY,
        wallet: str = WALLET,
        currency: str = "USDC",
        **fields: Any,
    ) -> requests.Response:
        body = {"walletId": wallet, "amount": {"amount": amount, "currency": currency}, **fields}
        return self.post(f"/cards/{customer}/deposits", body, key=key)

    def control(self, path: str, body: Any = None) -> Any:
        method = "GET" if body is None else "POST"
        answer = self.call(method, f"/_control/{path}", json=body)
        answer.raise_for_status()
        return answer.json()


def refusal(answer: requests.Response) -> tuple[int, str | None]:
    """A refusal's status and its code; None where Endl documents none."""
    body = answer.json()
    assert (body["status"], body["data"], body["code"]) == ("ERROR", None, answer.status_code)
    return answer.status_code, body["errors"][0]["code"] if body["errors"] else None


def eventually(holds: Callable[[], Any], *, seconds: float = 5) -> Any:
    """What `holds` answers once it is true; fails when it never is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError("it never happened")
