"""An Endl of our own, for development, training and tests. It shares no line with the client."""

from .command import main
from .emulator import Emulator

__all__ = ["Emulator", "main"]
