"""One scan: play everything, collect every store, search, and say what was found."""

import logging.config
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.leaks.canaries import ENCODINGS
from tests.leaks.office import ROOT, Office

if TYPE_CHECKING:
    # Django is set up after this module is loaded.
    from tests.leaks.flows import Flows
    from tests.leaks.search import Hit, Search
    from tests.leaks.stores import Store


@dataclass(frozen=True)
class Size:
    """How much is played."""

    orders: int
    looks: int
    pages: int
    has_browser: bool
    has_artefacts: bool


FULL = Size(orders=190, looks=40, pages=60, has_browser=True, has_artefacts=True)
SHORT = Size(orders=44, looks=4, pages=12, has_browser=False, has_artefacts=False)


def say(line: str) -> None:
    """A line of the report, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(size: Size, *, self_test: bool) -> int:
    """Scan. Returns 0 when nothing was found and, in a self-test, everything that was planted; else 1."""
    folder = Path(tempfile.mkdtemp(prefix="office-leaks-")) / "office"
    try:
        return _run(folder, size, self_test=self_test)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _run(folder: Path, size: Size, *, self_test: bool) -> int:
    started = time.monotonic()
    url, broker = _given("postgres", "TEST_DATABASE_URL"), _given("redis", "TEST_BROKER_URL")
    office = Office(folder, _of_our_own(url), broker)
    os.environ.update(office.variables)
    artefacts = _artefacts(folder) if size.has_artefacts else None
    with _database(url), _processes(office):
        result = _scan(office, size, self_test=self_test, artefacts=artefacts)
    say(f"took {time.monotonic() - started:.0f} s")
    return result


def _given(kind: str, name: str) -> str:
    value = os.environ.get(name, "")
    return value if value.startswith(kind) else ""


def _scan(office: Office, size: Size, *, self_test: bool, artefacts: "subprocess.Popen[bytes] | None") -> int:
    # Django is set up by now; these read it when they are imported.
    from tests.leaks.flows import Flows
    from tests.leaks.search import Search
    from tests.leaks.stores import every_store

    pages, profile = office.folder / "pages", office.folder / "browser"
    flows = Flows(office, orders=size.orders, pages=pages)
    _play(office, flows, size, profile)
    if artefacts is not None:
        artefacts.wait()
    evidence = office.folder.with_name(office.folder.name + "-evidence")
    stores = every_store(office, pages, profile if size.has_browser else None)
    needles = office.apart / "needles"
    search = Search(flows.every_canary(), _private_lines(office), needles)
    hits = [each for store in stores for each in _look_into(store, search, evidence)]
    for what, count in flows.story.told.items():
        say(f"played: {what}: {count}")
    is_well = not hits and _did_enough(flows.story.told, size)
    if self_test:
        is_well = _finds_what_is_planted(stores, Search([flows.canary()], [], needles), evidence) and is_well
    say(f"encodings {len(ENCODINGS)}: {', '.join(ENCODINGS)}")
    say(f"stores {len(stores)}, canaries {len(search.canaries)}, hits {len(hits)}")
    return 0 if is_well else 1


def _look_into(store: "Store", search: "Search", evidence: Path) -> "list[Hit]":
    """Collect a store and search it; a line of the report says what was found."""
    from tests.leaks.search import any_test_number

    into = evidence / re.sub(r"[^a-z]+", "-", store.name.lower())
    into.mkdir(parents=True, exist_ok=True)
    paths = list(store.collect(into))
    found = any_test_number(paths) if store.any_number else search.files(paths)
    say(_line(store.name, paths, [hit.encoding for hit in found]))
    for hit in found[:5]:
        say(f"    …{hit.last4} {hit.encoding}: {hit.file}")
    return found


def _finds_what_is_planted(stores: "list[Store]", search: "Search", evidence: Path) -> bool:
    """Write a number into every store on purpose, and look for it."""
    say("Self-test: a number is written into every store on purpose.")
    blind = []
    for store in stores:
        store.plant(search.canaries[0])
        if not _look_into(store, search, evidence):
            blind.append(store.name)
    say(f"planted in {len(stores)}, not found {len(blind)}{': ' if blind else ''}{', '.join(blind)}")
    return not blind


def _play(office: Office, flows: "Flows", size: Size, profile: Path) -> None:
    """Everything that card data goes through."""
    from tests.leaks.browse import reveal_in_a_browser
    from tests.leaks.clerk import Clerk
    from tests.leaks.flows import PEOPLE

    flows.hire()
    flows.open_books()
    flows.spoil_answers()
    flows.ask_for_cards()
    if office.broker.exists():
        shutil.copytree(
            office.broker, office.folder / "broker-waiting", ignore=shutil.ignore_patterns("*.lock")
        )
    office.start_worker()
    flows.wait_for_cards(120)
    flows.mistaken_lists()
    flows.mistaken_events()
    flows.break_the_worker()
    flows.open_masks(size.looks)
    flows.look(size.looks)
    flows.look_into_holes()
    flows.careless_people()
    flows.destroy()
    flows.spool()
    if size.has_browser:
        cards = [card.pk for card in flows.cards_to_show(3)]
        flows.story.add("cards revealed in a browser", reveal_in_a_browser(office.url, cards, profile))
    for name in PEOPLE:
        clerk: Clerk = flows.clerk(name)
        for address in flows.odd_pages():
            clerk.get(address)
        flows.story.add("pages opened", clerk.crawl(size.pages))


def _did_enough(told: dict[str, int], size: Size) -> bool:
    """Whether what was played could have leaked: a scan of an office that did nothing proves nothing."""
    wanted = {
        "envelopes received": size.orders // 2, "cards revealed": size.looks * 3 // 4,
        "masks opened": size.looks * 3 // 4, "looks that broke": 8, "pages opened": 30,
        "mistaken objects": 1, "events that broke": 2, "spooled answers": 1, "details destroyed": 1,
        **({"cards revealed in a browser": 2} if size.has_browser else {}),
    }  # fmt: skip
    short = {what: (told.get(what, 0), count) for what, count in wanted.items() if told.get(what, 0) < count}
    for what, (was, count) in short.items():
        say(f"too little was played: {what}: {was} of {count}")
    return not short


def _line(name: str, paths: list[Path], found: list[str]) -> str:
    size = sum(path.stat().st_size for each in paths for path in _flat(each))
    kinds = ", ".join(f"{count} {encoding}" for encoding, count in Counter(found).items())
    mark, more = "HIT " if found else "ok  ", f" ({kinds})" if kinds else ""
    return f"{mark}{name}: {size / 1024:.0f} KB, {len(found)} hits{more}"


def _flat(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file())
    elif path.exists():
        yield path


def _private_lines(office: Office) -> list[bytes]:
    """The inner lines of the private key: none of them may be anywhere either."""
    return office.private_key.read_bytes().splitlines()[2:-2]


def _artefacts(folder: Path) -> "subprocess.Popen[bytes]":
    """A run of tests that handle card data, with everything that pytest leaves behind in one folder."""
    into = folder.with_name(folder.name + "-pytest")
    into.mkdir(parents=True)
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    command = [
        sys.executable, "-m", "pytest", "-q", "tests/cards/test_reveal.py",
        "tests/backoffice/endl/test_envelope.py",
        f"--basetemp={into}/tmp", "-o", f"cache_dir={into}/cache", f"--junitxml={into}/junit.xml", "-rA",
        "-o", "junit_logging=all", "--log-level=DEBUG",
    ]  # fmt: skip
    with (into / "output").open("wb") as output:
        return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT)


@contextmanager
def _processes(office: Office) -> Iterator[None]:
    try:
        office.start()
        yield
    finally:
        office.stop()


@contextmanager
def _database(url: str) -> Iterator[None]:
    """Tables for the run; on PostgreSQL in a database of its own, which goes afterwards."""
    if url:
        _on_server(url, f"CREATE DATABASE office_leaks_{os.getpid()}")
    _set_up()
    try:
        yield
    finally:
        from django.db import connections

        connections.close_all()
        if url:
            _on_server(url, f"DROP DATABASE IF EXISTS office_leaks_{os.getpid()} WITH (FORCE)")


def _of_our_own(url: str) -> str:
    """The address of a database that only this run has; blank for the embedded one."""
    return f"{url.rpartition('/')[0]}/office_leaks_{os.getpid()}" if url else ""


def _on_server(url: str, statement: str) -> None:
    # By the database that every server has: the one that the address names need not be there.
    subprocess.run(["psql", f"{url.rpartition('/')[0]}/postgres", "-qc", statement], check=True)


def _set_up() -> None:
    import django
    from django.conf import settings
    from django.core.management import call_command

    # What the driver does in this process is the office's code too: it logs as the others do.
    log = Path(os.environ["LEAKS_FOLDER"]) / "log" / "driver.log"
    stream = log.open("a")
    django.setup()
    logging.config.dictConfig(settings.LOGGING)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(stream)
    call_command("migrate", verbosity=0)
    call_command("createcachetable")
