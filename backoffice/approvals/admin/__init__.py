"""The pages of approvals: the queue, what was decided, approvals of many, rules, limits and figures."""

from backoffice.approvals.admin import (  # noqa: F401  (they register their pages)
    approvals,
    bulk,
    decisions,
    figures,
    limits,
    rules,
)
