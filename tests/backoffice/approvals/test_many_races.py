"""Fifty clients who decide, reject, cancel and take roles at the same moment, round after round.

The suite runs a short form; `make races` runs a thousand rounds of each.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from backoffice.access import people, roles
from backoffice.access.models import User
from backoffice.approvals import gate, limits
from backoffice.approvals.gate import NoLongerGood
from backoffice.approvals.models import Decision
from backoffice.audit.models import Entry
from backoffice.audit.trail import NotAllowed, Refusal
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.people import a_person
from tests.wishes import a_deposit

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.timeout(3600),
    pytest.mark.django_db(transaction=True),
]
ROUNDS = int(os.environ.get("RACE_ROUNDS", "50"))
CLIENTS = 50
Deed = Callable[[DepositRequest], Any]


@dataclass
class Race:
    """Pairs of clients, each pair on a request of its own, all pairs at the same time."""

    wallet: Wallet
    maker: User
    pairs: int = CLIENTS // 2
    wrong: list[str] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)

    def run(
        self,
        rounds: int,
        deeds: Callable[[int], tuple[Deed, Deed]],
        judge: Callable[..., str],
        *,
        before: Callable[[int], None] = lambda slot: None,
    ) -> None:
        """Do both deeds to a fresh request, `rounds` times; the judge says how it ended, or what is wrong."""
        left = iter(range(rounds))
        lock = threading.Lock()
        # The other half of each pair: a client of its own, with a connection that stays open.
        with ThreadPoolExecutor(self.pairs) as seconds, ThreadPoolExecutor(self.pairs) as firsts:

            def play(slot: int) -> None:
                first, second = deeds(slot)
                while True:
                    with lock:
                        if next(left, None) is None:
                            return
                    before(slot)
                    self._round(first, second, seconds, judge)

            for done in [firsts.submit(play, slot) for slot in range(self.pairs)]:
                done.result()
            for pool in (seconds, firsts):
                _hang_up(pool, self.pairs)

    def _round(
        self, first: Deed, second: Deed, seconds: ThreadPoolExecutor, judge: Callable[..., str]
    ) -> None:
        wish = a_deposit(self.wallet, by=self.maker, now=timezone.now(), amount="1.00")
        start = threading.Barrier(2)
        other = seconds.submit(_try, second, wish.pk, start)
        mine = _try(first, wish.pk, start)
        try:
            now = DepositRequest.objects.select_related("approval", "wallet__customer").get(pk=wish.pk)
            self.ended[judge(now, mine, other.result())] += 1
        except AssertionError as problem:
            self.wrong.append(f"{wish.pk}: {problem}")


def _try(deed: Deed, pk: int, start: threading.Barrier) -> Any:
    wish = DepositRequest.objects.select_related("approval", "wallet__customer").get(pk=pk)
    start.wait(timeout=60)
    try:
        return deed(wish)
    except Exception as problem:  # noqa: BLE001  (the judge looks at whatever it was)
        return problem


def _hang_up(pool: ThreadPoolExecutor, clients: int) -> None:
    together = threading.Barrier(clients)

    def leave() -> None:
        together.wait(timeout=60)
        connections.close_all()

    for done in [pool.submit(leave) for _ in range(clients)]:
        done.result()


def approving(by: User) -> Deed:
    return lambda wish: deposits.approve_deposit(request=wish, by=by, seen=_seen(wish), now=timezone.now())


def rejecting(by: User) -> Deed:
    return lambda wish: deposits.reject_deposit(
        request=wish, by=by, seen=_seen(wish), reason="No", now=timezone.now()
    )


def cancelling(by: User) -> Deed:
    return lambda wish: deposits.cancel_deposit(request=wish, by=by, now=timezone.now())


def revoking(person: User, by: User) -> Deed:
    return lambda _wish: people.take_role(person=person, role=roles.FINANCE_CHECKER, reason="Moved", by=by)


def _seen(wish: DepositRequest) -> str:
    assert wish.approval is not None
    return wish.approval.facts_hash


def the_loser(*outcomes: Any) -> Refusal:
    """Exactly one lost, by a refusal and by nothing else."""
    lost = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert len(lost) == 1, f"{len(lost)} lost: {lost}"
    assert isinstance(lost[0], Refusal), repr(lost[0])
    return lost[0]


def one_decided(wish: DepositRequest, first: Any, second: Any) -> str:
    """One decision; approval and request say the same as it; the loser is told who was first."""
    lost = the_loser(first, second)
    assert wish.approval is not None
    [decision] = wish.approval.decisions.select_related("person")
    state = {"approve": "approved", "reject": "rejected"}[decision.verdict]
    assert (wish.state, wish.approval.state) == (state, state)
    assert f"{decision.person} was first" in lost.sentence, lost.sentence
    assert _entries(wish) == {"done": 1, "refused": 1}, _entries(wish)
    return f"{decision.verdict} by {decision.person}"


def cancelled_in_the_end(wish: DepositRequest, first: Any, second: Any) -> str:
    """Whoever was first, it is cancelled; a decision stands only where it came before."""
    assert not isinstance(first, Exception), repr(first)
    assert wish.approval is not None
    assert (wish.state, wish.approval.state) == ("cancelled", "cancelled")
    decided = wish.approval.decisions.count()
    if isinstance(second, Exception):
        assert isinstance(second, Refusal), repr(second)
        assert decided == 0
        return "cancelled first"
    assert decided == 1
    return "approved first"


def revoked_in_time(wish: DepositRequest, first: Any, second: Any) -> str:
    """Without the role the approval is refused; given before, it does not hold at the last gate."""
    assert not isinstance(first, Exception), repr(first)
    assert wish.approval is not None
    if isinstance(second, Exception):
        assert isinstance(second, NotAllowed), repr(second)
        assert (wish.state, wish.approval.state, wish.approval.decisions.count()) == (
            "requested",
            "pending",
            0,
        )
        return "revoked first"
    with pytest.raises(NoLongerGood):
        gate.check_still_good(wish.approval, deposits.facts_of(wish), has_started=False, now=timezone.now())
    return "approved first"


def _entries(wish: DepositRequest) -> dict[str, int]:
    told = Entry.objects.filter(
        object_type="funding.depositrequest",
        object_id=str(wish.pk),
        verb__in=("deposit.approve", "deposit.reject"),
    )
    return dict(Counter(told.values_list("result", flat=True)))


@pytest.fixture
def race(wallet: Wallet, maker: User) -> Iterator[Race]:
    running = Race(wallet, maker)
    yield running
    assert running.wrong == []
    assert sum(running.ended.values()) == ROUNDS
    # A race that always ends the same way is none.
    assert len(running.ended) > 1 or ROUNDS < 50, running.ended


def test_approve_and_approve(race: Race, checker: User, checker2: User) -> None:
    race.run(ROUNDS, lambda slot: (approving(checker), approving(checker2)), one_decided)


def test_approve_and_reject(race: Race, checker: User, checker2: User) -> None:
    race.run(ROUNDS, lambda slot: (approving(checker), rejecting(checker2)), one_decided)


def test_cancel_and_approve(race: Race, maker: User, checker: User) -> None:
    race.run(ROUNDS, lambda slot: (cancelling(maker), approving(checker)), cancelled_in_the_end)


def test_revoke_and_approve(race: Race, administrator: User) -> None:
    checkers = [a_person(f"checker of slot {slot}", roles.FINANCE_CHECKER) for slot in range(race.pairs)]

    def give_back(slot: int) -> None:
        if not checkers[slot].groups.exists():
            people.give_role(
                person=checkers[slot], role=roles.FINANCE_CHECKER, reason="Back", by=administrator
            )

    def deeds(slot: int) -> tuple[Deed, Deed]:
        return revoking(checkers[slot], administrator), approving(checkers[slot])

    race.run(ROUNDS, deeds, revoked_in_time, before=give_back)


def test_one_person_at_their_limit(
    wallet: Wallet, maker: User, checker: User, administrator: User, now: datetime
) -> None:
    """Fifty approvals of one person at the same moment: as many pass as the day holds."""
    limits.set_limit(
        person=checker, currency="USDC", per_decision=Decimal(1), per_day=Decimal(10), reason="A test",
        by=administrator, now=now,
    )  # fmt: skip
    wishes = [a_deposit(wallet, by=maker, now=timezone.now(), amount="1.00").pk for _ in range(CLIENTS)]
    start = threading.Barrier(CLIENTS)
    with ThreadPoolExecutor(CLIENTS) as pool:
        outcomes = list(pool.map(lambda pk: _try(approving(checker), pk, start), wishes))
        _hang_up(pool, CLIENTS)
    lost = Counter(type(each).__name__ for each in outcomes if isinstance(each, Exception))
    assert lost == {"OverLimit": CLIENTS - 10}
    assert Decision.objects.filter(person=checker).count() == 10
    used = [made.used_before for made in Decision.objects.order_by("used_before")]
    assert used == list(range(10))


def test_pieces_of_a_large_deposit_at_the_same_moment(wallet: Wallet, maker: User) -> None:
    """Fifty requests of one maker at the same moment: each counts those before it."""
    start = threading.Barrier(CLIENTS)

    def ask(_number: int) -> str:
        start.wait(timeout=60)
        return str(a_deposit(wallet, by=maker, now=timezone.now(), amount="1000.00").approval.rule)  # type: ignore[union-attr]

    with ThreadPoolExecutor(CLIENTS) as pool:
        ruled = Counter(pool.map(ask, range(CLIENTS)))
        _hang_up(pool, CLIENTS)
    assert ruled == {"deposit": 9, "deposits of one maker that add up": CLIENTS - 9}
