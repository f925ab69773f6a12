"""What we keep sealed opens for its own row, with any key that we hold, and otherwise not at all."""

import os

import pytest
from pytest_django import Settings

from backoffice import vault

ABOUT = "cards.details:1:office-key"


def test_it_opens_for_what_it_is_about() -> None:
    sealed = vault.seal(b"secret", about=ABOUT)
    assert b"secret" not in sealed
    assert vault.unseal(sealed, about=ABOUT) == b"secret"
    assert vault.unseal(memoryview(sealed), about=ABOUT) == b"secret"  # type: ignore[arg-type]


def test_it_is_never_sealed_the_same_way_twice() -> None:
    assert vault.seal(b"secret", about=ABOUT) != vault.seal(b"secret", about=ABOUT)


def test_it_does_not_open_for_another_row() -> None:
    with pytest.raises(vault.CannotUnseal, match="for cards"):
        vault.unseal(vault.seal(b"secret", about=ABOUT), about="cards.details:2:office-key")


@pytest.mark.parametrize("place", [0, 1, 13, -1])
def test_it_does_not_open_when_damaged(place: int) -> None:
    sealed = bytearray(vault.seal(b"secret", about=ABOUT))
    sealed[place] ^= 1
    with pytest.raises(vault.CannotUnseal):
        vault.unseal(bytes(sealed), about=ABOUT)


@pytest.mark.parametrize("sealed", [b"", b"\x01", b"\x01short"])
def test_it_does_not_open_when_cut(sealed: bytes) -> None:
    with pytest.raises(vault.CannotUnseal):
        vault.unseal(sealed, about=ABOUT)


def test_a_new_key_in_front_seals_and_the_old_one_still_opens(settings: Settings) -> None:
    old = vault.seal(b"old", about=ABOUT)
    settings.STORAGE_KEYS = [os.urandom(32), *settings.STORAGE_KEYS]
    new = vault.seal(b"new", about=ABOUT)
    assert vault.unseal(old, about=ABOUT) == b"old"
    settings.STORAGE_KEYS = settings.STORAGE_KEYS[:1]
    assert vault.unseal(new, about=ABOUT) == b"new"
    with pytest.raises(vault.CannotUnseal):
        vault.unseal(old, about=ABOUT)
