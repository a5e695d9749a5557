"""Test "auto": against its twin, on thin tables and thick ones, alone and in sweeps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import auto
from komb.citests.data_session import DataSession
from komb.citests.session import EMPTY
from komb.data import DiscreteTable, boolean_table
from tests import naive
from tests.citests.test_statistics import check_some_against_twins
from tests.counts.tables import LOW_KIND, columns_of, gappy_tables, make_table, tables

quick = settings(max_examples=15, deadline=None, derandomize=True)


@quick
@given(
    tables(n_rows=(1, 90), n_columns=(2, 5)), st.integers(0, 10**6), st.sampled_from([0.05, 1e-6])
)
def test_outcomes_equal_their_twins(table: DiscreteTable, seed: int, alpha: float) -> None:
    check_some_against_twins("auto", "observed", table, seed, alpha)


@pytest.mark.xdist_group("missing")  # whose kernels are compiled there anyway
@quick
@given(gappy_tables(n_rows=(1, 90), n_columns=(2, 5)), st.integers(0, 10**6))
def test_outcomes_with_missing_values_equal_their_twins(table: DiscreteTable, seed: int) -> None:
    check_some_against_twins("auto", "observed", table, seed, 0.05)


@quick
@given(tables(kinds=LOW_KIND, n_rows=(5, 120), n_columns=(3, 5)), st.integers(0, 10**6))
def test_strengths_agree_with_the_twin(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = DataSession(table, "auto", alpha=0.3)
    twin = naive.DataSession(columns_of(table), "auto", 0.3)
    for _ in range(3):
        target, *others = rng.permutation(table.n_columns).tolist()
        members = frozenset(others[: rng.integers(len(others))])
        [answer] = asked.strengths(target, [(set(others), members)])
        expected = {x: twin.strength(target, x, members) for x in set(others) - members}
        assert answer == pytest.approx({x: bits for x, bits in expected.items() if bits}, rel=1e-8)


def test_thick_tables_are_left_to_g() -> None:
    table = boolean_table("and", 800, n_irrelevant=1, seed=0)
    automatic, plain = DataSession(table, "auto"), DataSession(table, "g", df="adjusted")
    for members in ([], [1], [1, 2]):
        assert automatic.outcome(3, 0, members) == plain.outcome(3, 0, members)


def test_thin_tables_are_not_left_to_g() -> None:
    """Two columns of many levels that have nothing to do with each other: G is far too sure."""
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_codes(
        np.column_stack([rng.integers(0, levels, 150) for levels in (12, 2, 2, 2, 3)])
    )
    outcome = DataSession(table, "auto").outcome(0, 1, [2, 3, 4])
    assert (outcome.test, outcome.independent, outcome.reliable) == (auto.MATCHED, True, True)


def test_levels_hold_on_thin_tables() -> None:
    """Of 300 pairs of independent columns about one in twenty is called dependent."""
    rng = np.random.default_rng(1)
    table = DiscreteTable.from_codes(
        np.column_stack([rng.integers(0, 4, 100), rng.integers(0, 8, (100, 300))])
    )
    found = DataSession(table, "auto", alpha=0.05).dependents(0, set(range(1, 301)), EMPTY)
    assert 4 <= len(found) <= 28  # three standard deviations


def test_what_does_not_vary_is_not_reliable() -> None:
    """All values differ: every shuffle gives the same G."""
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_codes(np.column_stack([np.arange(63), rng.integers(0, 5, 63)]))
    outcome = DataSession(table, "auto").outcome(0, 1, [])
    assert (outcome.test, outcome.independent, outcome.reliable) == (auto.MATCHED, True, False)
    assert (outcome.df, outcome.p_value) == (0, 1.0)


def test_seeds_and_targets() -> None:
    """Another seed, other shuffles; either variable may be the target."""
    table = make_table([4, 4, 3, 3], 60, seed=0)
    first, second = (DataSession(table, "auto", seed=seed) for seed in (0, 1))
    assert first.outcome(0, 1, [2]) == DataSession(table, "auto", seed=0).outcome(0, 1, [2])
    assert first.outcome(0, 1, [2]).statistic != second.outcome(0, 1, [2]).statistic
    there, back = first.outcome(0, 1, [2]), first.outcome(1, 0, [2])
    assert there.df == back.df
    assert there.p_value == pytest.approx(back.p_value)


@pytest.mark.parametrize("n_rows", [60, 300])
def test_sweeps_answer_like_single_tests(n_rows: int) -> None:
    table = make_table([2, 3, "parity", 2, 3, "copy", "parity", 2], n_rows, seed=n_rows)
    pool = frozenset(range(8)) - {2}
    swept, plain = (DataSession(table, "auto", alpha=0.05) for _ in range(2))
    for size in (1, 2):
        swept.sweep(2, pool, size)
        before = swept.counts.tests
        for members in combinations(sorted(pool), size):
            z = frozenset(members)
            assert swept.dependents(2, pool - z, z) == plain.dependents(2, pool - z, z)
        assert swept.counts.tests == before
    assert swept.counts.tests == plain.counts.tests
    assert swept.counts.fallbacks <= plain.counts.fallbacks
