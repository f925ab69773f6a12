"""What the tests of deposit pages do at the desk."""

import re
from typing import Any

from django.test import Client as Browser
from django.utils import timezone

from backoffice.delivery.models import State
from funding.models import DepositRequest

LIST = "/admin/funding/depositrequest/"


def page_of(wish: DepositRequest) -> str:
    return f"{LIST}{wish.pk}/change/"


def without_reference(answer: Any) -> str:
    """A page without the number by which its own request is found in the log."""
    return re.sub(r"<code>[0-9a-f-]+</code>", "", answer.content.decode())


def decide(browser: Browser, wish: DepositRequest, verdict: str = "approve", **more: Any) -> Any:
    assert wish.approval is not None
    given = {"seen": wish.approval.facts_hash, "verdict": verdict, "reason": "", **more}
    return browser.post(f"{LIST}{wish.pk}/decide/", given)


def put(wish: DepositRequest, state: State, **columns: Any) -> None:
    DepositRequest.objects.filter(pk=wish.pk).update(state=state, state_at=timezone.now(), **columns)
