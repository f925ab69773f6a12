"""What the sample activity is made with: the people, the emulator's sample world, a clock that is passed in.

Each application makes its own part (see SAMPLES in the settings), through its operations and the road.
"""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings

from backoffice.access.models import User
from backoffice.endl import Answer, Call, Client

PASSWORD = "practice"  # noqa: S105  (everybody may know it: it opens a practice office on this machine)


class NotPractice(Exception):
    """Samples are for a practice office on this machine; the text says what is missing."""


def check_practice() -> None:
    """Refuse outside practice mode, or where Endl is not on this machine. Raises NotPractice."""
    host = urlsplit(settings.ENDL_BASE_URL).hostname or ""
    if not settings.PRACTICE:
        raise NotPractice("Samples are for practice only: set PRACTICE=1.")
    if host not in {"localhost", "::1"} and not host.startswith("127."):
        raise NotPractice("Samples are for practice only: ENDL_BASE_URL must be on loopback.")


class Remembered:
    """Answers with what Endl said at the time, so that the past takes the same road as the present."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self._answer = Answer(201, json.dumps(payload).encode(), {"content-type": "application/json"})

    def send(self, call: Call, *, key: str) -> Answer:
        """Answer as Endl did, whatever is sent."""
        return self._answer

    @classmethod
    def line(cls, payload: dict[str, Any]) -> Client:
        """A line to Endl that remembers one answer."""
        return cast(Client, cls(payload))


@dataclass(frozen=True)
class Sample:
    """Who acts in the samples, on which world, and as of when."""

    people: dict[str, User]
    world: dict[str, Any]
    endl: Client
    now: datetime

    def by(self, username: str) -> User:
        """One of the sample people."""
        return self.people[username]

    def ago(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> datetime:
        """A moment before now."""
        return self.now - timedelta(days=days, hours=hours, minutes=minutes)

    def seed(self, **kinds: list[dict[str, Any]]) -> None:
        """Change things in the emulator's world, such as the age of a card."""
        ask_emulator("seed", kinds)

    def plan_fault(self, operation: str, **fault: Any) -> None:
        """Let something go wrong at the next call of an operation."""
        ask_emulator("faults", {"operation": operation, **fault})


def make_world(*, endl: Client, now: datetime) -> Sample:
    """Ask the emulator for its sample world; a world that is there stays as of its own time.

    Raises: NotPractice where Endl is not our emulator, or the sample people are missing.
    """
    people = {person.username: person for person in User.objects.filter(is_active=True)}
    if missing := {"maker", "checker", "checker2", "compliance", "manager"} - set(people):
        raise NotPractice(f"Run create_sample_people first: {', '.join(sorted(missing))} missing.")
    world = ask_emulator("sample", {"now": now.isoformat()})
    return Sample(people=people, world=world, endl=endl, now=datetime.fromisoformat(world["now"]))


def ask_emulator(deed: str, what: dict[str, Any]) -> Any:
    """Call the emulator's control API. Raises NotPractice when that is not what answers."""
    request = urllib.request.Request(  # noqa: S310  (loopback only, see check_practice)
        f"{settings.ENDL_BASE_URL}/_control/{deed}",
        json.dumps(what).encode(),
        {"Content-Type": "application/json"},
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=20) as answer:
            return json.load(answer)
    except (OSError, ValueError) as problem:
        raise NotPractice(f"Our emulator does not answer at {settings.ENDL_BASE_URL}: {problem}.") from None
