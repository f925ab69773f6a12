"""What other rules would have done to the last 90 days; and what people usually ask for."""

import time
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from backoffice.access.models import User
from backoffice.approvals import books, policies, rehearsal, rules, usual
from backoffice.approvals.models import Approval
from backoffice.approvals.rules import CHECKER, Step
from cards.models import Cardholder
from funding import deposits
from funding.models import DepositRequest, Wallet
from tests.backoffice.approvals.desk import approve
from tests.backoffice.approvals.rulebook import TWO, rule, total
from tests.wishes import a_deposit, an_order, approval_of


def words(told: rehearsal.Rehearsal) -> dict[str, list[str]]:
    lists = {"caught": told.caught, "freed": told.freed, "changed": told.changed}
    return {name: [f"{each.wish.amount:.2f} {each.word}" for each in moved] for name, moved in lists.items()}


class TestRehearsing:
    def test_the_active_rules_move_nothing(
        self, wallet: Wallet, cardholder: Cardholder, maker: User, manager: User, now: datetime
    ) -> None:
        a_deposit(wallet, by=maker, now=now)
        an_order(cardholder, by=manager, now=now)
        told = rehearsal.rehearse(policies.first_rules(), now=now)
        assert (told.looked_at, words(told)) == (2, {"caught": [], "freed": [], "changed": []})
        assert told.by_rule == {"deposit": 1, policies.CEILING_RULE: 1}

    def test_newly_caught_no_longer_caught_and_changed(
        self, wallet: Wallet, cardholder: Cardholder, maker: User, manager: User, now: datetime
    ) -> None:
        for amount in ("5.00", "50.00", "500.00"):
            a_deposit(wallet, by=maker, now=now, amount=amount)
        for cents in (10_00, 999_00):
            an_order(cardholder, by=manager, now=now, cents=cents)
        proposed = [
            rule("small", kind="deposit", most="10.00", steps=()),
            rule("middle", kind="deposit", most="100.00"),
            rule("large", kind="deposit", steps=TWO),
            rule("order", kind="card_order", least="500.00"),
            rule("small order", kind="card_order", most="499.99", steps=()),
        ]
        told = rehearsal.rehearse(proposed, now=now)
        assert words(told) == {
            "caught": ["999.00 caught"],
            "freed": ["5.00 freed"],
            "changed": ["500.00 more"],
        }
        assert told.sums["freed", "USDC"] == 5

    def test_figures_are_those_of_the_time(
        self, wallet: Wallet, maker: User, checker: User, now: datetime
    ) -> None:
        """The second is made while the first stands, the third when the first was turned down."""
        first = a_deposit(wallet, by=maker, now=now - timedelta(days=10), amount="60.00")
        a_deposit(wallet, by=maker, now=now - timedelta(days=10, hours=-1), amount="60.00")
        deposits.reject_deposit(
            request=first, by=checker, seen=approval_of(first).facts_hash, reason="No",
            now=now - timedelta(days=10, hours=-2),
        )  # fmt: skip
        a_deposit(wallet, by=maker, now=now - timedelta(days=10, hours=-3), amount="30.00")
        held = [rule("sum", kind="deposit", totals=(total("wallet", 24, "100.00"),), steps=TWO), rule("rest")]
        told = rehearsal.rehearse(held, now=now)
        assert [each.wish.at for each in told.changed] == [now - timedelta(days=10, hours=-1)]

    def test_what_is_older_than_90_days_is_looked_at_for_sums_only(
        self, wallet: Wallet, maker: User, now: datetime
    ) -> None:
        a_deposit(wallet, by=maker, now=now - timedelta(days=90, hours=1), amount="60.00")
        a_deposit(wallet, by=maker, now=now - timedelta(days=89, hours=23), amount="60.00")
        held = [
            rule("sum", kind="deposit", totals=(total("maker", 24, "100.00"),), steps=TWO),
            rule("first", is_first=True, steps=(Step(3, CHECKER),)),
            rule("rest"),
        ]
        told = rehearsal.rehearse(held, now=now)
        assert (told.looked_at, told.by_rule) == (1, {"sum": 1})

    def test_the_load_is_shared_as_it_was(
        self, wallet: Wallet, maker: User, checker: User, checker2: User, now: datetime
    ) -> None:
        for by in (checker, checker, checker, checker2):
            approve(a_deposit(wallet, by=maker, now=now), by, now)
        told = rehearsal.rehearse([rule("two", steps=TWO)], now=now)
        [load] = [each for each in told.loads if each.permission == deposits.PERMISSION]
        assert (load.role, load.before, load.after) == (CHECKER, 4, 8)
        shares = [(each.person, each.made, int(each.before), int(each.after)) for each in load.people]
        assert shares == [(checker, 3, 3, 6), (checker2, 1, 1, 2)]

    def test_it_writes_nothing(self, wish: DepositRequest, now: datetime) -> None:
        rehearsal.rehearse([rule("two", steps=TWO)], now=now)
        assert policies.active().version == 1
        assert approval_of(wish).state == Approval.State.PENDING

    def test_one_by_one_says_the_same(
        self, wallet: Wallet, cardholder: Cardholder, maker: User, manager: User, now: datetime
    ) -> None:
        """What a rehearsal says of a request is what the rules said when it was made."""
        for hour in range(12):
            at = now - timedelta(hours=34 - hour * 3)
            a_deposit(wallet, by=maker, now=at, amount=f"{900 + hour * 700}.00")
            an_order(cardholder, by=manager, now=at, cents=800_00)
        told = rehearsal.rehearse([rule("three", steps=(Step(3, CHECKER),))], now=now)
        for moved in (*told.caught, *told.changed):
            book = books.book_of(moved.wish.kind)
            approval = book.model.objects.get(pk=moved.wish.key).approval
            assert (approval.rule, approval.needed) == (moved.old.rule, moved.old.people)
        assert len(told.caught) + len(told.changed) == 24

    def test_ten_thousand_requests_take_seconds(
        self, wish: DepositRequest, maker: User, now: datetime
    ) -> None:
        many(wish, 10_000, now)
        began = time.monotonic()
        told = rehearsal.rehearse([rule("two", steps=TWO, totals=(total("wallet", 48, "1"),))], now=now)
        assert told.looked_at == 10_001
        assert time.monotonic() - began < 10


def many(wish: DepositRequest, count: int, now: datetime) -> None:
    """Copies of a deposit over the last 89 days, each with an approval of its own."""
    approval = approval_of(wish)
    copies = [Approval(**{**_columns(approval), "id": None}) for _ in range(count)]
    made = Approval.objects.bulk_create(copies, batch_size=2000)
    rows = []
    for number, each in enumerate(made):
        at = now - timedelta(minutes=number * 89 * 1440 // count)
        row = DepositRequest(**{**_columns(wish), "id": None, "approval_id": each.pk})
        row.created_at = row.state_at = at
        row.form_token, row.idempotency_key = f"copy {number}", f"office-copy-of-a-test-{number:06}"
        rows.append(row)
    DepositRequest.objects.bulk_create(rows, batch_size=2000)


def _columns(row: Approval | DepositRequest) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


class TestWhatIsUsual:
    def test_middle_and_upper_end_over_30_and_90_days(
        self, wallet: Wallet, maker: User, now: datetime
    ) -> None:
        for day, amount in ((80, "400.00"), (20, "10.00"), (10, "20.00"), (5, "40.00")):
            a_deposit(wallet, by=maker, now=now - timedelta(days=day), amount=amount)
        this = a_deposit(wallet, by=maker, now=now, amount="9000.00")
        wish = books.book_of("deposit").wish_of(this)
        for of in rules.WHOSE:
            month, quarter = usual.usual(of, wish, now=now)
            assert (month.days, month.count, month.median, month.p95) == (30, 3, Decimal(20), Decimal(40))
            assert (quarter.count, quarter.median, quarter.p95) == (4, Decimal(30), Decimal(400))
            assert quarter.total == 470

    def test_nothing_yet(self, wish: DepositRequest, now: datetime) -> None:
        month, _ = usual.usual("maker", books.book_of("deposit").wish_of(wish), now=now)
        assert (month.count, month.median, month.p95) == (0, None, None)

    def test_orders_count_for_their_cardholder(
        self, cardholder: Cardholder, manager: User, now: datetime
    ) -> None:
        an_order(cardholder, by=manager, now=now, cents=12_34)
        order = an_order(cardholder, by=manager, now=now, cents=99_99)
        month, _ = usual.usual("wallet", books.book_of("card_order").wish_of(order), now=now)
        assert (month.count, month.median) == (1, Decimal("12.34"))

    @pytest.mark.parametrize(("count", "expected"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95)])
    def test_the_95th_of_100(self, count: int, expected: int) -> None:
        assert usual.percentile([Decimal(each) for each in range(1, count + 1)], 95) == expected
