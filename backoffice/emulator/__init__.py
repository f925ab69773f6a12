"""An Endl of our own, for development, training and tests. It shares no line with the client."""

from backoffice.emulator.command import main
from backoffice.emulator.emulator import Emulator

__all__ = ["Emulator", "main"]
