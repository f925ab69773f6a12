"""Approvals and their decisions; the rules that say who is asked; what each person may decide alone."""

from backoffice.approvals.models.approvals import Approval, Decision, Step
from backoffice.approvals.models.bulk import BulkRow, BulkRun
from backoffice.approvals.models.dossiers import Comment, DecisionFigures, Dossier
from backoffice.approvals.models.limits import Limit, LimitChange
from backoffice.approvals.models.policies import Rule, RuleSet, RuleSetChange

__all__ = [
    "Approval", "BulkRow", "BulkRun", "Comment", "Decision", "DecisionFigures", "Dossier", "Limit",
    "LimitChange", "Rule", "RuleSet", "RuleSetChange", "Step",
]  # fmt: skip
