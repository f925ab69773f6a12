"""The embedded broker loses nothing to a reader that looks too early, and keeps to its folder."""

import multiprocessing
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection, Exchange, Queue

from backoffice import broker

broker.register()
MONEY = Queue("money", Exchange("money"), routing_key="money")


def connect(folder: Path) -> Any:
    return Connection("embedded://", transport_options=broker.options(folder))


def ring(folder: Path, count: int) -> None:
    with connect(folder) as line, line.Producer() as producer:
        for number in range(count):
            producer.publish(
                {"number": number}, exchange=MONEY.exchange, routing_key="money", declare=[MONEY], retry=False
            )


def take_all(folder: Path, wanted: int) -> list[Any]:
    taken: list[Any] = []
    with connect(folder) as line, line.channel() as channel:
        queue = MONEY(channel)
        queue.declare()
        while len(taken) < wanted:
            message = queue.get(no_ack=True)
            if message is not None:
                taken.append(message.payload)
    return taken


def test_what_is_rung_in_one_process_is_heard_in_another(tmp_path: Path) -> None:
    ring(tmp_path, 3)
    assert [message["number"] for message in take_all(tmp_path, 3)] == [0, 1, 2]


@pytest.mark.timeout(60)
def test_readers_never_see_half_a_message(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=ring, args=(tmp_path, 150)) for _ in range(2)]
    for writer in writers:
        writer.start()
    heard: list[Any] = []
    readers = [threading.Thread(target=lambda: heard.extend(take_all(tmp_path, 150))) for _ in range(2)]
    for reader in readers:
        reader.start()
    for writer in writers:
        writer.join()
    for reader in readers:
        reader.join()
    assert sorted(message["number"] for message in heard) == sorted([*range(150), *range(150)])


def test_a_message_that_is_no_text_is_dropped_and_the_next_one_heard(tmp_path: Path) -> None:
    ring(tmp_path, 1)
    (tmp_path / "messages" / "0_broken.money.msg").write_bytes(b"\xff\xfe")
    assert take_all(tmp_path, 1) == [{"number": 0}]


def test_folders_are_for_this_user_only(tmp_path: Path) -> None:
    ring(tmp_path / "broker", 1)
    for folder in ("messages", "control"):
        assert stat.S_IMODE((tmp_path / "broker" / folder).stat().st_mode) == 0o700


def test_nothing_is_left_of_a_message_that_was_heard(tmp_path: Path) -> None:
    ring(tmp_path, 2)
    take_all(tmp_path, 2)
    assert list((tmp_path / "messages").iterdir()) == []


def test_a_queue_that_is_deleted_takes_its_messages_and_its_binding_with_it(tmp_path: Path) -> None:
    ring(tmp_path, 2)
    with connect(tmp_path) as line, line.channel() as channel:
        MONEY(channel).declare()
        MONEY(channel).delete()
        assert channel.get_table("money") == []
    assert list((tmp_path / "messages").iterdir()) == []
