"""`python -m backoffice.emulator`."""

import sys

from backoffice.emulator.command import main

sys.exit(main(sys.argv[1:]))
