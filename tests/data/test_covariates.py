"""Strata of covariates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.covariates import (
    LEAST_ROWS,
    count_strata,
    find_strata,
    hold_fixed,
    label_strata,
    put_into_strata,
)
from komb.data.groups import join
from komb.data.table import DiscreteTable
from komb.errors import ParameterError


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 3), st.integers(30, 300), st.integers(2, 30), st.integers(0, 10**6))
def test_strata_do_not_depend_on_the_order_of_rows(
    n_columns: int, n_rows: int, n_strata: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = np.round(rng.normal(size=(n_rows, n_columns)), 1)
    order = rng.permutation(n_rows)
    first = find_strata(columns, n_strata)
    assert (first[order] == find_strata(columns[order], n_strata)).all()
    sizes = np.bincount(first)
    assert len(sizes) <= n_strata
    assert sizes.min() >= LEAST_ROWS
    assert len(label_strata([*columns.T], first, are_times=False)) == len(sizes)


def strata_of(values: npt.NDArray[np.float64], n_strata: int) -> npt.NDArray[np.int64]:
    return find_strata(values.reshape(-1, 1), n_strata)


def test_a_single_covariate_is_cut_in_order() -> None:
    values = np.random.default_rng(0).normal(size=500)
    codes = strata_of(values, 12)
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()
    assert set(codes) == set(range(12))


def test_a_cut_goes_through_the_gap() -> None:
    """Of two clusters of different size no stratum has rows of both."""
    rng = np.random.default_rng(0)
    is_second = rng.random(1000) < 0.37
    values = is_second * 10 + rng.normal(size=1000)
    for n_strata in (2, 5, 20):
        codes = strata_of(values, n_strata)
        for code in range(n_strata):
            assert len(set(is_second[codes == code])) == 1


def test_values_far_out_do_not_take_all_strata() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    values[:3] = [1e9, -1e9, np.inf]
    assert np.bincount(strata_of(values, 10)).max() < 300


def test_missing_values() -> None:
    values = np.random.default_rng(0).normal(size=100)
    values[7] = np.nan
    codes = strata_of(values, 4)
    assert codes[7] == 4 == codes.max()
    y = np.arange(100) % 2
    for missing in ("level", "testwise"):
        table = DiscreteTable.from_data(
            {"x": values, "y": y}, types="auto", missing=missing, discretize="quantile"
        )
        put = put_into_strata(table, ["x"], {"x": values})
        assert (None in put.levels[1]) == (missing == "level")
        assert put.column("x")[7] is None


def test_no_row_with_all_covariates() -> None:
    halves = np.where(np.arange(100) < 50, np.arange(100) / 7, np.nan)
    table = DiscreteTable.from_data(
        {"a": halves, "b": halves[::-1], "y": np.arange(100) % 2}, types="auto"
    )
    with pytest.raises(ParameterError, match="'given' must have a row in which none of them is"):
        hold_fixed(table, ["a", "b"])


def test_number_of_strata() -> None:
    assert count_strata(8, 1) == 2
    assert count_strata(10**6, 1) == 200
    assert count_strata(40, 5) == 8


def test_combinations_of_covariates() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    data = {"a": rng.integers(0, 2, 400), "x": x, "y": rng.integers(0, 2, 400)}
    put = put_into_strata(DiscreteTable.from_data(data, types="auto"), ["a", "x"], {"x": x})
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
