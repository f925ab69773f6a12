"""How the harness arms a crash point, and how a process says that it has come there: by files."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

# The environment variable that names the folder of these files.
VARIABLE = "FAULTS_CONTROL"
PLAN = "plan.json"
WEB = "web"


@dataclass(frozen=True)
class Plan:
    """An armed point.

    Attributes:
        number: unique in a run.
        point: the name of the checkpoint.
        deed: "exit" or "child" (done by whoever comes there), or "pause" (until the harness says go).
        targets: the tasks that it is for, each with the smallest id it counts for; "web" for the web server.
    """

    number: str
    point: str
    deed: str
    targets: dict[str, int]

    def is_for(self, target: str) -> bool:
        """Whether a target such as "funding.tasks.send_deposit:17" is meant."""
        task, _, number = target.partition(":")
        return task in self.targets and int(number or 0) >= self.targets[task]


def read(folder: Path) -> Plan | None:
    """The armed plan; None when nothing is armed."""
    try:
        return Plan(**json.loads((folder / PLAN).read_bytes()))
    except FileNotFoundError:
        return None


def arm(folder: Path, plan: Plan) -> None:
    """Put a plan in the place of the one before, whole."""
    aside = folder / "plan.new"
    aside.write_text(json.dumps(asdict(plan)))
    aside.rename(folder / PLAN)


def disarm(folder: Path) -> None:
    (folder / PLAN).unlink(missing_ok=True)


def reached(folder: Path, plan: Plan, target: str) -> Path:
    """The file that says that a target has come to the point."""
    return folder / f"{plan.number}-{re.sub('[^A-Za-z0-9_.-]', '-', target)}.reached"


def how_many_reached(folder: Path, plan: Plan) -> int:
    return sum(1 for _ in folder.glob(f"{plan.number}-*.reached"))


def go_file(folder: Path, plan: Plan) -> Path:
    """The file that lets those go on that pause."""
    return folder / f"{plan.number}.go"
