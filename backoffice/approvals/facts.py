"""What an approval binds to, and its hash."""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from backoffice.approvals.models import Approval


def hash_of(facts: Any) -> str:
    """The hash that an approval binds to: SHA-256 over the facts, as canonical JSON."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def policy_of(approval: Approval | None) -> Any:
    """The rules as they stood when this approval was drawn up, for the facts that its hash covers."""
    if approval is None:
        return ""
    if approval.rule_set is None:
        # Drawn up before there were rule sets: the word that stood in its facts.
        return approval.policy_version
    return {
        "version": approval.rule_set.version,
        "rule": approval.rule,
        "steps": [
            {"people": step.people, "role": step.role, "permission": step.permission}
            for step in approval.drawn_steps
        ],
    }


def good_until(now: datetime) -> datetime:
    """Until when an approval that is given now may be used for a first attempt."""
    return now + timedelta(hours=settings.APPROVAL_HOURS)
