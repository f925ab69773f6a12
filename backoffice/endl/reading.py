"""From answers to objects: one success each, everything else an error of the tree."""

from collections.abc import Callable
from typing import Any

from backoffice.endl.answers import Answer, NotJSON, as_object, parse_json
from backoffice.endl.codes import error_from
from backoffice.endl.errors import UnreadableAnswer
from backoffice.endl.resources import Card, Cardholder, Deposit, IssuedCard, Withdrawal

_SUCCESS = (200, 201)


def read_cardholder(answer: Answer) -> Cardholder:
    """Return the cardholder just registered. Raises what ``read_value`` raises."""
    return read_value(answer, Cardholder.read)


def read_issued_card(answer: Answer) -> IssuedCard:
    """Return the card just issued with its sealed details. Raises what ``read_value`` raises."""
    return read_value(answer, _issued_card)


def read_deposit(answer: Answer) -> Deposit:
    """Return the deposit. Raises what ``read_value`` raises."""
    return read_value(answer, Deposit.read)


def read_withdrawal(answer: Answer) -> Withdrawal:
    """Return the withdrawal. Raises what ``read_value`` raises."""
    return read_value(answer, Withdrawal.read)


def read_value[T](answer: Answer, read: Callable[[Any], T]) -> T:
    """Read a success (200 or 201, documented: the object itself) with the given reader.

    Raises the error of ``error_from`` for any other status, and UnreadableAnswer, with the answer's status
    and request id, for a body that is no JSON or not of the agreed shape.
    """
    if answer.status not in _SUCCESS:
        raise error_from(answer)
    try:
        return read(parse_json(answer.body))
    except NotJSON as problem:
        reason = f"Endl's answer is {problem}."
    except UnreadableAnswer as problem:
        reason = problem.message
    raise UnreadableAnswer(reason, http_status=answer.status, request_id=answer.request_id)


def _issued_card(value: Any) -> IssuedCard:
    sealed = as_object(value).get("encryptedDetails")
    return IssuedCard(Card.read(value), sealed if isinstance(sealed, str | dict) and sealed else None)
