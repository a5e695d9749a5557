"""What every test of the registry promises, and that a test needs no more than `measure`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import CITest, Measurement, TestOptions, TestSums
from komb.citests import tests as registered
from komb.citests.contract import AnyTest
from komb.citests.registry import make_test, statistic_symbol
from komb.data.table import DiscreteTable
from komb.engine.engine import AllSets, Power
from komb.engine.questions import EMPTY, subsets
from tests.engine.engines import on_table
from tests.engine.tables import LOW_KIND, make_table, tables, with_missing

every_name = pytest.mark.parametrize("name", list(registered()))


# ---------------------------------------------------------------------------------------- promises


@every_name
def test_every_test_derives_from_the_contract(name: str) -> None:
    info = registered()[name]
    assert issubclass(info.implementation, AnyTest)
    assert isinstance(make_test(name), info.implementation)
    assert info.is_random == info.implementation.is_random
    note = info.implementation.unreliable_note.format(tests="3 of 120 tests", test=name)
    assert "3 of 120 tests" in note
    assert "{" not in note


@every_name
def test_no_p_value_is_smaller_than_the_smallest(name: str) -> None:
    smallest = make_test(name).smallest_p_value
    assert 0 <= smallest < 0.01
    p_value = on_table(make_table([2, "copy"], 2000, seed=0), name).outcome(0, 1, EMPTY).p_value
    assert p_value is None or p_value >= smallest


# ------------------------------------------------------------------------------ a test of one's own


class OnlyMeasure(CITest):
    """G, without anything that a test need not have."""

    def measure(self, sums: TestSums) -> Measurement:
        freedom = (sums.levels - 1) * (sums.target_levels - 1) * sums.strata
        g = np.maximum(2 * math.log(2) * sums.gain, 0)
        return Measurement(g, freedom, sums.is_thick, "mine")


class WithFallback(CITest):
    """Code lengths where a table has few rows, as in test g-sci."""

    fallback = "sci"

    def measure(self, sums: TestSums) -> Measurement:
        by_g = OnlyMeasure(self.options).measure(sums)
        saved = sums.gain + np.maximum(sums.candidate_saving, sums.target_saving)
        saved[np.abs(saved) < 1e-9] = 0.0
        return Measurement(
            np.where(sums.is_thick, by_g.statistic, saved),
            np.where(sums.is_thick, by_g.freedom, -1),
            sums.has_rows_per_cell(1.0),
            np.where(sums.is_thick, "g", "sci"),
        )


class AdjustedPearson(CITest):
    """Pearson's statistic by the sums over tables."""

    def measure(self, sums: TestSums) -> Measurement:
        statistic = np.maximum(sums.pearson, 0.0)
        return Measurement(statistic, sums.adjusted_freedom, sums.is_thick, "chi2")


OWN = [(OnlyMeasure, "g", "observed"), (WithFallback, "g-sci", "observed"),
       (AdjustedPearson, "chi2", "adjusted")]  # fmt: skip


def test_a_test_without_measure_is_none() -> None:
    class Nothing(CITest):
        pass

    with pytest.raises(TypeError, match="measure"):
        Nothing(TestOptions())  # type: ignore[abstract]


def test_the_contract_has_defaults_for_the_rest() -> None:
    test = OnlyMeasure(TestOptions(alpha=0.05))
    assert test.options.alpha == 0.05
    assert not any((test.takes_numbers, test.has_df_rule, test.is_random))
    assert test.smallest_p_value == 0
    assert test.fallback is None
    assert statistic_symbol("mine") == "mine"


@pytest.mark.parametrize(("own", "name", "df"), OWN)
@pytest.mark.parametrize("share", [0.0, 0.1])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(tables(kinds=LOW_KIND, n_rows=(20, 200), n_columns=(4, 6)), st.integers(0, 10**6))
def test_it_answers_as_the_test_of_komb(
    own: Any, name: str, df: str, share: float, table: DiscreteTable, seed: int
) -> None:
    """All questions, of a test that measures the same from sums."""
    if share:
        table = with_missing(table, [share] * table.n_columns, seed)
    mine, theirs = on_table(table, own, alpha=0.1), on_table(table, name, df=df, alpha=0.1)
    pool = frozenset(range(1, table.n_columns))
    questions = [(pool, z) for z in subsets(pool, 2)]
    for found, expected in zip(
        mine.evidence(0, questions), theirs.evidence(0, questions), strict=True
    ):
        assert found == pytest.approx(expected, rel=1e-9)
        assert list(found) == list(expected)
    for counted in ("tests", "fallbacks", "unreliable"):
        assert getattr(mine.work, counted) == getattr(theirs.work, counted)
    assert mine.separators(0, pool, pool, 2) == theirs.separators(0, pool, pool, 2)
    everything = AllSets(pool, pool, 1)
    strong = [engine.strong(0, everything, 4.0, is_conservative=True) for engine in (mine, theirs)]
    assert {test[1:] for test in strong[0]} == {test[1:] for test in strong[1]}
    tests = [(x, z) for _, z in questions for x in sorted(pool - z)]
    for (x, z), ours, other in zip(
        tests, mine.outcomes(0, tests), theirs.outcomes(0, tests), strict=True
    ):
        assert (ours.independent, ours.reliable) == (other.independent, other.reliable)
        assert ours.statistic == pytest.approx(other.statistic, rel=1e-9, abs=1e-9)
        assert ours.df == other.df
        assert (ours.p_value is None) == (other.p_value is None)
        assert ours.p_value is None or ours.p_value == pytest.approx(other.p_value, rel=1e-9)
        for share_seen in (0.05, 0.5):
            power = Power(share_seen, 3 * share_seen, 50.0)
            witness = z - {max(z)} if z else z
            assert mine.can_detect(0, x, z, witness, power) == theirs.can_detect(
                0, x, z, witness, power
            )
    for z in (frozenset({1}), frozenset({1, 2})):
        assert mine.determines(z, 0, 1.0) == theirs.determines(z, 0, 1.0)
    assert mine.explained_shares(0, sorted(pool)) == theirs.explained_shares(0, sorted(pool))
    assert (mine.n_rows, mine.alpha) == (theirs.n_rows, theirs.alpha)
    assert list(mine.n_levels) == list(theirs.n_levels)


def test_covariates_are_given() -> None:
    table = make_table([2, 3, "parity", 2, 2], 300, seed=5)
    held, plain = on_table(table, OnlyMeasure, given=frozenset({3})), on_table(table, OnlyMeasure)
    assert held.outcome(2, 0, EMPTY) == plain.outcome(2, 0, frozenset({3}))
    assert held.n_strata == 2
    power = Power(0.1, 0.3, 50.0)
    expected = plain.can_detect(2, 0, frozenset({1, 3}), frozenset({3}), power)
    assert held.can_detect(2, 0, frozenset({1}), EMPTY, power) == expected
    copy = make_table([2, "copy", 2], 100, seed=0)
    assert on_table(copy, OnlyMeasure, given=frozenset({0})).determines(frozenset({2}), 1, 1.0)
    assert not on_table(copy, OnlyMeasure).determines(frozenset({2}), 1, 1.0)


def test_what_one_batch_was_asked_for_is_counted_at_once_in_the_next() -> None:
    calls: list[tuple[bool, bool]] = []

    class Greedy(WithFallback):
        def measure(self, sums: TestSums) -> Measurement:
            count = sums.source.counter.count

            def counted(*args: Any, wants_pearson: bool, wants_lengths: bool) -> Any:
                calls.append((wants_pearson, wants_lengths))
                return count(*args, wants_pearson=wants_pearson, wants_lengths=wants_lengths)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sums.source.counter, "count", counted)
                return super().measure(sums)

    engine = on_table(make_table([3] * 5, 60, seed=0), Greedy)
    engine.dependents(0, {1, 2}, EMPTY)
    engine.dependents(0, {1, 2}, frozenset({3}))
    assert calls == [(False, False), (False, True), (False, True)]
