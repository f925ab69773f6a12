"""`python -m backoffice.emulator`."""

import sys

from .command import main

sys.exit(main(sys.argv[1:]))
