"""The drill: keys are switched, there and here, with two hundred orders on their way. None is unreadable."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pytest_django import Settings

from backoffice.access.models import User
from backoffice.delivery import sender
from backoffice.endl import Client, load_private_key
from cards import issuing, keyring, keys, retention, reveal
from cards.models import Cardholder, CardOrder, EncryptionKey, SealedDetails
from tests.wishes import an_order

if TYPE_CHECKING:
    from backoffice.emulator import Emulator

ORDERS = 200
State = EncryptionKey.State


@pytest.fixture
def next_key(tmp_path: Path) -> Path:
    path = tmp_path / "next.pem"
    private = rsa.generate_private_key(65537, 3072)
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    return path


def test_no_order_is_unreadable(
    cardholder: Cardholder, manager: User, endl: Client, emulator: "Emulator", registered_key: Path,
    next_key: Path, settings: Settings, now: datetime,
) -> None:  # fmt: skip
    keyring.keep_in_step()
    orders = [an_order(cardholder, by=manager, now=now, cents=100) for _ in range(ORDERS)]

    def new_file_here() -> None:
        settings.ENDL_PRIVATE_KEY_FILES = [registered_key, next_key]
        keyring.keep_in_step()

    def registered_there() -> None:
        emulator.register_key(load_private_key(next_key.read_bytes()).public_pem)

    def activated_here() -> None:
        keys.activate(key=EncryptionKey.objects.get(state=State.PENDING), by="command: ops", now=now)

    steps = {50: new_file_here, 90: registered_there, 140: activated_here}
    # Every other answer is a bare text that names no key: the office has to assume which one it is.
    forms = ("hybrid", "direct")
    for place, order in enumerate(orders):
        steps.get(place, lambda: None)()
        emulator.settings(envelope_form=forms[place % 2])
        sender.deliver(issuing.ROAD, order.pk, endl=endl, clock=lambda: now)

    kept = list(SealedDetails.objects.filter(order__in=orders))
    assert CardOrder.objects.filter(state="issued").count() == len(kept) == ORDERS
    ring = keyring.private_keys()
    for details in kept:
        reveal.open_mask(details=details, keys=ring, by=manager, now=now)

    before, after = EncryptionKey.objects.order_by("pk")
    assert (before.state, after.state) == (State.DECRYPT_ONLY, State.ACTIVE)
    # What was assumed between the switch there and the switch here was corrected by opening.
    assert (keys.needing(before).count(), keys.needing(after).count()) == (90, 110)

    with pytest.raises(keys.StillNeeded):
        keys.destroy(key=before, by="command: ops", now=now)
    for details in keys.needing(before):
        retention._destroy(details, "the drill is over", by="system: drill", now=now)
    assert keys.destroy(key=before, by="command: ops", now=now).state == State.DESTROYED
