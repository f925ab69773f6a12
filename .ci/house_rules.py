"""Rules of this house that no linter knows: short files, and no word about where packages come from."""

import re
import subprocess
import sys
from pathlib import Path

MOST_LINES = 400
# Written by people, hence to be kept short; locks, migrations and descriptions for machines are not.
SHORT = {".py", ".html", ".css", ".js", ".sh", ".md"}
# Spelled so that this file does not trip over itself.
REGISTRIES = re.compile(
    r"[p]ypi\.(org|python)|files\.[p]ythonhosted|[r]egistry\.npmjs|[c]onda\.anaconda|[u]npkg\.com"
)
FORBIDDEN_NAMES = {"uv.lock", "pylock.toml"}


def tracked_files() -> list[Path]:
    """What is, or is about to be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  (fixed words)
    return [path for path in map(Path, listed.stdout.splitlines()) if path.is_file()]


def complaints(path: Path) -> list[str]:
    """What is wrong with one file."""
    if path.name in FORBIDDEN_NAMES:
        return [f"{path}: this kind of lock names hosts; requirements/*.txt is ours"]
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return []
    found = [
        f"{path}:{number}: names a package registry"
        for number, line in enumerate(lines, 1)
        if REGISTRIES.search(line)
    ]
    if path.suffix in SHORT and "migrations" not in path.parts and len(lines) > MOST_LINES:
        found.append(f"{path}: {len(lines)} lines; more than {MOST_LINES} should be split by subject")
    return found


def main() -> int:
    """Print all complaints. Returns 1 when there are any."""
    found = [words for path in tracked_files() for words in complaints(path)]
    for words in found:
        print(words)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
