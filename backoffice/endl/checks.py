"""What is refused before it reaches a URL or a header. Nothing here repeats the value: it may be a secret."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from backoffice.endl.errors import InvalidId

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)


def is_id(value: object) -> bool:
    """Whether a value may stand in a URL: 1 to 128 letters, digits, hyphens, underscores (assumed)."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def check_id(value: str, what: str) -> str:
    """Return the id, or raise InvalidId: a slash or a dot in it would ask for another object."""
    if not is_id(value):
        raise InvalidId(f"This {what} id cannot be right: 1 to 128 letters, digits, hyphens or underscores.")
    return value


def check_base_url(url: str) -> str:
    """Return the base URL without a trailing slash. Raises ValueError, with a sentence, unless it is https.

    Plain http is taken on this machine alone (localhost, 127.0.0.0/8, ::1), for an emulator.
    """
    parts = _split(url, "The base URL")
    if parts.path not in ("", "/") or "?" in url or "#" in url or "@" in url:
        raise ValueError(
            "The base URL is a scheme, a host and perhaps a port: no path, query, fragment or user."
        )
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise ValueError("The base URL must be https; plain http is for this machine alone.")
    return url.rstrip("/")


def check_proxy(url: str) -> str:
    """Return the proxy's URL, or raise ValueError without repeating it: it may hold a password."""
    _split(url, "The proxy's URL")
    return url


def _split(url: str, what: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not re.fullmatch(r"[\x21-\x7e]+", url) or "\\" in url:
        raise ValueError(f"{what} cannot be read; it should look like https://host or https://host:port.")
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def check_header(value: str, what: str) -> str:
    """Return a header's value, or raise ValueError, without repeating it, unless it is printable ASCII."""
    if not isinstance(value, str) or not _PRINTABLE.fullmatch(value):
        raise ValueError(f"{what} must be printable ASCII, without line breaks or blanks at its ends.")
    return value


def check_key(key: str) -> str:
    """Return a key of 1 to 64 characters (documented), letters, digits, - and _, or raise ValueError."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError("An idempotency key has 1 to 64 letters, digits, hyphens or underscores.")
    return key
