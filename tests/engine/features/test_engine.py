"""Tests on features: against the twin, and what holds whatever the numbers are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.table import DiscreteTable
from komb.engine.engine import AllSets, Power
from komb.engine.features.columns import FEW_ROWS, FeatureColumns
from komb.engine.features.feature_engine import PLAIN_BITS, FeatureEngine
from komb.engine.questions import EMPTY
from komb.search.auto import find_blanket
from komb.search.task import Task
from tests.engine.engines import on_table
from tests.naive.mixed import NaiveColumn, mixed_test

LONG = 5000

quick = settings(max_examples=12, deadline=None, derandomize=True)

KINDS = ("normal", "skewed", "ordinal", "binary", "nominal", "rare")


def draw_columns(rng: np.random.Generator, n_rows: int, kinds: list[str]) -> list[Any]:
    """Draw columns that depend on the first one, in different ways."""
    hidden = rng.normal(size=n_rows)
    drawn: list[Any] = []
    for place, kind in enumerate(kinds):
        value: Any = (hidden, hidden**2, rng.normal(size=n_rows))[place % 3] + rng.normal(
            size=n_rows
        )
        if kind == "skewed":
            value = np.exp(value)
        elif kind == "ordinal":
            value = np.digitize(value, [-0.5, 0.3, 1.2]).astype(float)
        elif kind == "binary":
            value = (value > 0.5).astype(np.int64)
        elif kind == "nominal":
            value = np.digitize(value, [-0.5, 0.8])
        elif kind == "rare":
            value = np.where(rng.random(n_rows) < 0.04, 2 + rng.integers(0, 3, n_rows), value > 0)
        drawn.append(value.astype(np.int64) if kind in {"rare", "nominal"} else value)
    return drawn


def engine_of(
    columns: list[Any], missing: list[Any] | None = None, alpha: float = 0.01
) -> FeatureEngine:
    """Make an engine for which floats are numbers and integers are levels."""
    codes, numbers = [], {}
    for place, values in enumerate(columns):
        is_missing = np.zeros(len(values), bool) if missing is None else missing[place]
        if values.dtype.kind == "f":
            numbers[place] = np.where(is_missing, np.nan, values)
            values = (values > np.median(values)).astype(np.int64)
        codes.append(np.where(is_missing, -1, values))
    table = DiscreteTable.from_codes(np.column_stack(codes), missing="testwise")
    levels = on_table(table, "auto", alpha=alpha, df="adjusted")
    return FeatureEngine(FeatureColumns.of(table, numbers, ()), levels, alpha=alpha)


def twins_of(columns: list[Any], missing: list[Any] | None = None) -> list[NaiveColumn]:
    return [
        NaiveColumn(
            [
                None if missing is not None and missing[place][row] else value
                for row, value in enumerate(values.tolist())
            ],
            values.dtype.kind != "f",
        )
        for place, values in enumerate(columns)
    ]


class TestAgainstTheTwin:
    @quick
    @given(
        st.integers(0, 2**32 - 1),
        st.integers(25, 160),
        st.lists(st.sampled_from(KINDS), min_size=2, max_size=6),
        st.booleans(),
    )
    def test_p_values_and_deciders_agree(
        self, seed: int, n_rows: int, kinds: list[str], has_missing: bool
    ) -> None:
        rng = np.random.default_rng(seed)
        kinds[0] = "normal"
        columns = draw_columns(rng, n_rows, kinds)
        missing = [rng.random(n_rows) < 0.1 for _ in columns] if has_missing else None
        engine, twins = engine_of(columns, missing), twins_of(columns, missing)
        for n_given in {0, len(columns) - 2}:
            given_set = frozenset(range(2, 2 + n_given))
            for target, candidate in ((0, 1), (1, 0)):
                outcome = engine.outcome(target, candidate, given_set)
                p_value, decider = mixed_test(twins, target, candidate, given_set)
                assert outcome.p_value == pytest.approx(p_value, rel=1e-5, abs=1e-12)
                assert outcome.reliable == (decider is not None)
                if decider is not None and p_value < 0.9:
                    assert outcome.test == decider

    def test_on_many_rows_there_is_one_degree_more(self) -> None:
        columns = draw_columns(np.random.default_rng(0), 2100, ["normal", "normal", "ordinal"])
        outcome = engine_of(columns).outcome(0, 1, frozenset({2}))
        p_value, decider = mixed_test(twins_of(columns), 0, 1, {2})
        assert outcome.p_value == pytest.approx(p_value, rel=1e-5, abs=1e-300)
        assert outcome.test == decider

    def test_curves_and_rough_functions_of_many_rows(self) -> None:
        rng = np.random.default_rng(3)
        a, b, noise, other = rng.normal(size=(4, 2250))
        target = (np.abs(a) + np.sin(3 * b) + noise > 0.8).astype(np.int64)
        columns = [target, np.maximum(a, b) + other, a, b]
        outcome = engine_of(columns).outcome(0, 1, frozenset({2, 3}))
        p_value, decider = mixed_test(twins_of(columns), 0, 1, {2, 3})
        assert outcome.p_value == pytest.approx(p_value, rel=1e-5, abs=1e-300)
        assert outcome.test == decider


def test_the_order_of_the_columns_has_no_say() -> None:
    kinds = ["normal", "skewed", "normal", "ordinal", "skewed", "normal"]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        columns, order = draw_columns(rng, 120, kinds), rng.permutation(4) + 2
        asked = columns, [*columns[:2], *(columns[place] for place in order)]
        first, second = (engine_of(own).outcome(0, 1, frozenset(range(2, 6))) for own in asked)
        assert first.p_value == pytest.approx(second.p_value, rel=1e-6)


class TestWhatConditionsExplain:
    """A target that is above a threshold of a sum of crooked functions of three conditions."""

    N_TABLES = 12

    def p_value(self, seed: int, effect: float) -> float:
        rng = np.random.default_rng(seed)
        a, b, c, noise, other = rng.normal(size=(5, 6000))
        signal = np.abs(a) + np.sin(2 * b) + np.tanh(2 * c)
        candidate = np.maximum(signal, b) + other
        target = (signal + effect * other + 0.5 * noise > 0.8).astype(np.int64)
        p_value = (
            engine_of([target, candidate, a, b, c]).outcome(0, 1, frozenset({2, 3, 4})).p_value
        )
        assert p_value is not None
        return p_value

    def test_leaves_nothing_of_a_candidate_without_effect(self) -> None:
        p_values = [self.p_value(seed, 0.0) for seed in range(self.N_TABLES)]
        assert sum(p <= 0.05 for p in p_values) <= 3

    def test_leaves_an_effect(self) -> None:
        assert self.p_value(0, 0.2) < 1e-3

    def test_a_spread_is_seen_whatever_the_conditions_do_to_the_mean(self) -> None:
        x, z, noise = np.random.default_rng(0).normal(size=(3, 1000))
        outcome = engine_of([3 * z + np.exp(0.25 * x) * noise, x, z]).outcome(0, 1, frozenset({2}))
        assert outcome.test == "quadratic"
        assert outcome.p_value is not None
        assert outcome.p_value < 1e-6


class TestWhatHoldsForAllNumbers:
    def columns(self) -> list[Any]:
        return draw_columns(
            np.random.default_rng(5), 150, ["normal", "skewed", "nominal", "ordinal"]
        )

    def answers(self, columns: list[Any]) -> list[Any]:
        engine = engine_of(columns)
        return [engine.outcome(0, 1, frozenset(z)) for z in ((), (2,), (3,), (2, 3))]

    def test_the_order_of_rows_does_not_matter_at_all(self) -> None:
        columns = self.columns()
        order = np.random.default_rng(1).permutation(150)
        assert self.answers([values[order] for values in columns]) == self.answers(columns)

    def test_monotone_transformations_change_nothing(self) -> None:
        columns = self.columns()
        changed = [np.exp(columns[0]), np.log(columns[1]) * 3, columns[2], columns[3] ** 3]
        for own, other in zip(self.answers(columns), self.answers(changed), strict=True):
            assert own.test == other.test
            assert own.p_value == pytest.approx(other.p_value, rel=1e-5)

    def test_candidates_are_answered_alike_alone_and_together(self) -> None:
        columns = draw_columns(np.random.default_rng(2), 120, [*KINDS, "normal", "skewed"])
        engine = engine_of(columns, alpha=0.5)
        candidates = list(range(1, 7))
        [together] = engine.weigh(0, [(candidates, frozenset({7}))])
        alone = [engine.weigh(0, [([x], frozenset({7}))])[0][0] for x in candidates]
        assert together == pytest.approx(alone, abs=2e-6)
        assert any(together)

    def test_levels_alone_are_counted(self) -> None:
        columns = draw_columns(np.random.default_rng(3), 200, ["normal", "nominal", "binary"])
        engine = engine_of(columns)
        codes = np.column_stack([columns[1], columns[2]])
        counted = on_table(DiscreteTable.from_codes(codes), "auto", df="adjusted")
        assert engine.outcome(1, 2, EMPTY) == counted.outcome(0, 1, EMPTY)
        assert engine.outcome(1, 2, frozenset({0})).test in {"linear", "interaction"}

    def test_a_copy_leaves_nothing_to_test(self) -> None:
        columns = self.columns()
        engine = engine_of([*columns, np.exp(columns[0])])
        outcome = engine.outcome(0, 1, frozenset({4}))
        assert outcome.independent
        assert not outcome.reliable
        assert outcome.p_value == 1.0

    def test_conditions_with_more_levels_than_rows_allow_are_unreliable(self) -> None:
        rng = np.random.default_rng(1)
        columns = [rng.normal(size=60), rng.normal(size=60), rng.permutation(60) % 5]
        several = [rng.permutation(60) % 5 for _ in range(3)]
        engine = engine_of([*columns, *several])
        assert engine.outcome(0, 1, frozenset({2})).reliable
        assert not engine.outcome(0, 1, frozenset({2, 3, 4, 5})).reliable


class TestSearch:
    @staticmethod
    def product_engine(n_rows: int = 500) -> FeatureEngine:
        """Target 0 is the sign of 1 times 2, plus 3, plus noise; 4 depends on 3, 6 on 5."""
        rng = np.random.default_rng(11)
        a, b, c, d, e, noise = rng.normal(size=(6, n_rows))
        y = np.sign(a * b) + c + 0.7 * noise
        return engine_of([y, a, b, c, c + 0.6 * d, e, (e > 0).astype(np.int64)])

    def test_a_sign_of_a_product_is_found(self) -> None:
        task = Task(target=0, candidates=frozenset(range(1, 7)))
        found = find_blanket(self.product_engine(), task)
        assert found.witnesses == {1: {2}, 2: {1}, 3: frozenset()}

    def test_strong_dependences_are_those_that_weigh_enough(self) -> None:
        engine = self.product_engine()
        pool = frozenset(range(1, 7))
        strong = engine.strong(0, AllSets(pool, pool, 1), 12.0, is_conservative=True)
        again = self.product_engine()
        expected = []
        for z in sorted(pool):
            [strengths] = again.evidence(0, [(pool - {z}, frozenset({z}))])
            expected += [(bits, x, frozenset({z})) for x, bits in strengths.items() if bits >= 12]
        assert sorted(strong) == sorted(expected)
        assert {(x, *z) for _, x, z in strong} >= {(1, 2), (2, 1)}

    def test_a_sweep_finds_what_testing_all_of_it_finds(self) -> None:
        """With so many sets that a screen comes first."""
        rng = np.random.default_rng(12)
        columns = draw_columns(rng, 300, ["normal", *KINDS, "normal", "skewed", "normal"])
        columns[0] = columns[0] + 2.0 * np.sign(columns[1] * columns[7])
        pool = frozenset(range(1, 10))
        for size in (1, 2):
            strong = engine_of(columns).strong(
                0, AllSets(pool, pool, size), 14.0, is_conservative=True
            )
            again = engine_of(columns)
            expected = []
            for given_set in map(frozenset, combinations(sorted(pool), size)):
                [strengths] = again.evidence(0, [(pool - given_set, given_set)])
                expected += [(x, given_set) for x, bits in strengths.items() if bits >= 14]
            assert {(x, z) for _, x, z in strong} == set(expected)
            assert expected

    def test_levels_are_swept_by_counting(self) -> None:
        rng = np.random.default_rng(2)
        a, b = rng.integers(0, 2, size=(2, 300))
        engine = engine_of([a ^ b, a, b, rng.normal(size=300)])
        pool = frozenset({1, 2, 3})
        strong = engine.strong(0, AllSets(pool, pool, 1), 20.0, is_conservative=True)
        assert {(x, *z) for _, x, z in strong} == {(1, 2), (2, 1)}

    def test_power_falls_with_the_share_and_with_what_conditions_leave(self) -> None:
        rng = np.random.default_rng(3)
        x, noise, other = rng.normal(size=(3, 400))
        engine = engine_of([x + noise, x, x + 0.05 * other, other])
        power = {share: Power(share, share, 50.0) for share in (0.01, 0.5)}
        assert engine.can_detect(0, 1, frozenset({3}), EMPTY, power[0.5])
        assert not engine.can_detect(0, 1, frozenset({3}), EMPTY, power[0.01])
        assert not engine.can_detect(0, 1, frozenset({2}), EMPTY, power[0.5])

    def test_power_rises_with_what_conditions_tell_of_the_target(self) -> None:
        rng = np.random.default_rng(5)
        x, noise, rest = rng.normal(size=(3, 400))
        engine = engine_of([0.4 * x + noise + 0.05 * rest, x, noise, rest])
        power = Power(0.1, 0.1, 50.0)
        assert not engine.can_detect(0, 1, frozenset({3}), EMPTY, power)
        assert engine.can_detect(0, 1, frozenset({2}), EMPTY, power)

    def test_leaks_and_determining_columns(self) -> None:
        rng = np.random.default_rng(4)
        x, noise = rng.normal(size=(2, 300))
        level = (x > 0).astype(np.int64)
        engine = engine_of([np.exp(x), x, x + noise, level, np.round(x)])
        shares = engine.explained_shares(0, [1, 2, 3])
        assert shares[0] == pytest.approx(1.0)
        assert 0.2 < shares[1] < 0.8
        assert engine.explained_shares(3, [1])[0] > 0.95
        assert not engine.determines(frozenset({1}), 3, min_rows=2.0)  # each value once
        assert not engine.determines(frozenset({4}), 3, min_rows=2.0)
        assert engine.determines(frozenset({3}), 3, min_rows=2.0)


class TestManyRows:
    def test_what_is_plain_in_a_few_rows_counts_for_all(self) -> None:
        columns = draw_columns(np.random.default_rng(3), LONG, ["normal", "nominal", "normal"])
        engine = engine_of(columns)
        few, ratio = engine._few, LONG / FEW_ROWS
        assert few is not None
        assert few.n_rows == FEW_ROWS
        for target, x, given_set in ((0, 1, {2}), (1, 0, {2}), (0, 2, {1}), (2, 0, {1})):
            condition = frozenset(given_set)
            [bits] = engine.evidence(target, [({x}, condition)])
            [in_few] = few.evidence(target, [({x}, condition)])
            in_all = -np.log2(max(engine.outcome(target, x, condition).p_value or 0.0, 1e-300))
            is_plain = in_few.get(x, 0.0) >= PLAIN_BITS
            expected = ratio * in_few[x] if is_plain else in_all if x in bits else 0.0
            assert bits.get(x, 0.0) == pytest.approx(expected, rel=1e-6)

    def test_what_was_asked_before_counts_as_work_again(self) -> None:
        engine = engine_of(draw_columns(np.random.default_rng(4), LONG, ["normal"] * 3))
        spent = []
        for _ in range(2):
            engine.evidence(0, [({1, 2}, EMPTY), ({1}, frozenset({2}))])
            spent.append(engine.allowance.spent)
        assert spent[1] == 2 * spent[0] > 0

    def test_no_subsets_are_looked_at_once_nothing_is_left(self) -> None:
        engine = engine_of(draw_columns(np.random.default_rng(5), 300, ["normal"] * 6))
        engine.allowance.most = -1.0
        least, separated = engine.weakest(0, {1: 9.0, 2: 9.0}, frozenset({3, 4, 5}), 2)
        assert (least, separated) == ({1: 9.0, 2: 9.0}, {})
        assert engine.work.tests == 0
