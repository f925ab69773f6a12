"""The control API under /_control: it steers the emulator and tells what really happened."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl

from backoffice.emulator import (
    cards,
    clock,
    deposits,
    events,
    faults,
    ledger,
    page,
    sample,
    seeds,
    settling,
    traffic,
    withdrawals,
)
from backoffice.emulator.envelopes import key_id, read_public_key
from backoffice.emulator.wire import Answer, Doc, html_answer, json_answer
from backoffice.emulator.world import KINDS, World

Deed = Callable[[World, Doc], Any]


class Missing(LookupError):
    """There is no such thing, or it is not pending."""


def answer(world: World, method: str, path: str, body: bytes, *, form: bool = False) -> Answer:
    """Do what a control call asks. A form of the control page is sent back to that page."""
    if method == "GET" and path.rstrip("/") == "/_control":
        return html_answer(200, page.control_page(state(world), traffic.seen(world, 20), deliveries(world)))
    found = _deed(method, path)
    if found is None:
        return json_answer(404, {"message": "no such control"})
    deed, identity = found
    try:
        given = _form(body) if form else _object(body)
        outcome = deed(world, {**given, "_id": identity} if identity else given)
    except Missing as missing:
        return json_answer(404, {"message": str(missing)})
    except (ValueError, TypeError, KeyError) as wrong:
        return json_answer(400, {"message": str(wrong)})
    return Answer(303, headers={"Location": "/_control/"}) if form else json_answer(200, outcome)


def _deed(method: str, path: str) -> tuple[Deed, str | None] | None:
    name = path.removeprefix("/_control/").rstrip("/")
    if (method, name) in _PLAIN:
        return _PLAIN[method, name], None
    for asked, pattern, deed in _WITH_ID:
        found = re.fullmatch(pattern, name)
        if found and asked == method:
            return deed, found[1]
    return None


def _object(body: bytes) -> Doc:
    given = json.loads(body) if body.strip() else {}
    if not isinstance(given, dict):
        raise TypeError("a JSON object is needed")
    return given


def _form(body: bytes) -> Doc:
    """A form's fields: "json" holds a whole object, any other one JSON value or plain text."""
    fields = dict(parse_qsl(body.decode(), keep_blank_values=True))
    if "json" in fields:
        return _object(fields["json"].encode())
    return {name: _value(text) for name, text in fields.items()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def state(world: World) -> Doc:
    """Settings, faults, the registered key's id, and how much of everything there is."""
    counted = world.rows("SELECT kind, COUNT(*) AS count FROM things GROUP BY kind")
    counts = dict.fromkeys(KINDS, 0) | {row["kind"]: row["count"] for row in counted}
    pem = world.fact("partner_key")
    return {
        "settings": asdict(world.switches),
        "faults": faults.planned(world),
        "counts": counts,
        "keyId": key_id(read_public_key(pem)) if pem else None,
        "pendingDeposits": world.rows("SELECT COUNT(*) AS count FROM settlements")[0]["count"],
    }


def deliveries(world: World) -> list[Doc]:
    """The webhook deliveries, newest first, without their bodies."""
    found = world.rows(
        "SELECT seq, event, type, state, attempts, last, due FROM deliveries ORDER BY seq DESC LIMIT 200"
    )
    return [dict(row) for row in found]


def _set_switches(world: World, given: Doc) -> Doc:
    world.set_switches(given)
    return asdict(world.switches)


def _reset(world: World, given: Doc) -> Doc:
    world.reset(
        keep_settings=bool(given.get("keep_settings", False)), keep_keys=bool(given.get("keep_keys", False))
    )
    return state(world)


def _register_key(world: World, given: Doc) -> Doc:
    pem = str(given["pem"])
    identity = key_id(read_public_key(pem))
    world.set_fact("partner_key", pem)
    return {"keyId": identity}


def _clear_keys(world: World, _: Doc) -> Doc:
    world.set_fact("partner_key", None)
    return {"keyId": None}


def _sample(world: World, given: Doc) -> Doc:
    return sample.build(world, str(given.get("now") or clock.stamp()))


def _clear_faults(world: World, _: Doc) -> list[Doc]:
    faults.clear(world)
    return []


def _advance(world: World, given: Doc) -> Doc:
    settling.advance(world, float(given["seconds"]))
    return {"advanced": given["seconds"]}


def _settle_all(world: World, _: Doc) -> Doc:
    return {"settled": settling.settle_all(world)}


def _settle_deposit(world: World, given: Doc) -> Doc:
    status, reason = _end(given)
    end = deposits.settle_deposit(world, given["_id"], status=status, reason=reason)
    return _or_missing(end, "no pending deposit of that id")


def _settle_withdrawal(world: World, given: Doc) -> Doc:
    status, reason = _end(given)
    end = withdrawals.settle_withdrawal(world, given["_id"], status=status, reason=reason)
    return _or_missing(end, "no pending withdrawal of that id")


def _end(given: Doc) -> tuple[str, Any]:
    status = given.get("status", "completed")
    if status not in ("completed", "failed"):
        raise ValueError("status must be completed or failed")
    return status, given.get("failureReason")


def _or_missing(found: Doc | None, message: str) -> Doc:
    if found is None:
        raise Missing(message)
    return found


def _details(world: World, given: Doc) -> Doc:
    return _or_missing(cards.kept_details(world, given["_id"]), "no details of that card")


def _thing(world: World, given: Doc) -> Doc:
    kind, _, identity = given["_id"].partition("/")
    return _or_missing(world.find(kind, identity), "nothing of that id")


def _webhook(world: World, given: Doc) -> Doc:
    event = events.announce(world, str(given["type"]), given.get("data", {}), event_id=given.get("id"))
    return {"id": event}


_PLAIN: dict[tuple[str, str], Deed] = {
    ("GET", "healthz"): lambda _world, _given: {"status": "ok"},
    ("GET", "state"): lambda world, _: state(world),
    ("POST", "settings"): _set_switches,
    ("POST", "reset"): _reset,
    ("POST", "keys"): _register_key,
    ("POST", "keys/clear"): _clear_keys,
    ("POST", "seed"): seeds.sow,
    ("POST", "sample"): _sample,
    ("GET", "faults"): lambda world, _: faults.planned(world),
    ("POST", "faults"): faults.plan,
    ("POST", "faults/clear"): _clear_faults,
    ("GET", "ledger"): lambda world, _: ledger.entries(world),
    ("GET", "requests"): lambda world, _: traffic.seen(world),
    ("GET", "deliveries"): lambda world, _: deliveries(world),
    ("POST", "advance"): _advance,
    ("POST", "settle"): _settle_all,
    ("POST", "webhook"): _webhook,
}
_WITH_ID: tuple[tuple[str, str, Deed], ...] = (
    ("POST", r"deposits/([^/]+)/settle", _settle_deposit),
    ("POST", r"withdrawals/([^/]+)/settle", _settle_withdrawal),
    ("GET", r"details/([^/]+)", _details),
    ("GET", r"things/([a-z]+/[^/]+)", _thing),
)
