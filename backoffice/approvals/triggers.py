"""What the database refuses of approvals, decisions, rules and limits, whoever asks."""

from backoffice.triggers import Trigger

_APPROVALS, _DECISIONS, _STEPS = "approvals_approval", "approvals_decision", "approvals_step"
_SETS, _RULES, _CHANGES = "approvals_ruleset", "approvals_rule", "approvals_rulesetchange"
_LIMITS, _RAISES = "approvals_limit", "approvals_limitchange"

# What an approval binds to, and what was true around it.
_FROZEN = (
    "kind", "summary", "customer_endl_id", "maker_id", "facts_hash", "amount", "currency", "policy_version",
    "rule_set_id", "rule", "needed", "created_at", "replaces_id",
)  # fmt: skip
_BEGUN = "(SELECT s.state FROM approvals_ruleset s WHERE s.id = {row}.rule_set_id) <> 'draft'"


def _changed(*columns: str) -> str:
    return " OR ".join(f"NEW.{column} {{differs}} OLD.{column}" for column in columns)


def _changed_json(*columns: str) -> str:
    return " OR ".join(
        f"CAST(NEW.{column} AS text) {{differs}} CAST(OLD.{column} AS text)" for column in columns
    )


_OF_APPROVALS = (
    # Every step has its people: as many as it asks for, each in one seat, none of them the maker.
    Trigger(
        "approval_needs_its_decisions",
        _APPROVALS,
        "UPDATE",
        "NEW.state = 'approved' AND OLD.state <> 'approved' AND ("
        "NEW.needed <> (SELECT COALESCE(SUM(s.people), 0) FROM approvals_step s WHERE s.approval_id = NEW.id)"
        " OR (NEW.needed > 0 AND EXISTS (SELECT 1 FROM approvals_step s WHERE s.approval_id = NEW.id "
        "AND s.people > (SELECT COUNT(DISTINCT d.person_id) FROM approvals_decision d "
        "WHERE d.approval_id = NEW.id AND d.step = s.number AND d.verdict = 'approve' "
        "AND d.seen_hash = NEW.facts_hash AND d.person_id <> NEW.maker_id))) "
        "OR EXISTS (SELECT 1 FROM approvals_decision d WHERE d.approval_id = NEW.id "
        "AND d.verdict = 'reject'))",
        "an approval needs its decisions",
    ),
    # Only a rule of the active set that asks nobody lets an approval begin approved.
    Trigger(
        "approval_starts_pending",
        _APPROVALS,
        "INSERT",
        "(NEW.state <> 'pending' OR NEW.needed = 0) AND NOT (NEW.state = 'approved' AND NEW.needed = 0 "
        "AND EXISTS (SELECT 1 FROM approvals_rule r JOIN approvals_ruleset s ON s.id = r.rule_set_id "
        "WHERE s.id = NEW.rule_set_id AND s.state = 'active' AND r.name = NEW.rule "
        "AND r.kind = NEW.kind AND r.asks_nobody))",
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
        _changed(*_FROZEN)
        + " OR "
        + _changed_json("facts", "figures")
        + " OR (OLD.state <> 'pending' AND NEW.good_until {differs} OLD.good_until)",
        "what is approved does not change",
    ),
    Trigger(
        "approval_asks_for_its_step",
        _APPROVALS,
        "UPDATE",
        "(NEW.at_step {differs} OLD.at_step OR NEW.permission {differs} OLD.permission) AND (NEW.at_step < "
        "OLD.at_step OR NOT EXISTS (SELECT 1 FROM approvals_step s WHERE s.approval_id = NEW.id "
        "AND s.number = NEW.at_step AND s.permission = NEW.permission))",
        "an approval asks for the people of its step; what is approved does not change",
    ),
    Trigger("approval_stays", _APPROVALS, "DELETE", "OLD.id IS NOT NULL", "approvals stay"),
    # All steps are drawn up together with the approval; none is added later.
    Trigger(
        "step_comes_with_its_approval",
        _STEPS,
        "INSERT",
        "(SELECT a.state FROM approvals_approval a WHERE a.id = NEW.approval_id) <> 'pending' "
        "OR NEW.people + (SELECT COALESCE(SUM(s.people), 0) FROM approvals_step s "
        "WHERE s.approval_id = NEW.approval_id) > "
        "(SELECT a.needed FROM approvals_approval a WHERE a.id = NEW.approval_id)",
        "steps come with their approval",
    ),
    Trigger("step_stays_as_it_is", _STEPS, "UPDATE", "OLD.id IS NOT NULL", "steps never change"),
    Trigger("step_stays", _STEPS, "DELETE", "OLD.id IS NOT NULL", "steps stay"),
)
_OF_DECISIONS = (
    Trigger(
        "decision_names_the_maker",
        _DECISIONS,
        "INSERT",
        "NEW.maker_id {differs} (SELECT a.maker_id FROM approvals_approval a WHERE a.id = NEW.approval_id) "
        "OR (SELECT a.state FROM approvals_approval a WHERE a.id = NEW.approval_id) <> 'pending'",
        "a decision names the maker of a pending approval",
    ),
    Trigger(
        "decision_is_for_the_step",
        _DECISIONS,
        "INSERT",
        "NOT EXISTS (SELECT 1 FROM approvals_approval a JOIN approvals_step s ON s.approval_id = a.id "
        "AND s.number = a.at_step WHERE a.id = NEW.approval_id AND s.number = NEW.step "
        "AND s.permission = NEW.permission AND a.permission = NEW.permission)",
        "a decision is for the step that waits",
    ),
    Trigger(
        "decision_is_by_somebody_here",
        _DECISIONS,
        "INSERT",
        "NOT EXISTS (SELECT 1 FROM access_user u WHERE u.id = NEW.person_id AND u.is_active)",
        "a decision is by an active person",
    ),
    Trigger(
        "decision_is_within_the_limit",
        _DECISIONS,
        "INSERT",
        "NEW.verdict = 'approve' AND EXISTS (SELECT 1 FROM approvals_limit l JOIN approvals_approval a "
        "ON a.id = NEW.approval_id WHERE l.person_id = NEW.person_id AND l.currency = a.currency "
        "AND a.amount > l.per_decision)",
        "a decision is within the limit of its person",
    ),
    Trigger("decision_stays_as_it_is", _DECISIONS, "UPDATE", "OLD.id IS NOT NULL", "decisions never change"),
    Trigger("decision_stays", _DECISIONS, "DELETE", "OLD.id IS NOT NULL", "decisions stay"),
)
_OF_RULES = (
    Trigger("ruleset_starts_as_a_draft", _SETS, "INSERT", "NEW.state <> 'draft'", "rules start as a draft"),
    Trigger(
        "ruleset_keeps_to_itself",
        _SETS,
        "UPDATE",
        f"{_changed('version', 'made_at', 'change_id')} OR (NEW.state {{differs}} OLD.state "
        "AND NOT ((OLD.state = 'draft' AND NEW.state = 'active') "
        "OR (OLD.state = 'active' AND NEW.state = 'retired')))",
        "a rule set never changes",
    ),
    Trigger(
        "ruleset_is_agreed_on",
        _SETS,
        "UPDATE",
        "OLD.state = 'draft' AND NEW.state = 'active' AND NEW.version > 1 AND NOT EXISTS "
        "(SELECT 1 FROM approvals_rulesetchange c WHERE c.id = NEW.change_id AND c.state = 'approved' "
        "AND c.decided_by_id <> c.maker_id)",
        "rules are agreed on by another administrator",
    ),
    # The first set is the one that came with the house, and it comes once.
    Trigger(
        "ruleset_first_is_first",
        _SETS,
        "UPDATE",
        "NEW.state = 'active' AND OLD.state = 'draft' AND NEW.version = 1 "
        "AND EXISTS (SELECT 1 FROM approvals_ruleset s WHERE s.id <> NEW.id)",
        "the first rules come first",
    ),
    Trigger("ruleset_stays", _SETS, "DELETE", "OLD.id IS NOT NULL", "rule sets stay"),
    Trigger("rule_comes_with_its_set", _RULES, "INSERT", _BEGUN.format(row="NEW"), "rules never change"),
    Trigger("rule_stays_as_it_is", _RULES, "UPDATE", "OLD.id IS NOT NULL", "rules never change"),
    Trigger("rule_stays", _RULES, "DELETE", "OLD.id IS NOT NULL", "rules stay"),
    Trigger(
        "rulesetchange_starts_pending",
        _CHANGES,
        "INSERT",
        "NEW.state <> 'pending'",
        "a change starts pending",
    ),
    Trigger(
        "rulesetchange_is_decided_once",
        _CHANGES,
        "UPDATE",
        f"OLD.state <> 'pending' OR {_changed('base_id', 'proposed_hash', 'maker_id', 'reason', 'made_at')} "
        f"OR {_changed_json('proposed')}",
        "a change of rules is decided once, as it was proposed",
    ),
    Trigger("rulesetchange_stays", _CHANGES, "DELETE", "OLD.id IS NOT NULL", "changes of rules stay"),
)
_OF_LIMITS = (
    Trigger(
        "limit_is_raised_by_two",
        _LIMITS,
        "UPDATE",
        "(NEW.per_decision > OLD.per_decision OR NEW.per_day > OLD.per_day) AND NOT EXISTS "
        "(SELECT 1 FROM approvals_limitchange c WHERE c.id = NEW.raised_by_id AND c.limit_id = NEW.id "
        "AND c.state = 'approved' AND c.decided_by_id <> c.maker_id AND c.per_decision = NEW.per_decision "
        "AND c.per_day = NEW.per_day AND c.was_per_decision = OLD.per_decision "
        "AND c.was_per_day = OLD.per_day)",
        "a limit is raised by two",
    ),
    Trigger(
        "limit_keeps_its_person",
        _LIMITS,
        "UPDATE",
        _changed("person_id", "currency"),
        "a limit keeps its person",
    ),
    Trigger("limit_stays", _LIMITS, "DELETE", "OLD.id IS NOT NULL", "limits stay"),
    Trigger(
        "limitchange_starts_pending",
        _RAISES,
        "INSERT",
        "NEW.state <> 'pending' OR NEW.person_id {differs} "
        "(SELECT l.person_id FROM approvals_limit l WHERE l.id = NEW.limit_id)",
        "a raise starts pending",
    ),
    Trigger(
        "limitchange_is_decided_once",
        _RAISES,
        "UPDATE",
        "OLD.state <> 'pending' OR "
        + _changed("limit_id", "person_id", "maker_id", "reason", "made_at", "per_decision", "per_day")
        + " OR "
        + _changed("was_per_decision", "was_per_day"),
        "a raise is decided once, as it was asked for",
    ),
    Trigger("limitchange_stays", _RAISES, "DELETE", "OLD.id IS NOT NULL", "raises stay"),
)
_KEPT_AS_WRITTEN = tuple(
    Trigger(f"{name}_{word}", f"approvals_{name}", event, "OLD.id IS NOT NULL", message)
    for name, message in (
        ("dossier", "what was seen stays as it was"),
        ("comment", "comments stay as they are"),
    )
    for word, event in (("stays_as_it_is", "UPDATE"), ("stays", "DELETE"))
)
_OF_BULK = (
    # What was seen and chosen is frozen: only what became of a row that waits is written.
    Trigger(
        "bulkrow_is_settled_once",
        "approvals_bulkrow",
        "UPDATE",
        "OLD.state <> 'waiting' OR "
        + _changed("run_id", "approval_id", "seen_hash", "summary", "amount", "currency", "grade", "told"),
        "what was chosen does not change",
    ),
    Trigger(
        "bulkrow_comes_with_its_run",
        "approvals_bulkrow",
        "INSERT",
        "(SELECT r.confirmed_at FROM approvals_bulkrun r WHERE r.id = NEW.run_id) IS NOT NULL",
        "what was confirmed takes in nothing more",
    ),
    Trigger("bulkrow_stays", "approvals_bulkrow", "DELETE", "OLD.id IS NOT NULL", "rows stay"),
    Trigger("bulkrun_stays", "approvals_bulkrun", "DELETE", "OLD.id IS NOT NULL", "runs stay"),
    Trigger(
        "bulkrun_is_confirmed_once",
        "approvals_bulkrun",
        "UPDATE",
        "OLD.confirmed_at IS NOT NULL OR " + _changed("person_id", "chosen", "made_at"),
        "a choice is confirmed once",
    ),
)
TRIGGERS = (*_OF_APPROVALS, *_OF_DECISIONS, *_OF_RULES, *_OF_LIMITS, *_KEPT_AS_WRITTEN, *_OF_BULK)
