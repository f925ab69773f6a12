"""The short form of `make leaks`: fewer cards and no browser, in every run of the suite."""

import base64
import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.leaks.canaries import ENCODINGS, Canary, a_canary
from tests.leaks.search import Search, any_test_number

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 280
# The short form looks at the embedded office; `make leaks` looks at whichever the environment names.
EMBEDDED = {name: value for name, value in os.environ.items() if not name.startswith("TEST_")}

GROUPED = "4000 0012 3456 7899"
NUMBER = GROUPED.replace(" ", "")
# In the middle of other text, as it would stand in a file.
LEAKS: dict[str, Callable[[str], str]] = {
    "plain": lambda number: f"card {number}, sold",
    "spaces": lambda number: f"card {GROUPED}, sold",
    "dashes": lambda number: f"card {GROUPED.replace(' ', '-')}, sold",
    "reversed": lambda number: f"card {number[::-1]}, sold",
    "base64": lambda number: base64.b64encode(f'{{"a": "é", "number": "{number}"}}'.encode()).decode(),
    "base64url": lambda number: base64.urlsafe_b64encode(f"?? {GROUPED} ??".encode()).decode(),
    "hex": lambda number: f"X'7b{number.encode().hex().upper()}7d'",
    "URL-encoded": lambda number: f"?q={quote(GROUPED)}&r=1",
}


@pytest.fixture
def search(tmp_path: Path) -> Search:
    return Search([Canary(NUMBER, "9371")], [b"MIIEpAIBAAKCAQEA"], tmp_path / "needles")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_number_is_found_in_every_encoding(encoding: str, search: Search, file: Path) -> None:
    file.write_text(f"some line\n{LEAKS[encoding](NUMBER)}\n\0binary\0")
    assert {hit.encoding for hit in search.files([file])} >= {encoding}


@pytest.mark.parametrize("offset", range(3))
def test_base64_is_found_wherever_the_number_stands(offset: int, search: Search, file: Path) -> None:
    file.write_bytes(base64.b64encode(b"x" * offset + NUMBER.encode() + b"yz"))
    assert search.files([file])


def test_what_is_compressed_is_opened(search: Search, file: Path) -> None:
    file.write_bytes(b"head of a cache entry" + gzip.compress(f"number {NUMBER}".encode()))
    [hit] = search.files([file])
    assert hit.encoding == "plain, compressed"


def test_a_code_counts_only_beside_its_number_or_its_name(search: Search, file: Path) -> None:
    file.write_text('{"cvv": "9371"}')
    assert [hit.encoding for hit in search.files([file])] == ["a code under its name"]
    file.write_text("9371 orders, amount 9371")
    assert search.files([file]) == []


def test_a_line_of_a_private_key_is_found(search: Search, file: Path) -> None:
    file.write_text("-----BEGIN\nMIIEpAIBAAKCAQEA\n")
    assert [hit.encoding for hit in search.files([file])] == ["private key"]


def test_masked_numbers_and_others_are_not(search: Search, file: Path) -> None:
    file.write_text(f"************{NUMBER[-4:]} 4000001234567890 {NUMBER[:-1]}")
    assert search.files([file]) == []


def test_any_number_of_the_emulators_kind_is_found_by_its_check_digit(file: Path) -> None:
    canary = a_canary()
    file.write_text(f"x{canary.number}x")
    assert len(any_test_number([file])) == 1
    file.write_text("4000000000000000")
    assert any_test_number([file]) == []


def scanned(*words: str) -> str:
    """What a scan says, if it is content; the test fails with all of it if it is not."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.leaks", "--short", *words],
        cwd=ROOT, env=EMBEDDED, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.worker
@pytest.mark.timeout(SECONDS + 20)
def test_card_data_is_in_no_store_and_would_be_found_in_each() -> None:
    said = scanned("--self-test")
    assert ", not found 0\n" in said
    assert ", hits 0\n" in said
