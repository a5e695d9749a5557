"""Test "auto": against its twin, on thin tables and thick ones, alone and in sweeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests.data_session import DataSession
from komb.data import DiscreteTable
from tests import naive
from tests.citests.test_statistics import check_some_against_twins
from tests.counts.tables import LOW_KIND, columns_of, gappy_tables, tables

quick = settings(max_examples=15, deadline=None, derandomize=True)


@quick
@given(
    tables(n_rows=(1, 90), n_columns=(2, 5)), st.integers(0, 10**6), st.sampled_from([0.05, 1e-6])
)
def test_outcomes_equal_their_twins(table: DiscreteTable, seed: int, alpha: float) -> None:
    check_some_against_twins("auto", "observed", table, seed, alpha)


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
