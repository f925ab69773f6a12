"""What rules say of plain values, tried with values that nobody would think of."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backoffice.approvals import ledger, rules, soundness
from backoffice.approvals.rules import CHECKER, COMPLIANCE, Asked, Figures, Rule, Step, Total, Wish
from tests.backoffice.approvals.rulebook import NOON, ONE, TWO, rule, total, wish

ROLES = {"deposit": frozenset({CHECKER}), "card_order": frozenset({CHECKER, COMPLIANCE})}

amounts = st.decimals("0.01", "99999.99", places=2)
ends = st.none() | amounts
steps = st.lists(st.builds(Step, st.integers(1, 3), st.sampled_from([CHECKER, COMPLIANCE])), max_size=3)
windows = st.tuples(st.sampled_from(rules.WHOSE), st.sampled_from([1, 24, 48]))
totals = st.builds(lambda window, least, most: Total(window[0], window[1], least, most), windows, ends, ends)
some_rules = st.builds(
    Rule,
    name=st.text(min_size=1, max_size=10),
    kind=st.sampled_from(["", "deposit", "card_order"]),
    currency=st.sampled_from(["", "USD", "USDC"]),
    least=ends,
    most=ends,
    customers=st.lists(st.sampled_from(["cus_a", "cus_b"]), max_size=2).map(tuple),
    is_first=st.sampled_from([None, True, False]),
    totals=st.lists(totals, max_size=2).map(tuple),
    steps=steps.map(tuple),
)
rubbish = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)
rule_sets = st.lists(some_rules, max_size=5)
wishes = st.builds(
    Wish,
    kind=st.sampled_from(["deposit", "card_order"]),
    amount=amounts,
    currency=st.sampled_from(["USD", "USDC"]),
    maker=st.integers(1, 3),
    customer=st.sampled_from(["cus_a", "cus_b"]),
    wallet=st.sampled_from(["wlt_a", "wlt_b", "wlt_c"]),
    at=st.integers(0, 100).map(lambda hours: NOON + timedelta(hours=hours)),
)
every_window = st.dictionaries(windows, amounts)


def figures(totals: dict[Any, Decimal] | None = None, *, is_first: bool = False) -> Figures:
    every = {(of, hours): Decimal(0) for of in rules.WHOSE for hours in (1, 24, 48)}
    return Figures(every | (totals or {}), is_first)


class TestTheFirstThatFitsDecides:
    @given(rule_sets, wishes, every_window, st.booleans())
    def test_whatever_comes_after_it(
        self, held: list[Rule], asked: Wish, sums: dict[Any, Decimal], first: bool
    ) -> None:
        around = figures(sums, is_first=first)
        fitting = [each for each in held if rules.fits(each, asked, around)]
        told = rules.ask(held, asked, around)
        assert told == (Asked(fitting[0].name, fitting[0].steps) if fitting else Asked("", TWO))

    @given(rule_sets, rule_sets, wishes, every_window)
    def test_rules_behind_it_change_nothing(
        self, held: list[Rule], more: list[Rule], asked: Wish, sums: dict[Any, Decimal]
    ) -> None:
        around = figures(sums)
        if any(rules.fits(each, asked, around) for each in held):
            assert rules.ask([*held, *more], asked, around) == rules.ask(held, asked, around)

    @given(wishes)
    def test_where_none_fits_two_people_besides_the_maker_decide(self, asked: Wish) -> None:
        assert rules.ask([], asked, figures()).people == 2


class TestLookingBack:
    @given(rule_sets, wishes, every_window, st.booleans())
    def test_what_decided_could_have_decided(
        self, held: list[Rule], asked: Wish, sums: dict[Any, Decimal], first: bool
    ) -> None:
        named = [replace(each, name=f"rule {number}") for number, each in enumerate(held)]
        told = rules.ask(named, asked, figures(sums, is_first=first))
        assert rules.could_ask(named, asked, told.rule) == told.steps

    @pytest.mark.parametrize(
        ("name", "steps"),
        [("large", TWO), ("sum", TWO), ("rest", None), ("small", None), ("", None), ("nobody's", None)],
    )
    def test_what_could_not_is_found_out(self, name: str, steps: Any) -> None:
        held = [
            rule("small", most="10.00", steps=()),
            rule("sum", totals=(total("maker", 24, "1.00"),), steps=TWO),
            rule("large", least="50.00", steps=TWO),
            rule("rest"),
        ]
        assert rules.could_ask(held, wish("100.00"), name) == steps


class TestEachConditionCanKeepARuleOut:
    @pytest.mark.parametrize(
        ("held", "other"),
        [
            (rule(kind="deposit"), {"kind": "card_order"}),
            (rule(currency="USDC"), {"currency": "USD"}),
            (rule(customers=("cus_a",)), {"customer": "cus_b"}),
            (rule(least="100.00"), {"amount": Decimal("99.99")}),
            (rule(most="100.00"), {"amount": Decimal("100.01")}),
        ],
    )
    def test_by_the_wish(self, held: Rule, other: dict[str, Any]) -> None:
        assert rules.fits(held, wish(), figures())
        assert not rules.fits(held, replace(wish(), **other), figures())

    @pytest.mark.parametrize("of", rules.WHOSE)
    def test_by_running_totals(self, of: str) -> None:
        held = rule(totals=(total(of, 24, "500.00", "900.00"),))
        for sum_, fits in (("499.99", False), ("500.00", True), ("900.00", True), ("900.01", False)):
            assert rules.fits(held, wish(), figures({(of, 24): Decimal(sum_)})) is fits

    @pytest.mark.parametrize("is_first", [True, False])
    def test_by_the_first_time(self, is_first: bool) -> None:
        held = rule(is_first=is_first)
        assert rules.fits(held, wish(), figures(is_first=is_first))
        assert not rules.fits(held, wish(), figures(is_first=not is_first))

    @given(some_rules, wishes, every_window, st.booleans())
    def test_all_of_them_must_hold(
        self, held: Rule, asked: Wish, sums: dict[Any, Decimal], first: bool
    ) -> None:
        around = figures(sums, is_first=first)
        alone = [
            Rule("kind", kind=held.kind), Rule("currency", currency=held.currency),
            Rule("range", least=held.least, most=held.most), Rule("customers", customers=held.customers),
            Rule("first", is_first=held.is_first), *(Rule("total", totals=(each,)) for each in held.totals),
        ]  # fmt: skip
        assert rules.fits(held, asked, around) == all(rules.fits(each, asked, around) for each in alone)


class TestAskingMore:
    @given(steps, steps)
    def test_it_is_more_when_a_role_gets_more_people(self, new: list[Step], old: list[Step]) -> None:
        def people(of: list[Step], role: str) -> int:
            return sum(step.people for step in of if step.role == role)

        expected = any(people(new, role) > people(old, role) for role in (CHECKER, COMPLIANCE))
        assert rules.asks_more(new, old) is expected

    @given(steps)
    def test_the_same_or_another_order_is_not_more(self, some: list[Step]) -> None:
        assert not rules.asks_more(some, some[::-1])


class TestAsJson:
    @given(rule_sets)
    def test_there_and_back(self, held: list[Rule]) -> None:
        assert rules.from_json(rules.as_json(held)) == tuple(held)

    @given(rubbish)
    def test_rubbish_is_refused_with_a_sentence(self, rubbish: Any) -> None:
        if rubbish == []:
            return
        with pytest.raises(rules.NotRules, match=r"^(The rules are a list|Rule \d+ has a value)"):
            rules.from_json(rubbish)

    @pytest.mark.parametrize(
        "change",
        [
            {"least": 1}, {"least": 1.5}, {"least": "NaN"}, {"most": "Infinity"}, {"most": "a lot"},
            {"is_first": "yes"}, {"steps": [{"people": "2", "role": CHECKER}]},
            {"steps": [{"people": True, "role": CHECKER}]}, {"totals": [{"of": "maker"}]}, {"name": None},
        ],
    )  # fmt: skip
    def test_values_of_the_wrong_kind_too(self, change: dict[str, Any]) -> None:
        plain = rules.as_json([rule()])
        with pytest.raises(rules.NotRules):
            rules.from_json([plain[0] | change])


class TestSoundness:
    def test_sound_rules_have_no_problems(self) -> None:
        sound = [
            rule("none", kind="deposit", most="10.00", steps=()),
            rule("both", kind="card_order", steps=(Step(1, CHECKER), Step(1, COMPLIANCE))),
            rule("rest", totals=(total("customer", 48, least="1.00"),)),
        ]
        assert soundness.problems(sound, ROLES) == []

    @pytest.mark.parametrize(
        ("unsound", "said"),
        [
            ([], "from 1 to"),
            ([rule()] * 51, "from 1 to"),
            ([rule("A"), rule(" a ")], "same name"),
            ([rule(" ")], "has a name"),
            ([rule(kind="payout")], "no requests of the kind payout"),
            ([rule(kind="deposit", steps=())], "up to which amount"),
            ([rule(most="5.00", steps=())], "for which kind"),
            ([rule(least="5.00", most="4.00")], "smaller end"),
            ([rule(least="-1")], "amounts are from 0"),
            ([rule(totals=(total("maker", 24),))], "smallest or a largest"),
            ([rule(totals=(total("maker", 0, "1"),))], "looks back"),
            ([rule(totals=(total("friend", 24, "1"),))], "of the maker, the wallet or the customer"),
            ([rule(steps=(Step(0, CHECKER),))], "asks from 1 to"),
            ([rule(steps=(Step(6, CHECKER),))], "asks from 1 to"),
            ([rule(steps=ONE * 5)], "at most 4 steps"),
            ([rule(steps=(Step(1, "janitor"),))], "janitor cannot be asked"),
            ([rule(kind="deposit", steps=(Step(1, COMPLIANCE),))], "compliance cannot be asked"),
            ([rule(steps=(Step(1, COMPLIANCE),))], "compliance cannot be asked about a deposit"),
        ],
    )
    def test_each_problem_has_its_sentence(self, unsound: list[Rule], said: str) -> None:
        assert any(said in problem for problem in soundness.problems(unsound, ROLES))


def by_hand(history: list[Wish], place: int, window: tuple[Any, int]) -> Decimal:
    """A running total, added up the slow way."""
    of, hours = window
    mine = history[place]
    return mine.amount + sum(
        (
            each.amount
            for each in history[:place]
            if each.whose(of) == mine.whose(of)
            and each.currency == mine.currency
            and each.at > mine.at - timedelta(hours=hours)
            and (each.gone_at is None or each.gone_at > mine.at)
        ),
        Decimal(0),
    )


class TestOnePassThroughTime:
    histories = st.lists(st.tuples(wishes, st.none() | st.integers(0, 50)), max_size=30).map(
        lambda pairs: sorted(
            (
                replace(
                    each, kind="deposit", gone_at=None if hours is None else each.at + timedelta(hours=hours)
                )
                for each, hours in pairs
            ),
            key=lambda each: each.at,
        )
    )

    @given(histories)
    def test_it_counts_what_adding_up_by_hand_counts(self, history: list[Wish]) -> None:
        wanted = [(of, hours) for of in rules.WHOSE for hours in (1, 24)]
        walked = list(ledger.walk(history, wanted, {}))
        for place, (_, around) in enumerate(walked):
            for window in wanted:
                assert around.totals[window] == by_hand(history, place, window)

    @given(histories)
    def test_first_is_what_has_nothing_standing_before_it(self, history: list[Wish]) -> None:
        for place, (mine, around) in enumerate(ledger.walk(history, [], {})):
            before = [each for each in history[:place] if each.wallet == mine.wallet]
            standing = [each for each in before if each.gone_at is None or each.gone_at > mine.at]
            assert around.is_first is (not standing)

    def test_a_wallet_known_from_before_is_not_first(self) -> None:
        known = {"wlt_a": None, "wlt_b": NOON - timedelta(days=1)}
        walked = list(ledger.walk([wish(), wish(wallet="wlt_b"), wish(wallet="wlt_c")], [], known))
        assert [around.is_first for _, around in walked] == [False, True, True]
