"""Faults that are planted on purpose, each with what must notice it.

An edit is a file, what stands there, and what takes its place. What must notice is a selection of pytest's,
or the simulator.
"""

from dataclasses import dataclass

SENDER, CLAIMS, RULES = (f"backoffice/delivery/{name}.py" for name in ("sender", "claims", "rules"))
SETTLING = "backoffice/delivery/settling.py"
RAW, PACE, DESK = (f"backoffice/delivery/{name}.py" for name in ("raw", "pace", "desk"))
DECISIONS, GATE = "backoffice/approvals/decisions.py", "backoffice/approvals/gate.py"
TRIGGERS = "backoffice/triggers.py"
SIMULATOR = "the simulator"
_ROAD = "tests/backoffice/delivery/test_road.py"
_FAULTS = "tests/backoffice/delivery/test_faults.py"
_PAUSES = "tests/backoffice/delivery/test_pauses.py"
_PACE = "tests/backoffice/delivery/test_pace.py"
_SPOOL = "tests/backoffice/delivery/test_spool.py"
_ENVELOPES = "tests/backoffice/delivery/test_envelopes.py"
_DECISIONS = "tests/backoffice/approvals/test_decisions.py"
_ROWS = "tests/backoffice/approvals/test_rows.py"
_EVENTS = "tests/funding/test_webhooks.py"
_DOOR = "tests/funding/test_receiving.py"


@dataclass(frozen=True)
class Mutation:
    """One planted fault.

    Attributes:
        name: what is wrong now.
        edits: (file, what stands there, what takes its place); every place in the file is changed.
        notices: what must fail.
    """

    name: str
    edits: tuple[tuple[str, str, str], ...]
    notices: str


def _one(name: str, file: str, old: str, new: str, notices: str) -> Mutation:
    return Mutation(name, ((file, old, new),), notices)


SENDING = (
    _one(
        "the key is lost", "backoffice/endl/client.py", ', "Idempotency-Key": check_key(key)}', "}",
        f"{_ROAD} -k exactly",
    ),
    _one(
        "a retry has a new key", SENDER, "key=request.idempotency_key)",
        'key=f"{request.idempotency_key}-{request.attempts}")', f"{_ROAD} -k exactly",
    ),
    _one(
        "other bytes are sent", SENDER, "body=bytes(request.body))", 'body=bytes(request.body) + b" ")',
        f"{_ROAD} -k exactly",
    ),
    Mutation(
        "nothing is claimed",
        (
            (CLAIMS, "row = due(model, now=now).filter(pk=pk).first()",
             "row = model._default_manager.filter(pk=pk).first()"),
            (CLAIMS, "        due(model, now=now)\n        .filter(pk=pk,",
             "        model._default_manager.all()\n        .filter(pk=pk,"),
        ),
        f"{_ROAD} -k TestClaims",
    ),
    _one(
        "no fence tells an owner from a later one", CLAIMS,
        "filter(pk=request.pk, fence=request.fence, state=State.SENDING)",
        "filter(pk=request.pk, state=State.SENDING)", f"{_ROAD} -k TestClaims",
    ),
    _one(
        "the lease ends before the call", "backoffice/settings.py",
        "DELIVERY_LEASE_SECONDS = ENDL_CALL_SECONDS * 1.4",
        "DELIVERY_LEASE_SECONDS = ENDL_CALL_SECONDS * 0.5",
        f"{_ROAD} -k outlasts",
    ),
    _one(
        "who slept past the claim sends all the same", RULES,
        "return lease_left >= call * 1.2", "return True",
        SIMULATOR,
    ),
    _one(
        "the gate forgets the approval", SENDER, "        _check_approval(road, request, now)\n", "",
        f"{_ROAD} -k TestTheGate",
    ),
    _one(
        "the gate forgets the kind's own look", SENDER, "        road.gate(request, now)\n", "",
        f"{_ROAD} -k TestTheGate",
    ),
    _one(
        "the gate compares no hash", GATE, "if hash_of(facts) != approval.facts_hash:", "if False:",
        f"{_ROAD} -k TestTheGate",
    ),
    _one(
        "the gate asks nobody whether they are still entitled", GATE,
        "        _check_checkers(approval)\n", "        pass\n", f"{_ROAD} -k TestTheGate",
    ),
    _one(
        "an approval is good for ever", GATE, "now > approval.good_until)", "False)",
        f"{_ROAD} -k TestTheGate",
    ),
    _one(
        "another connection than was approved", RULES, "if not is_same_line:", "if False:",
        f"{_ROAD} -k TestTheGate",
    ),
)  # fmt: skip

UNCLEAR = (
    _one(
        "unclear counts as a no", RULES, "return Then.WAIT_UNKNOWN", "return Then.REFUSE", SIMULATOR,
    ),
    _one(
        "a no without a code counts after something unclear", RULES,
        "return Then.ASK_A_PERSON if was_unclear else Then.REFUSE", "return Then.REFUSE", SIMULATOR,
    ),
    _one(
        "a used key counts as a no", RULES, "return Then.LOSE_DETAILS", "return Then.REFUSE", SIMULATOR,
    ),
    _one(
        "what a dead sender left counts as unsent", RULES, "return was_unclear or has_begun",
        "return was_unclear", SIMULATOR,
    ),
    _one(
        "nobody looks before a registration is repeated", RULES,
        "    if can_look:\n        return Before.LOOK\n",
        "", SIMULATOR,
    ),
    _one(
        "a forgotten key is sent again", RULES, "Before.ASK_A_PERSON if key_age > horizon else Before.SEND",
        "Before.SEND", f"{_FAULTS} -k TestTheKeysHorizon",
    ),
    _one(
        "what is on its way can be cancelled", DESK,
        "filter(pk=request.pk, state__in=_UNSENT, unclear_at=None)", "filter(pk=request.pk)",
        f"{_ROAD} -k TestPeopleAndTheRoad",
    ),
)  # fmt: skip

_KEPT_FIRST = """        with transaction.atomic():
            road.keep_first(request, made, clock())
        checkpoint("after-envelope")"""
_ARRIVES = """            road.arrive(request, made, clock())
            settling.end("""
_KEPT_WITH_IT = """            if road.keep_first is not None:
                road.keep_first(request, made, clock())
            road.arrive(request, made, clock())
            settling.end("""
DETAILS = (
    _one(
        "an answer is understood before it is stored", SENDER, "    raw.keep(attempt, answer)\n", "",
        f"{_ROAD} -k TestTheRawAnswer",
    ),
    _one(
        "nothing is spooled when the database is gone", RAW, "        _spool(attempt, sealed)\n", "",
        f"{_SPOOL}",
    ),
    _one(
        "an unreadable answer goes with a later no", SETTLING,
        "            raw.let_go(attempt)\n    if not isinstance",
        "            raw.let_go_of_all(attempt)\n    if not isinstance", f"{_FAULTS} -k outlives",
    ),
    Mutation(
        "the envelope has no transaction of its own",
        ((SENDER, _KEPT_FIRST, "        pass"), (SENDER, _ARRIVES, _KEPT_WITH_IT)),
        f"{_ENVELOPES} -k rest",
    ),
    _one(
        "a late envelope is dropped", "cards/issuing.py",
        "if row.has_ended and row.state != State.DETAILS_LOST:", "if row.has_ended:",
        f"{_ENVELOPES} -k late",
    ),
)  # fmt: skip

DOORS = (
    _one(
        "makers approve their own", DECISIONS, "if person.pk == approval.maker_id:", "if False:",
        f"{_DECISIONS} -k TestApproving",
    ),
    # Two lines of defence: either alone still refuses.
    Mutation(
        "anybody approves",
        (
            (DECISIONS, "return person.is_active and person.has_perm(approval.permission)", "return True"),
            ("cards/scope.py", "if not (person.is_active and person.has_perm(permission)):", "if False:"),
        ),
        f"{_DECISIONS} -k roles_cannot",
    ),
    _one(
        "what was not seen is approved", DECISIONS, "    if seen != locked.facts_hash:", "    if False:",
        f"{_DECISIONS} -k seen",
    ),
    _one(
        "deposits are approved for anybody's customers", "funding/deposits.py",
        "    scope.check(by, PERMISSION, request.wallet.customer)\n    return desk.approve",
        "    return desk.approve", f"{_DECISIONS} -k customers",
    ),
    _one(
        "card orders are approved for anybody's customers", "cards/issuing.py",
        "    _check_decider(by, request)\n    return desk.approve",
        "    return desk.approve", f"{_ENVELOPES} -k checker",
    ),
    _one(
        "lists show anybody's customers", "cards/scoping.py",
        "return scope.limit(rows, the_person(request), self.scope_path)", "return rows",
        "tests/cards/test_pages_cardholders.py -k leaves_none",
    ),
    _one(
        "triggers are not installed", TRIGGERS,
        "            for statement in trigger.statements(connection.vendor):\n",
        "            for statement in ():\n", f"{_ROWS} -k installed",
    ),
    _one(
        "a second click makes a second request", DESK,
        "    if row is not None and row.maker_id != by.pk:", "    row = None\n    if row is not None:",
        "tests/funding/test_deposits.py tests/cards/test_issuing.py -k second_click",
    ),
)  # fmt: skip

EVENTS = (
    _one(
        "no signature is needed", "backoffice/endl/webhooks.py", "    if not signed:\n", "    if False:\n",
        f"{_DOOR}",
    ),
    _one(
        "an event from tomorrow is good", "backoffice/endl/webhooks.py",
        "return abs(now.timestamp() - int(text)) <=", "return now.timestamp() - int(text) <=",
        "tests/backoffice/endl/test_webhooks.py -k outside",
    ),
    _one(
        "an event is believed", "funding/webhooks.py",
        "        deposit = _reread(event, customer, endl, now)\n",
        "        deposit = _believe(event, customer, None, now)\n", f"{_EVENTS}",
    ),
    _one(
        "another body under the same id passes unseen", "funding/webhooks.py",
        'conflict = {"has_conflict": True} if row.raw_sha256 != event.raw_sha256 else {}',
        "conflict: dict[str, bool] = {}", f"{_DOOR} -k conflict",
    ),
)  # fmt: skip

LINE = (
    _one(
        "a pause is ignored", SENDER, "line.is_paused() or", "False or", f"{_PAUSES}",
    ),
    _one(
        "a hold is ignored", SENDER, " or holds.is_held(road.hold)", "",
        "tests/backoffice/delivery/test_holds.py",
    ),
    _one(
        "a wish to wait is ignored", SENDER, "if line.slow_until(now) or ", "if ",
        f"{_PAUSES}",
    ),
    _one(
        "every process has a pace of its own", PACE,
        "Line.objects.filter(pk=Line.THE_ONE).update(pace_at=next_at)", "line.pace_at = next_at", f"{_PACE}",
    ),
    _one(
        "reads go before money", PACE, "room = _ROOM if is_write else _ROOM_OF_READS", "room = _ROOM",
        f"{_PACE}",
    ),
)  # fmt: skip

ALL = (*SENDING, *UNCLEAR, *DETAILS, *DOORS, *EVENTS, *LINE)
