"""Endl's objects as frozen, typed values.

Read tolerantly: only the object's own id is demanded. Whatever else is missing, null or of another type than
agreed reads as None or as its text, and ``payload`` keeps the whole object, card secrets removed. Which
fields are documented and which assumed is said at each class.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Never, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from backoffice.endl.answers import NotJSON
from backoffice.endl.checks import is_id
from backoffice.endl.errors import UnreadableAnswer
from backoffice.endl.tolerant import (
    as_amount,
    as_last4,
    as_list,
    as_reference,
    as_text,
    as_time,
    as_whole,
    without_secrets,
)


@dataclass(frozen=True)
class Money:
    """An exact amount, its currency, and the amount as the text that came (documented: a decimal string)."""

    amount: Decimal
    currency: str
    text: str

    @classmethod
    def of(cls, text: str, currency: str) -> Self:
        """Make money from an amount's text. Raises decimal.InvalidOperation when it is no number."""
        return cls(Decimal(text), currency, text)

    def is_text_of_amount(self) -> bool:
        """Whether text and amount say the same."""
        return as_amount(self.text) == (self.amount, self.text)


@dataclass(frozen=True)
class Fee:
    """An Endl fee (documented; the amounts are "not final yet")."""

    type: str | None
    amount: Money | None


@dataclass(frozen=True)
class Destination:
    """Where a withdrawal goes: a wallet or an address (documented)."""

    wallet_id: str | None
    address: str | None


def _money(value: Any) -> Money | None:
    if isinstance(value, Money) or not isinstance(value, dict):
        return value if isinstance(value, Money) else None
    amount, currency = as_amount(value.get("amount")), value.get("currency")
    if amount is None or not isinstance(currency, str):
        return None
    return Money(amount[0], as_text(currency) or "", amount[1])


def _fees(value: Any) -> tuple[Fee, ...]:
    if isinstance(value, tuple):
        return value
    readable = (fee for fee in as_list(value) if isinstance(fee, dict))
    return tuple(Fee(as_text(fee.get("type")), _money(fee.get("amount"))) for fee in readable)


def _destination(value: Any) -> Destination | None:
    if isinstance(value, Destination) or not isinstance(value, dict):
        return value if isinstance(value, Destination) else None
    return Destination(as_reference(value.get("walletId")), as_text(value.get("address")))


def _time(value: Any) -> datetime | None:
    return value if isinstance(value, datetime) else as_time(value)


def _own_id(value: str) -> str:
    if not is_id(value):
        raise ValueError("not an id")
    return value


OwnId = Annotated[str, Field(strict=True), AfterValidator(_own_id)]
Reference = Annotated[str | None, BeforeValidator(as_reference)]
Text = Annotated[str | None, BeforeValidator(as_text)]
Whole = Annotated[int | None, BeforeValidator(as_whole)]
Last4 = Annotated[str | None, BeforeValidator(as_last4)]
Time = Annotated[datetime | None, BeforeValidator(_time)]
Amount = Annotated[Money | None, BeforeValidator(_money)]
Fees = Annotated[tuple[Fee, ...], BeforeValidator(_fees)]
Reason = Annotated[Any, BeforeValidator(without_secrets)]


class Resource(BaseModel):
    """``payload`` is the object as it came: numbers exact, card secrets removed, text escaped."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        # A validation error would quote its input, and with it whatever secret the answer holds.
        hide_input_in_errors=True,
    )
    payload: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def read(cls, value: Any) -> Self:
        """Read one object of an answer. Raises UnreadableAnswer when it is no object or has no usable id."""
        try:
            return cls.model_validate({**value, "payload": without_secrets(value)})
        except (ValidationError, NotJSON, TypeError):
            pass
        raise UnreadableAnswer(f"This is not a {cls.__name__.lower()} with an id that can be used.")

    @property
    def own_id(self) -> str:
        """The object's own id, whatever it is called on its kind."""
        return str(getattr(self, f"{type(self).__name__.lower()}_id"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.own_id!r})"

    __str__ = __repr__


class Deposit(Resource):
    """Money onto the card balance (documented). ``status``: pending, completed, failed, or what came."""

    deposit_id: OwnId
    customer_id: Reference = None
    method: Text = None
    wallet_id: Reference = None
    amount: Amount = None
    chain: Text = None
    transaction_hash: Text = None
    fees: Fees = ()
    status: Text = None
    failure_reason: Reason = None
    created_at: Time = None
    completed_at: Time = None


class Withdrawal(Resource):
    """Money off the card balance (documented). ``status`` as for a deposit."""

    withdrawal_id: OwnId
    customer_id: Reference = None
    amount: Amount = None
    chain: Text = None
    destination: Annotated[Destination | None, BeforeValidator(_destination)] = None
    transaction_hash: Text = None
    fees: Fees = ()
    status: Text = None
    failure_reason: Reason = None
    created_at: Time = None
    completed_at: Time = None


class Card(Resource):
    """A card without its details (assumed). ``status``: active, used, expired, cancelled, or what came."""

    card_id: OwnId
    cardholder_id: Reference = None
    type: Text = None
    last4: Last4 = None
    expiry_month: Whole = None
    expiry_year: Whole = None
    amount_in_usd_cents: Whole = Field(default=None, alias="amountInUSDCents")
    memo: Text = None
    status: Text = None
    created_at: Time = None


def _cards(value: Any) -> tuple[Card, ...]:
    return value if isinstance(value, tuple) else tuple(read_all(Card, as_list(value))[0])


class Cardholder(Resource):
    """A person who may hold cards (assumed). ``status``: active, pending, disabled, or what came.

    ``cards`` leaves out what cannot be read as a card; ``unreadable_cards`` counts it.
    """

    cardholder_id: OwnId
    customer_id: Reference = None
    first_name: Text = None
    last_name: Text = None
    email: Text = None
    phone: Text = None
    status: Text = None
    created_at: Time = None
    cards: Annotated[tuple[Card, ...], BeforeValidator(_cards)] = ()

    @property
    def unreadable_cards(self) -> int:
        return len(as_list(self.payload.get("cards"))) - len(self.cards)


def read_all[R: Resource](kind: type[R], values: list[Any]) -> tuple[list[R], int]:
    """Read what can be read; returns the objects and how many could not be."""
    found: list[R] = []
    for value in values:
        try:
            found.append(kind.read(value))
        except UnreadableAnswer:
            continue
    return found, len(values) - len(found)


def parse_deposit(obj: Any) -> Deposit:
    """Read a deposit from a webhook's data. Raises UnreadableAnswer."""
    return Deposit.read(obj)


def parse_withdrawal(obj: Any) -> Withdrawal:
    """Read a withdrawal from a webhook's data. Raises UnreadableAnswer."""
    return Withdrawal.read(obj)


@dataclass(frozen=True, repr=False)
class IssuedCard:
    """A card just issued, with its details still encrypted, as they came: text, an object, or None (assumed).

    They are sent this once (documented).
    """

    card: Card
    encrypted_details: str | dict[str, Any] | None

    def __repr__(self) -> str:
        return f"IssuedCard({self.card!r})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CardDetails:
    """Card details in the clear. Shows and stores nothing by itself: blank in text, logs and pickles.

    ``pan`` is 12 to 19 digits; ``cvv`` is 3 or 4 digits as text, empty where Endl supplied none; ``exp_year``
    has four digits; ``opened_by`` is the fingerprint of the key that opened the envelope.
    """

    pan: str
    cvv: str
    exp_month: int
    exp_year: int
    opened_by: str = ""

    @property
    def last4(self) -> str:
        return self.pan[-4:]

    def __repr__(self) -> str:
        return "CardDetails()"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return "CardDetails()"

    def __reduce_ex__(self, protocol: object) -> Never:
        raise TypeError("Card details are not stored or sent anywhere.")
