"""The checks that stand before every operation, in Endl's order."""

from __future__ import annotations

import hmac
import re
import threading
import time

from backoffice.emulator.errors import Refusal, coded, uncoded
from backoffice.emulator.switches import Switches
from backoffice.emulator.wire import Call

_VERSION = re.compile(r"\d{4}-\d{2}\.\d+")


class Bucket:
    """A token bucket: so many calls a second, and as many at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: float | None = None
        self._seen = 0.0

    def admits(self, rate: float | None) -> bool:
        """Whether one more call is let through at this rate; None knows no limit."""
        if rate is None:
            return True
        with self._lock:
            now = time.monotonic()
            grown = max(rate, 1.0) if self._tokens is None else self._tokens + (now - self._seen) * rate
            self._tokens, self._seen = min(grown, max(rate, 1.0)), now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


def admit(call: Call, switches: Switches, bucket: Bucket) -> None:
    """Raise the first refusal that the call's headers deserve."""
    _check_api_key(call, switches)
    _check_address(switches)
    _check_version(call, switches)
    if not switches.permitted:
        raise coded("ERRCORE_1005")
    if not bucket.admits(switches.rate_per_second):
        raise _throttled(switches)
    _check_reads_off(call, switches)
    if call.method == "POST" and call.is_known:
        _check_content_type(call)
        _check_idempotency_key(call, switches)


def _check_api_key(call: Call, switches: Switches) -> None:
    given = call.headers.get("api-key", "").encode("utf-8", "replace")
    if not hmac.compare_digest(given, switches.api_key.encode()):
        raise coded("ERRCORE_1004", field="Api-Key")


def _check_address(switches: Switches) -> None:
    if not switches.allowlisted:
        raise coded("IP_NOT_ALLOWLISTED")


def _check_version(call: Call, switches: Switches) -> None:
    version = call.headers.get("api-version", "")
    if not _VERSION.fullmatch(version) or version not in switches.api_versions:
        raise coded("ERRCORE_1001", field="Api-Version")


def _throttled(switches: Switches) -> Refusal:
    wait = switches.rate_retry_after
    return coded("ERRCORE_1006", headers={} if wait is None else {"Retry-After": wait})


def _check_reads_off(call: Call, switches: Switches) -> None:
    if call.operation in switches.reads_off:
        raise uncoded(switches.reads_off_status, "This API does not offer that")


def _check_content_type(call: Call) -> None:
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise coded("ERRCRD_1005", "Content-Type must be application/json", field="Content-Type")


def _check_idempotency_key(call: Call, switches: Switches) -> None:
    if call.key is None:
        if call.operation in switches.keys_required:
            raise coded("ERRCRD_1005", "Idempotency-Key is required", field="Idempotency-Key")
    elif not 1 <= len(call.key) <= 64:
        raise coded("ERRCRD_1005", "Idempotency-Key must have 1 to 64 characters", field="Idempotency-Key")
