"""The command that runs the emulator."""

from __future__ import annotations

import argparse
import signal
import sqlite3
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

from backoffice.emulator import clock, sample
from backoffice.emulator.emulator import Emulator
from backoffice.emulator.switches import ENVELOPE_FORMS

_SWITCHES = ("webhook_url", "webhook_secret", "settle_seconds", "api_key", "envelope_form")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; answers the exit code."""
    options = _options(sys.argv[1:] if argv is None else argv)
    given = vars(options)
    switches: dict[str, Any] = {name: given[name] for name in _SWITCHES if given[name] is not None}
    try:
        emulator = Emulator(options.world, port=options.port, **switches)
    except OSError as trouble:
        reason = trouble.strerror or str(trouble)
        return _fail(f"The emulator cannot listen on port {options.port}: {reason}.")
    except sqlite3.Error as trouble:
        return _fail(f"The emulator cannot use {options.world}: {trouble}.")
    _serve(emulator, with_sample=options.sample)
    return 0


def _fail(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 1


def _serve(emulator: Emulator, *, with_sample: bool) -> None:
    leaving = threading.Event()

    def leave(_number: int, _frame: FrameType | None) -> None:
        leaving.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    with emulator:
        if with_sample:
            sample.build(emulator.world, clock.stamp())
        sys.stdout.write(
            f"Endl emulator on {emulator.base_url}, control page at {emulator.base_url}/_control/\n"
        )
        sys.stdout.flush()
        leaving.wait()


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="endl-emulator", description="An Endl of our own, on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--world", default="var/emulator.sqlite3", help="the file that holds its world")
    parser.add_argument("--webhook-url", help="where events are posted")
    parser.add_argument("--webhook-secret", help="whsec_ and base64; several with commas sign alike")
    parser.add_argument("--settle-seconds", type=float, help="how long a deposit is pending (5)")
    parser.add_argument("--api-key", help="the key that is accepted")
    parser.add_argument("--envelope-form", choices=ENVELOPE_FORMS, help="how card details are encrypted")
    parser.add_argument("--sample", action="store_true", help="begin with the sample world")
    return parser.parse_args(argv)
