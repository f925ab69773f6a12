"""What differs between the kinds of requests that travel to Endl."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backoffice import endl as api
from backoffice.audit.trail import Refusal
from backoffice.delivery.models import Hold, Pause, Request

Clock = Callable[[], datetime]


class GateClosed(Refusal):
    """What was approved may no longer be sent. The request ends as expired."""


@dataclass(frozen=True)
class Road[R: Request, Made]:
    """What differs between the kinds of requests.

    Attributes:
        model: the kind of request.
        read: understands an answer; raises Endl's errors.
        gate: the last look before the first attempt, beside the approval; raises GateClosed.
        made: the column that holds what Endl made of a request.
        facts: what an approval binds to, rebuilt from the row; None for what needs no approval.
        arrive: takes in what Endl made, inside the transaction that settles the request.
        keep_first: commits what must never be lost, before anything else is done with the answer.
        look: before a repeat, looks whether it happened; returns what Endl made, None when it did not.
        refused: learns from a refusal what it says of others than the request.
        pauses: what, beside everything, holds this kind back.
        hold: which hold of a person's stops this kind.
    """

    model: type[R]
    hold: Hold.Scope
    made: str
    read: Callable[[api.Answer], Made]
    gate: Callable[[R, datetime], None]
    arrive: Callable[[R, Made, datetime], None]
    keep_first: Callable[[R, Made, datetime], None] | None = None
    look: Callable[[R, api.Client], Made | None] | None = None
    facts: Callable[[R], dict[str, Any]] | None = None
    refused: Callable[[R, api.EndlError, datetime], None] | None = None
    pauses: tuple[Pause.Scope, ...] = ()
