"""Answers, kept as they came and sealed, until their parts are committed."""

import base64
import json

from backoffice import vault
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer


def keep(attempt: Attempt, answer: Answer) -> None:
    """Store an answer whole before anything is understood of it."""
    packed = json.dumps(
        {
            "status": answer.status,
            "headers": dict(answer.headers),
            "request_id": answer.request_id,
            "body": base64.b64encode(answer.body).decode(),
        }
    )
    RawAnswer.objects.get_or_create(
        attempt=attempt, defaults={"sealed": vault.seal(packed.encode(), about=_about(attempt))}
    )


def kept_for(attempt: Attempt) -> Answer | None:
    """The answer that was stored for an attempt, when a process died before it was understood."""
    row = RawAnswer.objects.filter(attempt=attempt, attempt__outcome=Attempt.Outcome.STARTED).first()
    if row is None:
        return None
    packed = json.loads(vault.unseal(bytes(row.sealed), about=_about(attempt)))
    return Answer(
        status=packed["status"],
        body=base64.b64decode(packed["body"]),
        headers=packed["headers"],
        request_id=packed["request_id"],
    )


def let_go(attempt: Attempt) -> None:
    """Drop the raw copies of a request, in the transaction that commits what was in them."""
    RawAnswer.objects.filter(attempt__kind=attempt.kind, attempt__request_id=attempt.request_id).delete()


def _about(attempt: Attempt) -> str:
    return f"delivery.attempt:{attempt.kind}:{attempt.request_id}:{attempt.number}"
