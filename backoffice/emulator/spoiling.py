"""How an answer is spoiled: the faults that change what is said rather than how it travels."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from backoffice.emulator.errors import Refusal, coded, uncoded
from backoffice.emulator.wire import Answer, Doc, html_answer, json_answer

_PAGE = "<html><head><title>{0}</title></head><body><h1>{0}</h1><hr>proxy</body></html>"
_MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "null": lambda _: None,
    "list": lambda value: [value],
    "object": lambda value: {"value": value},
    "number": lambda _: 42,
    "negative": lambda _: -1,
    "bool": lambda _: True,
    "empty": lambda _: "",
    "text": str,
    "unknown": lambda _: "something_new",
    "exponent": lambda _: "1e3",
    "big_number": lambda _: 10**30,
    "nan": lambda _: float("nan"),
    "huge": lambda _: "x" * 1_000_000,
    "surrogate": lambda _: "\ud800",
    "nul": lambda _: "a\x00b",
}
MUTATIONS = frozenset({*_MUTATIONS, "absent", "value"})


def spoiled(answer: Answer | None, fault: Doc) -> Answer | None:
    """The answer that a fault puts in the place of `answer`; that one itself when it is not touched."""
    match fault["kind"]:
        case "status":
            return _other_status(fault)
        case "error":
            return _enveloped(coded(str(fault["code"])))
        case "throttle":
            return _enveloped(coded("ERRCORE_1006", headers=_retry_after(fault)))
        case "redirect":
            return Answer(int(fault.get("code", 302)), headers={"Location": str(fault.get("location", "/"))})
        case "bomb":
            return _bomb(int(fault.get("size", 100_000_000)))
        case "mutate" if answer is not None:
            return _mutated(answer, fault)
    return answer


def _enveloped(refusal: Refusal) -> Answer:
    return json_answer(refusal.status, refusal.envelope(), refusal.headers)


def _other_status(fault: Doc) -> Answer:
    status, body = int(fault.get("code", 502)), fault.get("body")
    if fault.get("html"):
        return html_answer(status, body if isinstance(body, str) else _PAGE.format(status))
    if isinstance(body, str):
        return Answer(status, body.encode(), {"Content-Type": str(fault.get("type", "application/json"))})
    if body is not None:
        return json_answer(status, body)
    return _enveloped(uncoded(status, "The emulator was told to answer so"))


def _retry_after(fault: Doc) -> dict[str, str]:
    wait = fault.get("retry_after")
    if wait is None or wait == "absent":
        return {}
    if wait == "date":
        moment = datetime.now(UTC) + timedelta(seconds=float(fault.get("seconds", 2)))
        return {"Retry-After": format_datetime(moment, usegmt=True)}
    return {"Retry-After": str(wait)}


def _bomb(size: int) -> Answer:
    body = gzip.compress(b" " * size)
    return Answer(200, body, {"Content-Type": "application/json", "Content-Encoding": "gzip"})


def _mutated(answer: Answer, fault: Doc) -> Answer:
    content = json.loads(answer.body)
    _mutate(content, str(fault.get("field", "")).split("."), fault)
    return replace(answer, body=json.dumps(content).encode("ascii"))


def _mutate(content: Any, path: list[str], fault: Doc) -> None:
    """Change the value at the path; a step through a list goes through each of its items."""
    if isinstance(content, list):
        for item in content:
            _mutate(item, path, fault)
    elif isinstance(content, dict):
        if len(path) > 1:
            _mutate(content.get(path[0]), path[1:], fault)
        else:
            _replace(content, path[0], fault)


def _replace(content: Doc, name: str, fault: Doc) -> None:
    how = str(fault.get("mutation", "null"))
    if how == "absent":
        content.pop(name, None)
    elif how == "value":
        content[name] = fault.get("value")
    else:
        content[name] = _MUTATIONS[how](content.get(name))
