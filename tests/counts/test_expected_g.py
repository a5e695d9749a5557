"""Moments of G given the margins: all orders of rows, the twin, and what must not matter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts import contingency as contingency_module
from komb.counts.contingency import Contingency
from komb.counts.expected_g import ExpectedG
from komb.counts.threads import use_threads
from komb.data.table import DiscreteTable
from tests import naive
from tests.counts.reorderings import reorder
from tests.counts.tables import columns_of, tables, tables_with_missing

quick = settings(max_examples=25, deadline=None, derandomize=True)


def moments(
    codes: Any, levels: Sequence[int], target: int, x: int, members: Sequence[int]
) -> tuple[float, float]:
    codes, cardinalities = np.ascontiguousarray(codes), np.array(levels, dtype=np.int64)
    given_set = np.array([members], dtype=np.int64).reshape(1, -1)
    contingency = Contingency(codes, cardinalities, target)
    expected = ExpectedG(codes, cardinalities)
    mean, variance = expected.moments(contingency, given_set, np.array([0]), np.array([x]))
    return float(mean[0]), float(variance[0])


def column_with(counts: Sequence[int]) -> list[int]:
    return [level for level, n in enumerate(counts) for _ in range(n)]


def moments_of_all_orders(xs: Sequence[int], ys: Sequence[int]) -> tuple[float, float]:
    """Mean and variance of G by listing every order of the rows."""
    x, y, n = column_with(xs), column_with(ys), sum(xs)
    values = [
        2 * math.fsum(m * math.log(m * n / (xs[i] * ys[j])) for (i, j), m in cells.items())
        for cells in (Counter(zip(order, y, strict=True)) for order in permutations(x))
    ]
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values) / len(values)


@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        ((1, 1), (1, 1)), ((2, 1), (2, 1)), ((2, 2), (3, 1)), ((2, 2, 1), (3, 2)),
        ((5, 1, 1), (4, 3)), ((4, 2, 1), (5, 1, 1)), ((2, 2, 2, 1), (2, 2, 2, 1)), ((6, 1), (1, 6)),
        ((2, 1, 1, 1, 1, 1), (5, 2)), ((5, 2), (2, 5)),
    ],
)  # fmt: skip
def test_moments_are_those_of_all_orders_of_the_rows(
    xs: tuple[int, ...], ys: tuple[int, ...]
) -> None:
    """Exact, since a count that can be 0, 1 or 2 more than its least has two degrees."""
    expected = pytest.approx(moments_of_all_orders(xs, ys), rel=1e-9, abs=1e-12)
    assert naive.moments.g_moments_of_stratum(tuple(xs), tuple(ys)) == expected
    codes = np.array([column_with(xs), column_with(ys)], dtype=np.uint8)
    assert moments(codes, [len(xs), len(ys)], 0, 1, []) == expected


def test_higher_degrees_are_nearly_uncorrelated() -> None:
    """Counts up to 4: all orders give the same mean, and nearly the same variance."""
    xs, ys = (4, 4), (4, 4)
    mean, variance = moments_of_all_orders(xs, ys)
    own_mean, own_variance = naive.moments.g_moments_of_stratum(tuple(xs), tuple(ys))
    assert own_mean == pytest.approx(mean)
    assert math.sqrt(own_variance) == pytest.approx(math.sqrt(variance), rel=0.03)


@pytest.mark.parametrize("levels", [(2, 2), (3, 7), (12, 4), (60, 20)])
@pytest.mark.parametrize("n_rows", [10, 90, 700, 6000])
def test_large_strata_agree_with_the_twin(levels: tuple[int, int], n_rows: int) -> None:
    """Skewed margins, so that both sums and series occur."""
    rng = np.random.default_rng(n_rows)
    codes = np.array([np.minimum(rng.geometric(2 / (n + 2), n_rows) - 1, n - 1) for n in levels])
    xs, ys = (list(Counter(column).values()) for column in codes.tolist())
    expected = naive.moments.g_moments_of_stratum(tuple(xs), tuple(ys))
    found = moments(codes.astype(np.uint8), levels, 0, 1, [])
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(("n", "a", "b"), [(5000, 40, 1350), (3000, 100, 280), (200, 64, 50)])
def test_series_continue_sums(n: int, a: int, b: int) -> None:
    """Where the one takes over from the other, a cell is about the same either way."""
    mean, alpha, rest = naive.moments.g_by_series(n, a, b)
    exact_mean, exact, exact_rest = naive.moments.g_by_sum(n, a, b)
    assert mean == pytest.approx(exact_mean, rel=0.01)
    assert alpha == pytest.approx(exact, abs=0.01)
    assert rest == pytest.approx(exact_rest, abs=0.02)


@pytest.mark.parametrize("k", [1, 2])
def test_polynomials_of_the_twin_have_the_norm_it_says(k: int) -> None:
    for n, a, b in [(4, 2, 2), (9, 3, 5), (20, 12, 11)]:
        counts = range(max(0, a + b - n), min(a, b) + 1)
        squares = [
            math.comb(b, m) * math.comb(n - b, a - m) * naive.moments.hahn(k, m, n, a, b) ** 2
            for m in counts
        ]
        norm = float(naive.moments.hahn_norm(k, n, a, b))
        assert math.fsum(squares) / math.comb(n, a) == pytest.approx(norm)


@quick
@given(tables_with_missing(n_rows=(1, 120), n_columns=(2, 5)), st.integers(0, 10**6))
def test_tests_with_missing_values_agree_with_the_twin(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target, x, *others = rng.permutation(table.n_columns).tolist()
    members = others[: rng.integers(0, len(others) + 1)]
    t = naive.counts.count(columns_of(table), target, x, members)
    expected = naive.moments.g_moments(t) if t.z else (0.0, 0.0)
    found = moments(table.codes, table.cardinalities.tolist(), target, x, members)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
@quick
@given(tables(n_rows=(2, 200), n_columns=(2, 5)), st.integers(0, 10**6))
def test_moments_depend_on_counts_alone(
    share_missing: float, table: DiscreteTable, seed: int
) -> None:
    """Rows, levels and conditions in another order, roles exchanged: the same to the last bit."""
    test, reordered = reorder(table, share_missing, seed)
    expected = moments(*test)
    assert moments(*reordered) == expected
    assert moments(*test._replace(target=test.x, x=test.target)) == expected


def test_what_was_computed_before_changes_nothing() -> None:
    """A batch of tests, with few or many given sets, gives what each gives alone."""
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(0, n, 300) for n in (5, 9, 2, 3, 30)], dtype=np.uint8)
    levels = [5, 9, 2, 3, 30]
    sets = np.array([[1], [2], [3]])
    index, candidates = np.array([0, 0, 1, 2, 2]), np.array([2, 4, 4, 1, 4])
    contingency = Contingency(codes, np.array(levels), target=0)
    expected = ExpectedG(codes, np.array(levels))
    for _ in range(2):
        mean, variance = expected.moments(contingency, sets, index, candidates)
        for j, x in enumerate(candidates.tolist()):
            alone = moments(codes, levels, 0, x, sets[index[j]].tolist())
            assert (mean[j], variance[j]) == alone


@pytest.mark.parametrize("levels", [(2, 2, 2, 3, 2), (3, 9, 2, 4, 30), (40, 3, 20, 25, 17)])
@pytest.mark.parametrize("n_rows", [3, 300, 5000])
def test_every_way_of_counting_gives_the_same_moments(
    monkeypatch: pytest.MonkeyPatch, levels: tuple[int, ...], n_rows: int
) -> None:
    """By popcount, in dense tables and row by row: the same to the last bit."""
    rng = np.random.default_rng(n_rows)
    codes = np.array([rng.binomial(n - 1, 0.3, n_rows) for n in levels], dtype=np.uint8)
    cardinalities = np.array(levels)
    expected = ExpectedG(codes, cardinalities)

    def measure(*, is_by_rows: bool = False) -> list[Any]:
        contingency = Contingency(codes, cardinalities, target=0)
        monkeypatch.setattr(contingency, "has_missing", is_by_rows)
        found = []
        for size in range(4):
            sets = np.array(list(combinations(range(1, 5), size)), dtype=np.int64)
            index, candidates = np.array(
                [(i, x) for i, given in enumerate(sets) for x in range(1, 5) if x not in given]
            ).T.copy()  # in one piece, or another kernel would be compiled
            found.append(np.array(expected.moments(contingency, sets, index, candidates)).tolist())
        return found

    by_default = measure()
    assert measure(is_by_rows=True) == by_default
    monkeypatch.setattr("komb.counts.contingency.MAX_BITMAP_LEVELS", 0)
    assert measure() == by_default


@quick
@given(tables(n_rows=(1, 400), n_columns=(4, 6)), st.integers(0, 2), st.integers(2, 4))
def test_any_number_of_threads_finds_the_same(
    table: DiscreteTable, size: int, threads: int
) -> None:
    contingency = Contingency(table.codes, table.cardinalities, 0)
    sets = np.array(list(combinations(range(2, table.n_columns), size)), dtype=np.int64)
    candidates, index = np.ones(len(sets), dtype=np.int64), np.arange(len(sets))
    expected = ExpectedG(table.codes, table.cardinalities)
    alone = expected.moments(contingency, sets, index, candidates)
    with pytest.MonkeyPatch.context() as patch, use_threads(threads):
        patch.setattr(contingency_module, "WORK_PER_THREAD", 1)
        together = expected.moments(contingency, sets, index, candidates)
    assert np.array_equal(alone, together)
