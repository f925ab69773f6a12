"""Lists, in the three forms that a client may meet."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from backoffice.emulator.rules import broken
from backoffice.emulator.wire import Answer, Call, Doc, json_answer
from backoffice.emulator.world import World, shown

Place = tuple[str, int]


def listed(world: World, call: Call, kind: str, *, name: str, show: Callable[[Doc], Doc] = shown) -> Answer:
    """The customer's things of a kind, newest first; `name` is the array's name inside an object."""
    form = world.switches.list_form
    if form == "paged":
        return _paged(world, call, kind, name, show)
    items = [show(doc) for doc in world.children(kind, call.customer)]
    return json_answer(200, items if form == "array" else {name: items})


def _paged(world: World, call: Call, kind: str, name: str, show: Callable[[Doc], Doc]) -> Answer:
    size = max(1, world.switches.page_size)
    # One more than fits tells whether there is a next page.
    found = world.page(kind, call.customer, before=_place(world, call), limit=size + 1)
    following = _cursor(found[size - 1][0]) if len(found) > size else None
    return json_answer(200, {name: [show(doc) for _, doc in found[:size]], "nextCursor": following})


def _cursor(place: Place) -> str:
    return base64.urlsafe_b64encode(f"{place[0]}|{place[1]}".encode()).decode().rstrip("=")


def _place(world: World, call: Call) -> Place | None:
    cursor = call.query.get("cursor")
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor.encode() + b"==").decode()
        created, _, seq = text.partition("|")
        return created, int(seq)
    except (ValueError, binascii.Error):
        raise broken("cursor", "is not one that was given out", world.switches) from None
