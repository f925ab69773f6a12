"""The one seam where crash tests hook into the road. In production nothing hangs here."""

from collections.abc import Callable

hooks: list[Callable[[str], None]] = []


def checkpoint(name: str) -> None:
    """Say that the road has reached a named point, such as "after-send"."""
    for hook in hooks:
        hook(name)
