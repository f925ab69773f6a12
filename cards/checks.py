"""What can be wrong with the private keys, found before the first card is to be opened."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Caution

from backoffice.endl import KeyRefused, read_key_file, warning_about
from cards import keyring


@register(Tags.security, deploy=True)
def check_private_keys(**_kwargs: Any) -> list[CheckMessage]:
    """Each configured key can be used. Without any, this is a process that opens nothing."""
    return list(_found())


def _found() -> Iterator[CheckMessage]:
    passphrase = keyring.passphrase_file()
    for path in settings.ENDL_PRIVATE_KEY_FILES:
        try:
            warning = warning_about(read_key_file(path, passphrase), passphrase)
        except KeyRefused as problem:
            yield Error(f"{path} cannot be used to open card details: {problem}", id="cards.E001")
            continue
        if warning:
            yield Caution(f"{path}: {warning}", id="cards.W001")
