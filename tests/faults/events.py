"""Webhooks in every order, twice, early and contradicting: the same final state each time."""

import itertools
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from backoffice.audit.models import Entry
from funding.models import WebhookEvent
from tests.faults.browser import HOOK, Line, Said, event, sign
from tests.faults.desk import OPERATIONS, History, Place, patiently
from tests.faults.ground import until
from tests.faults.judge import Bad, Ledger
from tests.faults.report import Outcome
from tests.faults.stage import Group, Stage

MULTISETS, QUICK_MULTISETS = 200, 12
_DONE, _FAILED = "card_deposit.completed", "card_deposit.failed"
# A burst is as fast as eight lines can post; what Endl sends at once is never more.
_LINES = 8


def groups(quick: bool) -> list[Group]:
    """All orders of five events; random multisets; events that come before the answer."""
    orders = 10 if quick else 120
    return [
        Group((f"events in {orders} orders",), partial(_orders, orders)),
        Group(("events in random multisets",), partial(_multisets, QUICK_MULTISETS if quick else MULTISETS)),
        Group(("events before the answer",), partial(_early, 3 if quick else 20)),
    ]


Delivery = tuple[str, bytes]


def _deliveries(deposit: dict[str, Any], end: str) -> list[Delivery]:
    """Five about one deposit: the truth twice, a lie, an old word, and another body under one id."""
    own = deposit["depositId"]
    true, false = (_DONE, _FAILED) if end == "completed" else (_FAILED, _DONE)
    told = {**deposit, "status": end}
    return [
        (f"evt_{own}_1", event(f"evt_{own}_1", true, **told)),
        (f"evt_{own}_1", event(f"evt_{own}_1", true, **told)),
        (f"evt_{own}_2", event(f"evt_{own}_2", false, **{**deposit, "status": false.rpartition(".")[2]})),
        (f"evt_{own}_3", event(f"evt_{own}_3", "card_deposit.pending", **{**deposit, "status": "pending"})),
        (f"evt_{own}_1", event(f"evt_{own}_1", false, **deposit)),
    ]


def _orders(how_many: int, stage: Stage) -> Iterator[Outcome]:
    rng = stage.rng("orders")
    orders = list(itertools.permutations(range(5)))
    chosen = orders if how_many >= len(orders) else rng.sample(orders, how_many)
    yield from _play(stage, f"events in {how_many} orders", [list(order) for order in chosen], rng)


def _multisets(how_many: int, stage: Stage) -> Iterator[Outcome]:
    rng = stage.rng("multisets")
    chosen = [rng.choices(range(5), k=rng.randint(1, 9)) for _ in range(how_many)]
    yield from _play(stage, "events in random multisets", chosen, rng)


def _play(stage: Stage, name: str, sequences: list[list[int]], rng: random.Random) -> Iterator[Outcome]:
    """Deposits that wait at Endl; each ends, and its events come in the order of its sequence."""
    stage.office.endl("settings", webhook_url=None, settle_seconds=3600)
    try:
        histories = _submitted(stage, len(sequences))
        ends = [rng.choice(("completed", "failed")) for _ in sequences]
        with ThreadPoolExecutor(_LINES) as pool:
            work = zip(histories, sequences, ends, strict=True)
            said = [each for answers in pool.map(partial(_tell, stage), work) for each in answers]
        since = time.monotonic()
        recovery = stage.settle(histories, since=since)
        # Whatever comes after the end is handled too, and changes nothing.
        until(lambda: patiently(_none_waits), 60, every=0.5)
    finally:
        _switch_back(stage)
    more = [*_bad_answers(said), *_ended_otherwise(histories, ends), *_moved_twice(histories)]
    yield stage.close(name, histories, recovery=recovery, more=more, note=f"{len(said)} deliveries")


def _switch_back(stage: Stage) -> None:
    hook = f"http://127.0.0.1:{stage.office.web_port}{HOOK}"
    stage.office.endl("settings", webhook_url=hook, settle_seconds=0.3)


def _submitted(stage: Stage, how_many: int) -> list[History]:
    place: Place = stage.desk.place()
    histories = [stage.desk.wish("deposit", place) for _ in range(how_many)]
    stage.desk.ring(*histories)
    until(lambda: all(history.row.deposit_id for history in histories), 90, every=0.5)
    return histories


def _tell(stage: Stage, work: tuple[History, list[int], str]) -> list[Said]:
    history, sequence, end = work
    own = history.row.deposit.endl_id
    deposit = stage.office.endl(f"things/deposits/{own}")
    stage.office.endl(f"deposits/{own}/settle", status=end)
    deliveries = _deliveries(deposit, end)
    line = Line(stage.office.web_port)
    return [_post(stage, line, *deliveries[number]) for number in sequence]


def _post(stage: Stage, line: Line, event_id: str, raw: bytes) -> Said:
    return line.ask("POST", HOOK, raw, sign(stage.office.webhook_key, event_id, raw))


def _none_waits() -> bool:
    return not WebhookEvent.objects.filter(state=WebhookEvent.State.RECEIVED).exists()


def _bad_answers(said: list[Said]) -> list[Bad]:
    wrong = [answer.status for answer in said if answer.status != 202]
    return [Bad("misstated", f"{len(wrong)} events were not taken: {sorted(set(wrong))}.")] if wrong else []


def _ended_otherwise(histories: list[History], ends: list[str]) -> Iterator[Bad]:
    for history, end in zip(histories, ends, strict=True):
        if history.row.state != end:
            yield Bad(
                "misstated", f"Deposit request {history.pk} is {history.row.state}; Endl's end is {end}."
            )


def _moved_twice(histories: list[History]) -> Iterator[Bad]:
    for history in histories:
        ends = Entry.objects.filter(
            object_type="funding.depositrequest", object_id=str(history.pk),
            verb__in=("deposit.completed", "deposit.failed"),
        ).count()  # fmt: skip
        if ends != 1:
            yield Bad("misstated", f"Deposit request {history.pk} ended {ends} times in the trail.")


def _early(how_many: int, stage: Stage) -> Iterator[Outcome]:
    """Endl settles and tells while its answer to the request itself is still on the way."""
    place = stage.desk.place()
    customer = place.customer.endl_id
    stage.office.endl(
        "faults", operation=OPERATIONS["deposit"], customer=customer, kind="hang", when="after", seconds=1.2,
        times=how_many,
    )  # fmt: skip
    histories = [stage.desk.wish("deposit", place) for _ in range(how_many)]
    stage.desk.ring(*histories)
    keys = {history.row.idempotency_key for history in histories}
    until(lambda: keys <= set(Ledger(stage.office).by_key), 60, every=0.3)
    recovery = stage.settle(histories, since=time.monotonic())
    yield stage.close("events before the answer", histories, recovery=recovery, more=_moved_twice(histories))
