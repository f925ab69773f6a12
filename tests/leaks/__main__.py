"""`python -m tests.leaks`: the leak scan from the command line."""

import argparse
import sys

from tests.leaks.run import FULL, SHORT, run


def main() -> int:
    """Scan as asked. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="tests.leaks", description="Look for card data wherever the office writes."
    )
    parser.add_argument("--short", action="store_true", help="fewer cards, no browser")
    parser.add_argument(
        "--self-test", action="store_true", help="then plant a number in every store, and see it found"
    )
    given = parser.parse_args()
    return run(SHORT if given.short else FULL, self_test=given.self_test)


if __name__ == "__main__":
    sys.exit(main())
