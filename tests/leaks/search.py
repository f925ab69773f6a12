"""Looking for canaries in files: by grep, which reads a hundred megabytes in a moment."""

import gzip
import os
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from backoffice.endl.text import passes_luhn
from tests.leaks.canaries import Canary

_GZIP = re.compile(rb"\x1f\x8b\x08")
_LARGEST = 64 * 1024 * 1024
# A code that stands under its own name is a leak even where its number is masked.
_NAMED_CODE = re.compile(rb"(?i)\b(?:cvv2?|cvc2?|security_?code)\b[\"'\\\s:=]{1,6}[\"']?([0-9]{3,4})\b")
_TEST_NUMBER = re.compile(rb"(?<![0-9])400000[0-9]{10}(?![0-9])")


@dataclass(frozen=True)
class Hit:
    """Something that should not be there: where, in which encoding, and the last four of its number."""

    file: str
    encoding: str
    last4: str


class Search:
    """All the canaries of a run, ready to be looked for."""

    def __init__(self, canaries: Iterable[Canary], secrets: Iterable[bytes], needles: Path) -> None:
        self.canaries = list(canaries)
        self.known: dict[bytes, tuple[str, str]] = {}
        for canary in self.canaries:
            for encoding, needle in canary.needles():
                self.known.setdefault(needle.lower(), (encoding, canary.number[-4:]))
        for secret in secrets:
            self.known[secret.lower()] = ("private key", "")
        self.codes = {canary.cvv.encode() for canary in self.canaries}
        self.needles = needles
        self.needles.write_bytes(b"\n".join(self.known) + b"\n")

    def files(self, paths: Iterable[Path]) -> list[Hit]:
        """Everything found in these files, compressed parts of them included."""
        every = [path for path in _every_file(paths) if not path.is_symlink() and _size_of(path)]
        return [*self._grepped(every), *(hit for path in every for hit in self._deeper(path))]

    def _grepped(self, paths: list[Path]) -> Iterator[Hit]:
        # NUL-separated names, and no more of them on one command line than the kernel takes.
        for start in range(0, len(paths), 500):
            yield from self._grep(paths[start : start + 500])

    def _grep(self, paths: list[Path]) -> Iterator[Hit]:
        command = [
            "grep",
            "--text",
            "--only-matching",
            "--ignore-case",
            "--fixed-strings",
            "--with-filename",
            "--null",
        ]
        done = subprocess.run(
            [*command, f"--file={self.needles}", "--", *map(str, paths)],
            capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        # A message that a worker took in the meantime is searched where the worker wrote of it.
        if done.returncode > 1 and not all(b"No such file" in line for line in done.stderr.splitlines()):
            raise RuntimeError(f"grep failed: {done.stderr.decode()[:300]}")
        for line in done.stdout.splitlines():
            name, _, found = line.partition(b"\0")
            yield Hit(name.decode(), *self.known.get(found.lower(), ("unknown", "")))

    def _deeper(self, path: Path) -> Iterator[Hit]:
        try:
            content = path.read_bytes()[:_LARGEST]
        except FileNotFoundError:
            return
        yield from self._codes(path, content)
        for unpacked in _unpacked(content):
            for needle, (encoding, last4) in self.known.items():
                if needle in unpacked.lower():
                    yield Hit(str(path), f"{encoding}, compressed", last4)

    def _codes(self, path: Path, content: bytes) -> Iterator[Hit]:
        for found in _NAMED_CODE.finditer(content):
            if found[1] in self.codes:
                yield Hit(str(path), "a code under its name", "")


def any_test_number(paths: Iterable[Path]) -> list[Hit]:
    """Numbers of the emulator's kind, whoever made them: for files of runs whose canaries nobody knows."""
    return [
        Hit(str(path), "plain", found[0][-4:].decode())
        for path in _every_file(paths)
        if path.stat().st_size <= _LARGEST
        for found in _TEST_NUMBER.finditer(path.read_bytes())
        if passes_luhn(found[0].decode())
    ]


def _unpacked(content: bytes) -> Iterator[bytes]:
    """What is compressed inside a file, such as an answer in a browser's cache."""
    for start in _GZIP.finditer(content):
        try:
            yield zlib.decompressobj(wbits=31).decompress(content[start.start() :], _LARGEST)
        except (zlib.error, gzip.BadGzipFile):
            continue


def _every_file(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from (each for each in sorted(path.rglob("*")) if each.is_file() and not each.is_symlink())


def _size_of(path: Path) -> int:
    """The size of a file; 0 for one that is gone by now."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
