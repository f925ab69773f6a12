"""Endl's API: three requests that change something, sent once each, and reads that try again."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from backoffice.endl.answers import Answer
from backoffice.endl.calls import Call
from backoffice.endl.checks import check_base_url, check_header, check_id, check_key
from backoffice.endl.codes import CODES, error_from
from backoffice.endl.errors import (
    EndlError,
    NoAnswer,
    NotSent,
    ServerTrouble,
    Throttled,
    UnreadableAnswer,
    Unsupported,
)
from backoffice.endl.reading import read_deposit, read_value, read_withdrawal
from backoffice.endl.resources import Cardholder, Deposit, Resource, Withdrawal, read_all
from backoffice.endl.transport import Limits, Outgoing, Transport

MAX_PAGES = 1000
_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 5.0
# A longer wish is not slept through: the error goes up, and the caller schedules.
_LONGEST_OBEYED_SECONDS = 30.0
_WORTH_ANOTHER_TRY = (NotSent, NoAnswer, ServerTrouble, Throttled)


def _at_once(operation: str) -> None:
    """Keep no pace."""


@dataclass(frozen=True)
class Listing[T]:
    """All pages of a list: the items that could be read, and how many could not be."""

    items: list[T]
    unreadable: int


class Client:
    """A line to Endl, safe to share between threads.

    ``connect_seconds`` and ``read_seconds`` bound each step, ``total_seconds`` the whole of one exchange;
    ``retries`` is how often a read is tried again. ``take_turn`` is called with the operation's name before
    each exchange, to keep a pace; what it raises goes up. Raises ValueError for a setting that is wrong.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        api_version: str = "2026-09.1",
        proxy: str | None = None,
        connect_seconds: float = 5.0,
        read_seconds: float = 20.0,
        total_seconds: float = 25.0,
        user_agent: str = "endl-back-office",
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
        take_turn: Callable[[str], None] = _at_once,
    ) -> None:
        self._base_url = check_base_url(base_url)
        self._headers = {
            "Api-Key": check_header(api_key, "The API key"),
            "Api-Version": check_header(api_version, "The API version"),
            "User-Agent": check_header(user_agent, "The user agent"),
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        self._transport = Transport(
            proxy=proxy, limits=Limits(connect_seconds, read_seconds, total_seconds), secret=api_key
        )
        self._retries = retries
        self._sleep = sleep
        self._take_turn = take_turn
        # Reads try again for as long as two whole exchanges may last, however many tries are left.
        self._patience_seconds = 2 * total_seconds

    def __repr__(self) -> str:
        return f"Client({self._base_url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections."""
        self._transport.close()

    def send(self, call: Call, *, key: str) -> Answer:
        """Send a call once, under its idempotency key, and return the answer whatever its status.

        Raises NotSent (nothing happened), NoAnswer or UnreadableAnswer (it may have happened), and ValueError
        for a key that is not 1 to 64 letters, digits, hyphens or underscores.
        """
        headers = self._headers | {"Content-Type": "application/json", "Idempotency-Key": check_key(key)}
        self._take_turn(call.operation)
        return self._transport.exchange(
            Outgoing("POST", call.operation, self._base_url + call.path, headers, body=call.body)
        )

    def list_cardholders(self, customer_id: str) -> Listing[Cardholder]:
        """Return the cardholders of a business with their cards (path documented, shape assumed).

        Raises EndlError; InvalidId before anything is sent.
        """
        path = f"/api/v0/customer/{check_id(customer_id, 'customer')}/card-users"
        return self._list("list_cardholders", path, Cardholder)

    def list_deposits(self, customer_id: str) -> Listing[Deposit]:
        """Return the deposits of a customer (assumed). Raises EndlError, Unsupported included."""
        return self._list("list_deposits", _cards_path(customer_id, "deposits"), Deposit)

    def list_withdrawals(self, customer_id: str) -> Listing[Withdrawal]:
        """Return the withdrawals of a customer (assumed). Raises EndlError, Unsupported included."""
        return self._list("list_withdrawals", _cards_path(customer_id, "withdrawals"), Withdrawal)

    def get_deposit(self, customer_id: str, deposit_id: str) -> Deposit:
        """Return one deposit (assumed). Raises EndlError; Unsupported where Endl has no such read."""
        path = f"{_cards_path(customer_id, 'deposits')}/{check_id(deposit_id, 'deposit')}"
        return self._read("get_deposit", path, None, read_deposit)

    def get_withdrawal(self, customer_id: str, withdrawal_id: str) -> Withdrawal:
        """Return one withdrawal (documented). Raises EndlError."""
        path = f"{_cards_path(customer_id, 'withdrawals')}/{check_id(withdrawal_id, 'withdrawal')}"
        return self._read("get_withdrawal", path, None, read_withdrawal)

    def _list[R: Resource](self, operation: str, path: str, kind: type[R]) -> Listing[R]:
        # A new item at the top moves the rest down, so that one may come twice: the later reading is the
        # fresher.
        found: dict[Any, R] = {}
        unreadable = 0
        for values in self._pages(operation, path):
            items, failed = read_all(kind, values)
            found.update((item.own_id, item) for item in items)
            unreadable += failed
        return Listing(list(found.values()), unreadable)

    def _pages(self, operation: str, path: str) -> Iterator[list[Any]]:
        """Walk all pages. Stops with an error, not with a part: what a part leaves out would look deleted."""
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            values, cursor = self._read(operation, path, cursor, _page)
            yield values
            if not cursor:
                return
            if cursor in seen:
                raise UnreadableAnswer("Endl's list goes round in circles: the same cursor came twice.")
            seen.add(cursor)
        raise UnreadableAnswer(f"Endl's list does not end: over {MAX_PAGES} pages.")

    def _read[T](self, operation: str, path: str, cursor: str | None, read: Callable[[Answer], T]) -> T:
        """Ask until an answer comes, a clear no, the last try, or the end of patience."""
        params = {"cursor": cursor} if cursor else None
        outgoing = Outgoing("GET", operation, self._base_url + path, self._headers, params=params)
        ends_at = time.monotonic() + self._patience_seconds
        for tries in range(self._retries):
            try:
                return self._ask(outgoing, read)
            except _WORTH_ANOTHER_TRY as problem:
                delay = _delay_seconds(tries, problem)
                if delay is None or time.monotonic() + delay > ends_at:
                    raise
            self._sleep(delay)
        return self._ask(outgoing, read)

    def _ask[T](self, outgoing: Outgoing, read: Callable[[Answer], T]) -> T:
        self._take_turn(outgoing.operation)
        answer = self._transport.exchange(outgoing)
        if answer.status in (405, 501):
            raise _unsupported(answer)
        return read(answer)


def _cards_path(customer_id: str, what: str) -> str:
    return f"/api/v0/cards/{check_id(customer_id, 'customer')}/{what}"


def _delay_seconds(tries: int, problem: EndlError) -> float | None:
    """Double from 0.5 s to 5 s with jitter, not under what Endl asks for; None when that is too long."""
    longest = min(_FIRST_DELAY_SECONDS * 2 ** (tries + 1), _LONGEST_DELAY_SECONDS)
    delay = random.uniform(max(_FIRST_DELAY_SECONDS, longest / 2), longest)  # noqa: S311 - spreads load, guards nothing
    asked = problem.retry_after_seconds or 0.0
    return max(delay, asked) if asked <= _LONGEST_OBEYED_SECONDS else None


def _unsupported(answer: Answer) -> EndlError:
    error = error_from(answer)
    if error.code in CODES:
        return error
    return Unsupported(
        error.message, code=error.code, http_status=answer.status, request_id=answer.request_id
    )


def _page(answer: Answer) -> tuple[list[Any], str | None]:
    return read_value(answer, _page_of)


def _page_of(value: Any) -> tuple[list[Any], str | None]:
    """Read a page (assumed): a bare array, or an object with exactly one array, whatever its name."""
    if isinstance(value, list):
        return value, None
    arrays = (
        [member for member in value.values() if isinstance(member, list)] if isinstance(value, dict) else []
    )
    if len(arrays) != 1:
        raise UnreadableAnswer("Endl's answer is not a list.")
    return arrays[0], _cursor(value.get("nextCursor"))


def _cursor(value: Any) -> str | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return None if value is None else str(value)
    if not isinstance(value, str) or len(value) > 2000 or not value.isprintable():
        raise UnreadableAnswer("Endl's cursor to the next page cannot be read.")
    return value
