"""Write the list of attempts into docs/security.md: `python -m tests.backoffice.approvals.write_attempts`."""

import os
import sys
from importlib import import_module

import django

from tests.backoffice.approvals import attempts


def main() -> None:
    """Import the tests, which put themselves on the list, and write the page."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    import_module("tests.backoffice.approvals.test_bypasses")
    attempts.PAGE.write_text(attempts.page_with(attempts.as_table()))
    sys.stdout.write(f"{len(attempts.ATTEMPTS)} attempts written.\n")


if __name__ == "__main__":
    main()
