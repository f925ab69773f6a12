"""`python -m backoffice.practice`."""

import sys

from backoffice.practice.run import main

sys.exit(main())
