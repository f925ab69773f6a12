"""`python -m tests.faults [--quick] [--only WORD] [--seed N]`."""

import argparse
import os
import signal
import sys
import time
from types import FrameType

from tests.faults.ground import CannotRun
from tests.faults.office import Office


def main() -> int:
    """Play the cells. Returns 0 when nothing was doubled, lost, misstated or stuck."""
    options = _options()
    os.umask(0o077)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        with Office() as office:
            os.environ.update(office.variables)
            # Django reads the environment of the run; nothing of it may be loaded before.
            import django

            django.setup()
            from tests.faults import run

            return run.run(office, seed=options.seed, quick=options.quick, only=options.only)
    except CannotRun as problem:
        sys.stderr.write(f"{problem}\n")
        return 1


def _leave(number: int, _frame: FrameType | None) -> None:
    """Told to stop: take everything down on the way out."""
    sys.exit(128 + number)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make faults", description="Break everything, and look who paid.")
    parser.add_argument("--quick", action="store_true", help="a sample that touches everything once")
    parser.add_argument("--only", default="", help="only the groups with a cell whose name holds these words")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="play the dice of an earlier run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
