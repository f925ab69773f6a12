"""The pages of approvals as tests drive them."""

import re
from html import unescape
from typing import Any

from django.test import Client as Browser

from backoffice.approvals.models import Approval

QUEUE = "/admin/approvals/approval/"


def text_of(answer: Any) -> str:
    """The page as a person reads it."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def queue(browser: Browser, query: str = "") -> str:
    """The page of the queue as it is sent."""
    answer = browser.get(f"{QUEUE}{query}")
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def decide(browser: Browser, approval: Approval, verdict: str = "approve", **given: Any) -> Any:
    """Press a button of the queue, as its page was shown."""
    seen = given.pop("seen", approval.facts_hash)
    return browser.post(
        f"{QUEUE}{approval.pk}/decide/?turn=mine&at={approval.pk}",
        {"verdict": verdict, "seen": seen, "reason": "", **given},
    )


def choose(browser: Browser, *approvals: Approval, how: str = "ticked") -> Any:
    """Choose many: ticked ones, a page of these, or all that fit."""
    field = "shown" if how == "page" else "pick"
    return browser.post(
        f"{QUEUE}bulk/choose/?turn=mine",
        {"choose": how, field: [f"{each.pk}:{each.facts_hash}" for each in approvals]},
    )
