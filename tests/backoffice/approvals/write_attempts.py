"""Write the list of attempts into docs/security.md: `python -m tests.backoffice.approvals.write_attempts`."""

import os
import sys

import django

from tests.backoffice.approvals import attempts


def main() -> None:
    """Set Django up and write the page."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    attempts.PAGE.write_text(attempts.page_with(attempts.as_table()))
    sys.stdout.write(f"{len(attempts.all_attempts())} attempts written.\n")


if __name__ == "__main__":
    main()
