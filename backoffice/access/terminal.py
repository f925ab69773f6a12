"""Who acts where nobody signs in: the person at the terminal, as far as the system knows them."""

import getpass
import os


def at_the_terminal() -> str:
    """The actor of what a command does, for the trail."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = f"user {os.geteuid()}"
    return f"command: {name}"[:150]
