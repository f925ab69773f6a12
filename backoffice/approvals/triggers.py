"""What the database refuses of approvals and decisions, whoever asks."""

from backoffice.triggers import Trigger

_APPROVALS, _DECISIONS = "approvals_approval", "approvals_decision"

TRIGGERS = (
    Trigger(
        "approval_needs_its_decisions",
        _APPROVALS,
        "UPDATE",
        "NEW.state = 'approved' AND OLD.state <> 'approved' AND (SELECT count(*) FROM approvals_decision d "
        "WHERE d.approval_id = NEW.id AND d.verdict = 'approve' AND d.seen_hash = NEW.facts_hash "
        "AND d.person_id <> NEW.maker_id) < NEW.needed",
        "an approval needs its decisions",
    ),
    Trigger(
        "approval_starts_pending",
        _APPROVALS,
        "INSERT",
        "NEW.state <> 'pending' AND (NEW.needed > 0 OR NEW.rule = '')",
        "an approval starts pending",
    ),
    Trigger(
        "approval_is_decided_once",
        _APPROVALS,
        "UPDATE",
        "OLD.state <> 'pending' AND NEW.state {differs} OLD.state "
        "AND NOT (OLD.state = 'approved' AND NEW.state IN ('cancelled', 'expired'))",
        "an approval is decided once",
    ),
    Trigger(
        "approval_keeps_its_facts",
        _APPROVALS,
        "UPDATE",
        "NEW.facts_hash {differs} OLD.facts_hash "
        "OR CAST(NEW.facts AS text) {differs} CAST(OLD.facts AS text) "
        "OR NEW.maker_id {differs} OLD.maker_id OR NEW.needed {differs} OLD.needed "
        "OR NEW.rule {differs} OLD.rule "
        "OR NEW.permission {differs} OLD.permission OR NEW.customer_endl_id {differs} OLD.customer_endl_id "
        "OR (OLD.state <> 'pending' AND NEW.good_until {differs} OLD.good_until)",
        "what is approved does not change",
    ),
    Trigger("approval_stays", _APPROVALS, "DELETE", "OLD.id IS NOT NULL", "approvals stay"),
    Trigger(
        "decision_names_the_maker",
        _DECISIONS,
        "INSERT",
        "NEW.maker_id {differs} (SELECT a.maker_id FROM approvals_approval a WHERE a.id = NEW.approval_id) "
        "OR (SELECT a.state FROM approvals_approval a WHERE a.id = NEW.approval_id) <> 'pending'",
        "a decision names the maker of a pending approval",
    ),
    Trigger("decision_stays_as_it_is", _DECISIONS, "UPDATE", "OLD.id IS NOT NULL", "decisions never change"),
    Trigger("decision_stays", _DECISIONS, "DELETE", "OLD.id IS NOT NULL", "decisions stay"),
)
