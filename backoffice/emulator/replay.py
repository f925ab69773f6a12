"""What a repeated Idempotency-Key brings back."""

from __future__ import annotations

from backoffice.emulator.errors import uncoded
from backoffice.emulator.wire import Answer, Call
from backoffice.emulator.world import World


def earlier(world: World, call: Call) -> Answer | None:
    """The first result for these very bytes; raises a refusal when the key came with other bytes."""
    if call.key is None or is_ignored(world, call):
        return None
    found = world.rows(
        "SELECT body_sha256, status, body FROM results"
        " WHERE api_key = ? AND operation = ? AND customer = ? AND key = ?",
        *_scope(call),
    )
    if not found:
        return None
    if found[0]["body_sha256"] != _fingerprint(call):
        raise uncoded(409, "The Idempotency-Key was used before with a different body")
    headers = {"Content-Type": "application/json"}
    return Answer(found[0]["status"], found[0]["body"], headers)


def is_ignored(world: World, call: Call) -> bool:
    """Whether the switches say that this operation takes no notice of keys."""
    if call.operation == "register_cardholder":
        return world.switches.registration_keys == "ignore"
    return call.operation == "issue_card" and world.switches.card_keys == "ignore"


def remember(world: World, call: Call, answer: Answer) -> None:
    """Keep a success under its key. Refusals are never kept: the same key may succeed later."""
    if call.key is not None and not is_ignored(world, call):
        world.run(
            "INSERT INTO results (api_key, operation, customer, key, body_sha256, status, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *_scope(call),
            _fingerprint(call),
            answer.status,
            answer.body,
        )


def _scope(call: Call) -> tuple[str, str, str, str | None]:
    return call.headers.get("api-key", ""), call.operation, call.customer, call.key


def _fingerprint(call: Call) -> str:
    # The cardholder stands in the path, not in the body: another one is another request too.
    return f"{call.params.get('cardholderId', '')}:{call.digest}"
