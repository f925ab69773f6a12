"""Writing the trail: `record` for what was done, `operation` around what may be refused."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from django.db import models, transaction

from backoffice.access.models import User
from backoffice.audit.context import current_origin
from backoffice.audit.models import Entry
from backoffice.delivery.checkpoint import checkpoint

Given = ParamSpec("Given")
Made = TypeVar("Made")
Actor = User | str


class Refusal(Exception):
    """An operation said no, and nothing was changed. The text is a sentence for the person.

    Args:
        then: what the refusal itself brings about, such as that something is drawn up anew. `operation` runs
            it after the refusal is on record; it opens a transaction of its own.
    """

    def __init__(self, sentence: str, *, then: Callable[[], object] | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.then = then


class NotAllowed(Refusal):
    """The person lacks the permission, or the customer is not theirs."""


def record(
    verb: str,
    about: models.Model | None = None,
    *,
    by: Actor,
    reason: str = "",
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    result: Entry.Result = Entry.Result.DONE,
) -> Entry:
    """Write one entry in the transaction of the act.

    Args:
        verb: what was done, such as "deposit.approve".
        about: the object of the act.
        by: the person, or "system: …" for what nobody pressed.
        reason: why, in the person's words.
        old, new: the values that changed; never a secret, never card data.
        result: done, refused or failed.
    """
    origin = current_origin()
    return Entry.objects.create(
        actor=by if isinstance(by, User) else None,
        actor_name=by.get_username() if isinstance(by, User) else by,
        verb=verb,
        object_type=about._meta.label_lower if about is not None else "",
        object_id=str(about.pk or "") if about is not None else "",
        object_name=str(about)[:200] if about is not None else "",
        customer_endl_id=str(getattr(about, "customer_endl_id", "") or ""),
        old=old or {},
        new=new or {},
        reason=reason,
        result=result,
        request_id=origin.request_id,
        address=origin.address,
        session=origin.session,
        factor=origin.factor,
        factor_age_seconds=origin.factor_age_seconds,
        is_sample=origin.is_sample,
    )


def operation(verb: str, about: str = "") -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Run an operation in one transaction, and put its refusal on record.

    The refusal is written in a transaction of its own, after the operation's was rolled back: a person who
    tried what they may not do stays on record whatever else happens.

    Args:
        verb: the verb of the entry that a refusal leaves.
        about: the keyword argument that holds the object of the act.
    """

    def decorate(function: Callable[Given, Made]) -> Callable[Given, Made]:
        @functools.wraps(function)
        def run(*args: Given.args, **kwargs: Given.kwargs) -> Made:
            try:
                with transaction.atomic(durable=True):
                    made = function(*args, **kwargs)
                    checkpoint("before-commit")
            except Refusal as refusal:
                _record_refusal(verb, kwargs.get(about), kwargs["by"], refusal)
                if refusal.then is not None:
                    refusal.then()
                raise
            checkpoint("after-commit")
            return made

        return run

    return decorate


def _record_refusal(verb: str, about: Any, by: Any, refusal: Refusal) -> None:
    thing = about if isinstance(about, models.Model) else None
    new = {"refusal": type(refusal).__name__, "sentence": refusal.sentence}
    record(verb, thing, by=by, new=new, result=Entry.Result.REFUSED)
