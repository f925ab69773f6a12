"""`make mutants`: plant each fault in a copy of the tree, and see that what must notice it does."""

import argparse
import os
import queue
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.faults.mutations import ALL, SIMULATOR, Mutation

ROOT = Path(__file__).resolve().parent.parent.parent
AT_ONCE = 2
LONGEST_SECONDS = 300
# Tables are made from the models: migrations would cost more than the tests.
_QUIET = ("-x", "-q", "--nomigrations", "-p", "no:randomly", "-p", "no:cacheprovider")
_TESTS_FAILED = 1


@dataclass(frozen=True)
class Verdict:
    """What became of a mutation."""

    mutation: Mutation
    is_killed: bool
    why: str
    seconds: float


def main() -> int:
    """Say of each mutation whether it was killed. Returns 0 when all were."""
    parser = argparse.ArgumentParser(prog="make mutants", description="Do the tests notice?")
    parser.add_argument("--only", default="", help="only mutations whose name holds these words")
    chosen = [mutation for mutation in ALL if parser.parse_args().only in mutation.name]
    with tempfile.TemporaryDirectory(prefix="office-mutants-") as folder:
        trees = [_copy(Path(folder) / str(number)) for number in range(AT_ONCE)]
        _say("What must notice, without any fault:")
        unsound = _unsound(trees[0], chosen)
        killed = _play(trees, [mutation for mutation in chosen if mutation.notices not in unsound])
    _say(f"killed {killed} of {len(chosen)}")
    return 0 if killed == len(chosen) else 1


def _play(trees: Sequence[Path], chosen: Sequence[Mutation]) -> int:
    """Try all mutations, a few at once; each tree holds one at a time."""
    free: queue.Queue[Path] = queue.Queue()
    for tree in trees:
        free.put(tree)

    def one(mutation: Mutation) -> Verdict:
        tree = free.get()
        try:
            return _try(tree, mutation)
        finally:
            free.put(tree)

    killed = 0
    with ThreadPoolExecutor(len(trees)) as pool:
        for verdict in pool.map(one, chosen):
            killed += verdict.is_killed
            word = "killed  " if verdict.is_killed else "SURVIVED"
            _say(f"{word} {verdict.mutation.name} ({verdict.why}, {verdict.seconds:.0f} s)")
    return killed


def _try(tree: Path, mutation: Mutation) -> Verdict:
    began = time.monotonic()
    before: dict[Path, str] = {}
    try:
        for file, old, new in mutation.edits:
            path = tree / file
            text = path.read_text()
            before.setdefault(path, text)
            if old not in text:
                return Verdict(
                    mutation, is_killed=False, why=f"{file} does not read so any more", seconds=0.0
                )
            path.write_text(text.replace(old, new))
        code = _notice(tree, mutation.notices)
    finally:
        for path, text in before.items():
            path.write_text(text)
    seconds = time.monotonic() - began
    why = mutation.notices if code == _TESTS_FAILED else f"{mutation.notices} ended with {code}"
    return Verdict(mutation, is_killed=code == _TESTS_FAILED, why=why, seconds=seconds)


def _notice(tree: Path, notices: str) -> int:
    """Run what must notice in a tree. Returns its exit code: 1 when tests failed."""
    if notices == SIMULATOR:
        command = ["-m", "tests.faults.simulator", "--histories", "5000"]
    else:
        command = ["-m", "pytest", *_QUIET, *shlex.split(notices)]
    return _run(tree, command)


def _unsound(tree: Path, chosen: Sequence[Mutation]) -> set[str]:
    """Run everything once without a fault. Returns what fails anyway: it notices nothing."""
    selections = list(dict.fromkeys(mutation.notices for mutation in chosen))
    unsound: set[str] = set()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        codes = pool.map(partial(_notice, tree), selections)
        for selection, code in zip(selections, codes, strict=True):
            _say(f"{'FAILS  ' if code else 'passes '} {selection}")
            unsound |= {selection} if code else set()
    return unsound


def _run(tree: Path, command: Sequence[str]) -> int:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TZ")}
    environ = {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    try:
        return subprocess.run(
            [sys.executable, *command], cwd=tree, env=environ, check=False, timeout=LONGEST_SECONDS,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1


def _copy(tree: Path) -> Path:
    """The tree as it stands here, without what git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    return tree


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
