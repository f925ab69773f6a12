"""Bells go to the right queue, over any broker, and carry nothing but JSON."""

from pathlib import Path

import pytest
from pytest_django import Settings

from backoffice import celery


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("funding.tasks.send_deposit", "money"),
        ("cards.tasks.send_card_order", "money"),
        ("cards.tasks.sweep", "money"),
        ("backoffice.delivery.tasks.probe", "money"),
        ("cards.tasks.sync_all", "sync"),
        ("funding.tasks.follow_due", "sync"),
        ("cards.tasks.destroy_due_details", "sync"),
        ("funding.tasks.handle_waiting_events", "webhook"),
    ],
)
def test_a_task_is_routed_by_its_name(task: str, queue: str) -> None:
    assert celery.queue_of(task, [], {}, {}) == {"queue": queue}


def test_nothing_but_json_is_spoken_and_results_are_not_kept() -> None:
    conf = celery.app.conf
    assert (conf.task_serializer, conf.accept_content) == ("json", ["json"])
    assert conf.task_ignore_result
    assert not conf.task_publish_retry


def test_a_task_is_acknowledged_late_and_given_back_when_its_worker_dies() -> None:
    conf = celery.app.conf
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost) == (True, True)
    assert conf.worker_prefetch_multiplier == 1


def test_a_worker_waits_longer_for_its_tasks_than_a_call_may_take(settings: Settings) -> None:
    assert celery.app.conf.worker_soft_shutdown_timeout > settings.ENDL_CALL_SECONDS


@pytest.mark.parametrize("url", ["redis://h/0", "rediss://h/0"])
def test_redis_gives_a_message_back_only_after_any_lease_has_ended(url: str, settings: Settings) -> None:
    assert celery.transport_options(url)["visibility_timeout"] > settings.DELIVERY_LEASE_SECONDS


@pytest.mark.parametrize("url", ["amqp://h", "amqps://h"])
def test_rabbitmq_confirms_what_it_took(url: str) -> None:
    assert celery.transport_options(url)["confirm_publish"]


def test_the_embedded_broker_lives_where_its_url_says(settings: Settings, tmp_path: Path) -> None:
    assert celery.broker_folder(f"embedded://{tmp_path}") == tmp_path
    assert celery.broker_folder("embedded://") == settings.VAR_DIR / "broker"


def test_what_the_schedule_rings_expires_before_a_pile_can_grow() -> None:
    for line in celery.schedule().values():
        assert line["options"]["expires"] <= max(line["schedule"].total_seconds(), 5)
