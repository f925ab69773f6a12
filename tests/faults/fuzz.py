"""Rubbish at the door: a hundred thousand posts to the webhook's address, and no 500."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from tests.faults.browser import HOOK, Line, event, sign
from tests.faults.judge import Bad
from tests.faults.report import Outcome
from tests.faults.stage import Group, Stage

POSTS, QUICK_POSTS = 100_000, 2_000
CONNECTIONS = 8
_TAKEN = {202, 400, 401, 403, 405, 411, 413}
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature", "Content-Type")
_ODD = (
    "",
    "é",
    "\xff\xfe",
    "v1,",
    "v1,é",
    "v1," + "A" * 44,
    "NaN",
    "1e9",
    "-1",
    "9" * 30,
    "a" * 3000,
    "0x10",
    "v2,x v1,y",
)


def groups(quick: bool) -> list[Group]:
    """One cell."""
    posts = QUICK_POSTS if quick else POSTS
    name = f"fuzz {posts} posts to the webhook"
    return [Group((name,), partial(_fuzz, name, posts))]


def _fuzz(name: str, posts: int, stage: Stage) -> Iterator[Outcome]:
    statuses: Counter[int] = Counter()
    began = time.monotonic()
    threads = [
        threading.Thread(target=_post_rubbish, args=(stage, f"{name}:{n}", posts // CONNECTIONS, statuses))
        for n in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = sum(statuses.values()) / (time.monotonic() - began)
    bad = {status: count for status, count in statuses.items() if status not in _TAKEN}
    more = [Bad("misstated", f"The door broke: answers {bad}.")] if bad else []
    note = f"{rate:.0f} a second, statuses {dict(sorted(statuses.items()))}"
    outcome = stage.close(name, [], more=more, note=note)
    outcome.histories = sum(statuses.values())
    yield outcome


def _post_rubbish(stage: Stage, name: str, posts: int, statuses: Counter[int]) -> None:
    rng, line = stage.rng(name), Line(stage.office.web_port)
    for number in range(posts):
        raw, headers = _rubbish(rng, stage.office.webhook_key, f"{name[-1]}_{number}")
        said = line.ask("POST", HOOK, raw, headers)
        statuses[said.status] += 1


def _rubbish(rng: random.Random, key: bytes, identity: str) -> tuple[bytes, dict[str, str]]:
    """A post with something wrong in it; one in twelve is rightly signed, so that its body is looked at."""
    body = _body(rng, identity)
    headers = sign(key, f"evt_fuzz_{identity}", body)
    if rng.random() < 1 / 12:
        return body, headers
    for _ in range(rng.randint(1, 3)):
        _spoil(rng, headers)
    return body, headers


def _spoil(rng: random.Random, headers: dict[str, str]) -> None:
    name = rng.choice(_HEADERS)
    if rng.random() < 0.2:
        headers.pop(name, None)
    elif rng.random() < 0.5:
        headers[name] = rng.choice(_ODD)
    else:
        headers[name] = "".join(chr(rng.randint(0x20, 0xFF)) for _ in range(rng.randint(0, 80))).strip()


def _body(rng: random.Random, identity: str) -> bytes:
    good = event(
        f"evt_fuzz_{identity}", rng.choice(("card_deposit.completed", "x.y", "")), depositId="cdp_nowhere"
    )
    match rng.randint(0, 7):
        case 0:
            return good
        case 1:
            return good[: rng.randint(0, len(good))]
        case 2:
            return rng.randbytes(rng.randint(0, 200))
        case 3:
            return b"[" * rng.randint(1, 5000)
        case 4:
            return (
                b'{"id": '
                + rng.choice((b"1e999999", b"NaN", b"null", b'"\\ud800"', b'"\\u0000"', b"[]"))
                + b"}"
            )
        case 5:
            return (
                b'{"data": '
                + rng.choice((b"1", b'"x"', b"[[]]", b'{"depositId": {}}', b'{"customerId": "\\u0000"}'))
                + b"}"
            )
        case 6:
            place = rng.randrange(len(good))
            return good[:place] + rng.randbytes(1) + good[place + 1 :]
        case _:
            return b"x" * rng.choice((65_535, 65_536, 65_537, 70_000)) if rng.random() < 0.02 else b"{}"
