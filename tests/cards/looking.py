"""Looking at a card as the page's script does."""

import json
from typing import Any

from django.test import Client as Browser

from cards.models import Card
from tests.cards.desk import url
from tests.people import PASSWORD

SCRIPT = {"X-Office-Reveal": "1"}
WHY = {"kind": "payment", "reason": "Invoice 4711 of the printer", "factor": PASSWORD}


def ask(browser: Browser, card: Card, door: str = "reveal", **fields: Any) -> Any:
    """Post to a door of the reveal page as its script does."""
    return browser.post(url("card", door, card.pk), fields, headers=SCRIPT)


def reveal(browser: Browser, card: Card, **changed: Any) -> Any:
    """Fill in the form and press "Reveal"."""
    return ask(browser, card, **{**WHY, **changed})


def told(answer: Any) -> dict[str, Any]:
    """What the answer says, whatever its status."""
    said: dict[str, Any] = json.loads(answer.content)
    return said
