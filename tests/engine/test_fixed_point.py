"""The two tables against exact fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.engine.fixed_point import FloatArray, Int64Array, entropies, lengths, scale_for
from tests import naive


def length_table(levels: int, n_rows: int, scale: float) -> Int64Array:
    table: Int64Array = lengths([levels], n_rows, scale)[:, 0]
    return table


def log2_normaliser(levels: int, n_rows: int) -> FloatArray:
    scale = scale_for(n_rows)
    table: FloatArray = length_table(levels, n_rows, scale) / scale
    return table


@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 5000, 1_000_000])
def test_entropy_table(n_rows: int) -> None:
    scale = scale_for(n_rows)
    table = entropies(n_rows, scale)
    assert len(table) == n_rows + 1
    assert table[:2].tolist() == [0] * min(2, len(table))
    for n in {2, 3, 5, 7, 100, n_rows - 1, n_rows} & set(range(2, n_rows + 1)):
        assert table[n] / scale == pytest.approx(n * math.log2(n), rel=1e-15, abs=2 / scale)
    powers = [2**e for e in range(1, 20) if 2**e <= n_rows]
    assert [table[n] / scale for n in powers] == [n * math.log2(n) for n in powers]  # exactly


@pytest.mark.parametrize("n_rows", [1, 2, 100, 5000, 10**6, 10**8, 2**31 - 1])
def test_scale_leaves_room_for_the_largest_sum(n_rows: int) -> None:
    scale = scale_for(n_rows)
    assert math.frexp(scale)[0] == 0.5  # a power of two: dividing by it is exact
    assert n_rows * math.log2(max(n_rows, 65_536)) * scale < 2**62
    assert scale >= 2**20


def test_log2_normaliser_known_values() -> None:
    assert log2_normaliser(1, 50).tolist() == [0.0] * 51
    assert log2_normaliser(2, 4) == pytest.approx(
        [0.0, 1.0, math.log2(2.5), math.log2(26 / 9), math.log2(103 / 32)], abs=1e-14
    )
    # C(r, 1) = r: one row can be any of r levels
    for levels in (1, 2, 3, 17, 200, 65_535):
        assert log2_normaliser(levels, 1)[1] == pytest.approx(math.log2(levels), rel=1e-12)


def test_no_rows_cost_nothing() -> None:
    for levels in (1, 2, 3, 10, 300, 65_535):
        assert log2_normaliser(levels, 3)[0] == 0.0
        assert length_table(levels, 3, 2.0**40)[0] == 0


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(1, 300), st.integers(0, 300))
def test_log2_normaliser_is_exact(levels: int, n: int) -> None:
    expected = naive.counts.log2_normaliser(levels, n)
    assert log2_normaliser(levels, max(n, 1))[n] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    scale = scale_for(300)
    rounded = length_table(levels, 300, scale)[n] / scale
    assert rounded == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n", [62, 63, 64, 65, 100, 1000, 3000])
def test_two_levels_where_the_sum_gives_way_to_the_series(n: int) -> None:
    exact = naive.counts.normaliser_of_two(n)
    expected = math.log2(exact.numerator) - math.log2(exact.denominator)
    assert log2_normaliser(2, n)[n] == pytest.approx(expected, rel=1e-12)


def test_normaliser_is_the_sum_over_all_samples() -> None:
    """C(r, n) by its definition: the maximised likelihoods of all samples, added up."""
    for levels, n in [(2, 3), (3, 2), (3, 3), (4, 2)]:
        total = 0.0
        for code in range(levels**n):
            sample = [code // levels**i % levels for i in range(n)]
            total += math.prod(sample.count(value) / n for value in sample)
        assert log2_normaliser(levels, n)[n] == pytest.approx(math.log2(total), abs=1e-12)


def test_many_levels_stay_finite() -> None:
    table = log2_normaliser(65_535, 400)
    assert np.isfinite(table).all()
    assert (np.diff(table) > 0).all()
    # between one level per row and the count of all samples
    assert (table <= np.arange(401) * math.log2(65_535) + 1e-9).all()
    assert np.isfinite(length_table(65_535, 400, scale_for(400))).all()


def test_growth() -> None:
    """More levels or more rows never cost less."""
    tables = np.array([log2_normaliser(levels, 200) for levels in (1, 2, 3, 5, 8, 50)])
    assert (np.diff(tables, axis=0) >= 0).all()
    assert (np.diff(tables, axis=1) >= 0).all()
