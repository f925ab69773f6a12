"""How long a reveal takes, from the POST to the JSON, with the ledger's row committed in between.

Run by `make bench`, not by `make test`: what it prints is for people, and nothing here fails for being slow.
The second factor is a recovery code, as in production: the practice password costs its hash on top.
"""

import time
from statistics import quantiles

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.db import connection
from django.test import Client as Browser
from pytest_django import Settings

from backoffice.access.models import User
from cards.models import Card, CardReveal
from tests.cards.conftest import card, details, keys, order  # noqa: F401  (fixtures)
from tests.cards.looking import reveal

TIMES = 200


@pytest.mark.django_db(transaction=True)
def test_a_reveal(card: Card, manager: User, settings: Settings) -> None:  # noqa: F811  (the fixture)
    settings.PRACTICE = False
    settings.REVEALS_PER_CARD = settings.REVEALS_PER_TEN_MINUTES = settings.REVEALS_PER_DAY = TIMES + 1
    browser = Browser()
    browser.force_login(manager)
    took: list[float] = []
    while len(took) < TIMES:
        Authenticator.objects.filter(user=manager).delete()
        for code in RecoveryCodes.activate(manager).get_unused_codes():
            started = time.perf_counter()
            answer = reveal(browser, card, factor=code)
            took.append((time.perf_counter() - started) * 1000)
            assert answer.status_code == 200
    assert CardReveal.objects.filter(result="done").count() == len(took)
    cuts = quantiles(took, n=100)
    print(  # noqa: T201  (for the person at the terminal)
        f"\nreveal on {connection.vendor}: {len(took)} times, p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms, "
        f"p99 {cuts[98]:.0f} ms"
    )
