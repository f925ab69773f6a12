"""Approvals and their decisions; the rules that say who is asked; what each person may decide alone."""

from backoffice.approvals.models.approvals import Approval, Decision, Step
from backoffice.approvals.models.limits import Limit, LimitChange
from backoffice.approvals.models.policies import Rule, RuleSet, RuleSetChange

__all__ = ["Approval", "Decision", "Limit", "LimitChange", "Rule", "RuleSet", "RuleSetChange", "Step"]
