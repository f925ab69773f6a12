"""What the home page says of money."""

from backoffice.access.models import User
from backoffice.pages.parts import Panel


def panels(person: User) -> list[Panel]:
    """The panels of this application, for this person."""
    return []
