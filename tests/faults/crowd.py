"""Many people at the same moment: two who decide, a double click, ten thousand posts of one approval."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from django.utils import timezone

from backoffice.approvals.models import Approval, Decision
from backoffice.audit.models import Entry
from funding.models import DepositRequest
from tests import wishes
from tests.faults.browser import Browser, Line, Said, at_once
from tests.faults.desk import MODELS, History, Place
from tests.faults.judge import Bad
from tests.faults.report import Outcome
from tests.faults.stage import Group, Stage

ROUNDS, QUICK_ROUNDS = 20, 3
POSTS, QUICK_POSTS = 10_000, 400
CONNECTIONS = 50
# What a person who was not first may be kept waiting, 99 times of 100.
LONGEST_SECONDS = 2.0
REQUESTS = "/admin/funding/depositrequest/"


def groups(quick: bool) -> list[Group]:
    """All of them; the short form has fewer rounds."""
    rounds, posts = (QUICK_ROUNDS, QUICK_POSTS) if quick else (ROUNDS, POSTS)
    cells: dict[str, Callable[[Stage], Iterator[Outcome]]] = {
        "crowd two approvers at once": partial(_two_people, "approve", "approve", rounds),
        "crowd approve and reject at once": partial(_two_people, "approve", "reject", rounds),
        "crowd cancel and approve at once": partial(_cancel_and_approve, rounds),
        **{f"crowd double click x {kind}": partial(_double_click, kind, rounds) for kind in MODELS},
        f"crowd {posts} posts of one approval": partial(_everybody, posts),
    }
    return [Group((name,), play) for name, play in cells.items()]


def _ask(stage: Stage, place: Place) -> DepositRequest:
    return wishes.a_deposit(place.wallet, by=stage.desk.people["maker"], now=timezone.now())


def _decision(wish: DepositRequest, verdict: str) -> tuple[str, dict[str, str]]:
    fields = {"seen": wishes.approval_of(wish).facts_hash, "reason": "In a crowd", "verdict": verdict}
    return f"{REQUESTS}{wish.pk}/decide/", fields


def _two_people(first: str, second: str, rounds: int, stage: Stage) -> Iterator[Outcome]:
    place = stage.desk.place()
    one, other = stage.browser("checker"), stage.browser("checker2")
    histories: list[History] = []
    more: list[Bad] = []
    for _ in range(rounds):
        wish = _ask(stage, place)
        (path, yes), (_, no) = _decision(wish, first), _decision(wish, second)
        said = at_once([partial(one.post, path, yes), partial(other.post, path, no)])
        histories.append(History("deposit", wish.pk))
        more += [*_broken(said), *_decided_wrongly(wish)]
    recovery = stage.settle(histories, since=time.monotonic())
    yield stage.close(f"crowd {_title(first, second)} at once", histories, recovery=recovery, more=more)


def _title(first: str, second: str) -> str:
    return "two approvers" if first == second else f"{first} and {second}"


def _cancel_and_approve(rounds: int, stage: Stage) -> Iterator[Outcome]:
    place = stage.desk.place()
    maker, checker = stage.browser("maker"), stage.browser("checker")
    histories: list[History] = []
    more: list[Bad] = []
    for _ in range(rounds):
        wish = _ask(stage, place)
        path, yes = _decision(wish, "approve")
        cancel = partial(maker.post, f"{REQUESTS}{wish.pk}/cancel/", {"reason": ""})
        more += _broken(at_once([cancel, partial(checker.post, path, yes)]))
        histories.append(History("deposit", wish.pk))
    recovery = stage.settle(histories, since=time.monotonic())
    yield stage.close("crowd cancel and approve at once", histories, recovery=recovery, more=more)


def _double_click(kind: str, rounds: int, stage: Stage) -> Iterator[Outcome]:
    browser = stage.browser("maker" if kind == "deposit" else "manager")
    histories: list[History] = []
    more: list[Bad] = []
    for _ in range(rounds):
        path, fields = form_of(kind, stage.desk.place())
        more += _broken(at_once([partial(browser.post, path, fields, Line(browser.port)) for _ in range(3)]))
        made = list(MODELS[kind]._default_manager.filter(form_token=fields["form_token"]))
        if len(made) != 1:
            more.append(Bad("doubled", f"Three clicks on one page made {len(made)} requests."))
        histories += [History(kind, row.pk) for row in made]
    if kind == "deposit":
        _approve_all(stage, histories)
    recovery = stage.settle(histories, since=time.monotonic())
    yield stage.close(f"crowd double click x {kind}", histories, recovery=recovery, more=more)


def form_of(kind: str, place: Place) -> tuple[str, dict[str, str]]:
    """Where a person asks for something of a kind, and what they fill in."""
    token = {"form_token": secrets.token_hex(16)}
    if kind == "deposit":
        return f"{REQUESTS}add/", {
            "wallet": str(place.wallet.pk),
            "amount": "12.50",
            "chain": "",
            "note": "",
            **token,
        }
    if kind == "card":
        fields = {"cardholder": str(place.cardholder.pk), "amount": "19.99", "purpose": "A train ticket"}
        return "/admin/cards/cardorder/add/", {**fields, **token}
    person = {"first_name": "Omar", "last_name": "Diaz", "email": f"{secrets.token_hex(6)}@example.com"}
    fields = {"customer": str(place.customer.pk), "phone": "+12025550179", **person}
    return "/admin/cards/cardholderrequest/add/", {**fields, **token}


def _approve_all(stage: Stage, histories: list[History]) -> None:
    checker = stage.browser("checker")
    for history in histories:
        path, yes = _decision(history.row, "approve")
        checker.post(path, yes)


def _everybody(posts: int, stage: Stage) -> Iterator[Outcome]:
    """Fifty connections post the same approval, over and over; one of them is first."""
    wish = _ask(stage, stage.desk.place())
    path, yes = _decision(wish, "approve")
    browsers = [stage.browser("checker"), stage.browser("checker2")]
    said: list[Said] = []
    left = threading.Semaphore(posts)

    def post_on(browser: Browser) -> None:
        line, mine = Line(browser.port), []
        while left.acquire(blocking=False):
            mine.append(browser.post(path, yes, line))
        said.extend(mine)

    threads = [threading.Thread(target=post_on, args=(browsers[n % 2],)) for n in range(CONNECTIONS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - began
    history = History("deposit", wish.pk)
    recovery = stage.settle([history], since=time.monotonic())
    slow = sorted(answer.seconds for answer in said)[int(len(said) * 0.99)]
    more = [*_broken(said), *_decided_wrongly(wish)]
    # The short form runs beside whatever else a build server does.
    if slow > LONGEST_SECONDS * (2 if stage.is_quick else 1):
        more.append(Bad("stuck", f"The losers waited: p99 is {slow:.2f} s."))
    statuses = dict(Counter(answer.status for answer in said))
    note = f"p99 {slow:.2f} s, {len(said) / took:.0f} a second, statuses {statuses}"
    yield stage.close(
        f"crowd {posts} posts of one approval", [history], recovery=recovery, more=more, note=note
    )


def _broken(said: list[Said]) -> list[Bad]:
    """Pages that broke; busy for a moment (503) is an answer."""
    broken = [answer for answer in said if answer.status in (0, 500)]
    return [Bad("misstated", f"{len(broken)} of {len(said)} posts got a broken page.")] if broken else []


def _decided_wrongly(wish: DepositRequest) -> Iterator[Bad]:
    approval = wishes.approval_of(wish)
    decisions = Decision.objects.filter(approval=approval).count()
    if decisions != 1 or approval.state not in (Approval.State.APPROVED, Approval.State.REJECTED):
        yield Bad("misstated", f"{decisions} decisions; the approval is {approval.state}.")
    done = Entry.objects.filter(
        object_type="funding.depositrequest", object_id=str(wish.pk), result=Entry.Result.DONE,
        verb__in=("deposit.approve", "deposit.reject"),
    ).count()  # fmt: skip
    if done != 1:
        yield Bad("misstated", f"{done} decisions stand in the trail.")
