"""The short form of `make leaks`: fewer cards and no browser, in every run of the suite."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 280

pytestmark = [pytest.mark.worker, pytest.mark.timeout(SECONDS + 20)]


def scanned(*words: str) -> str:
    """What a scan says, if it is content; the test fails with all of it if it is not."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.leaks", "--short", *words],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_card_data_is_in_no_store() -> None:
    said = scanned()
    assert ", hits 0" in said


def test_a_number_in_any_store_would_be_found() -> None:
    said = scanned("--self-test")
    assert ", not found 0" in said
