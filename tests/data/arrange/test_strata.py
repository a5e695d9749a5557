"""Strata of covariates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.arrange.joint import join
from komb.data.arrange.strata import LEAST_ROWS, count_strata, cut_into_strata, put_into_strata
from komb.data.table import DiscreteTable
from komb.errors import MissingValuesError


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 3), st.integers(30, 300), st.integers(2, 30), st.integers(0, 10**6))
def test_strata_do_not_depend_on_the_order_of_rows(
    n_columns: int, n_rows: int, n_strata: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = [(name, np.round(rng.normal(size=n_rows), 1)) for name in range(n_columns)]
    order = rng.permutation(n_rows)
    first = cut_into_strata(columns, n_strata, "error")
    again = cut_into_strata([(name, own[order]) for name, own in columns], n_strata, "error")
    assert first.levels == again.levels
    assert (first.codes[order] == again.codes).all()
    sizes = np.bincount(first.codes)
    assert len(sizes) == len(first.levels) <= n_strata
    assert sizes.min() >= LEAST_ROWS


def test_a_single_covariate_is_cut_in_order() -> None:
    values = np.random.default_rng(0).normal(size=500)
    strata = cut_into_strata([("x", values)], 12, "error")
    ordered = strata.codes[np.argsort(values)]
    assert (np.diff(ordered) >= 0).all()
    assert len(strata.levels) == 12


def test_a_cut_goes_through_the_gap() -> None:
    """Of two clusters of different size no stratum has rows of both."""
    rng = np.random.default_rng(0)
    is_second = rng.random(1000) < 0.37
    values = is_second * 10 + rng.normal(size=1000)
    for n_strata in (2, 5, 20):
        strata = cut_into_strata([("x", values)], n_strata, "error")
        for code in range(len(strata.levels)):
            assert len(set(is_second[strata.codes == code])) == 1


def test_values_far_out_do_not_take_all_strata() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    values[:3] = [1e9, -1e9, np.inf]
    sizes = np.bincount(cut_into_strata([("x", values)], 10, "error").codes)
    assert sizes.max() < 300


def test_missing_values() -> None:
    values = np.random.default_rng(0).normal(size=100)
    values[7] = np.nan
    with pytest.raises(MissingValuesError, match="'x'"):
        cut_into_strata([("x", values)], 4, "error")
    by_level = cut_into_strata([("x", values)], 4, "level")
    assert by_level.levels[by_level.codes[7]] is None
    marked = cut_into_strata([("x", values)], 4, "testwise")
    assert marked.codes[7] == len(marked.levels)


def test_number_of_strata() -> None:
    assert count_strata(8, 1) == 2
    assert count_strata(10**6, 1) == 200
    assert count_strata(40, 5) == 8


def test_combinations_of_covariates() -> None:
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_data({"a": rng.integers(0, 2, 400), "y": rng.integers(0, 2, 400)})
    put = put_into_strata(table, ["a", "x"], [("x", rng.normal(size=400))], "error")
    assert put.names == ("y", "a, x")
    parts = set(put.levels[1])
    assert {part[0] for part in parts} == {0, 1}  # type: ignore[index]


def test_joint_columns_of_many_levels() -> None:
    """A product of levels beyond 64 bits is no trouble: only combinations that occur count."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 200, 50).astype(np.uint8) for _ in range(10)]
    joint = join(columns, [200] * 10)
    assert len(joint.parts) == 50
    rebuilt = np.array([joint.parts[code] for code in joint.codes]).T
    assert (rebuilt == np.array(columns)).all()
