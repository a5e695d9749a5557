"""The order of columns by their contents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.column_order import order_columns
from komb.data.table import DiscreteTable


def ordered(table: DiscreteTable, ranked: bool = False) -> list[Any]:
    numbers = {table.index(name): v for name, v in table.numbers.items()} if ranked else {}
    return [table.names[x] for x in order_columns(table, numbers)]


def draw(seed: int, n_rows: int, n_columns: int, n_levels: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, (n_rows, n_columns))
    copies = rng.random(n_columns) < 0.3  # much alike: the first column with a few other values
    noise = rng.random((n_rows, n_columns)) < 0.1
    return np.where(copies & ~noise, codes[:, :1], codes)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(8, 60), st.integers(2, 8), st.integers(2, 4))
def test_rows_columns_names_and_codings_do_not_matter(
    seed: int, n_rows: int, n_columns: int, n_levels: int
) -> None:
    codes = draw(seed, n_rows, n_columns, n_levels)
    rng = np.random.default_rng(seed + 1)
    rows, columns = rng.permutation(n_rows), rng.permutation(n_columns)
    coded = np.stack([rng.permutation(n_levels)[column] for column in codes.T], axis=1)
    first = ordered(DiscreteTable.from_codes(codes))
    again = ordered(DiscreteTable.from_codes(coded[rows].take(columns, axis=1), columns.tolist()))
    assert [partition(codes[:, x]) for x in first] == [partition(codes[:, x]) for x in again]


def partition(column: np.ndarray) -> set[tuple[int, ...]]:
    """Which rows have equal values: all that there is to a column of levels."""
    return {tuple(np.flatnonzero(column == value)) for value in set(column.tolist())}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(30, 80), st.integers(2, 6), st.booleans())
def test_monotone_changes_of_numbers_do_not_matter(
    seed: int, n_rows: int, n_columns: int, rounded: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_columns, n_rows)).round(1 if rounded else 9)
    names = [f"c{i}" for i in range(n_columns)]
    changes: list[Any] = [lambda v: v, lambda v: -v, np.exp, lambda v: v**3, lambda v: -np.exp(-v)]
    shuffled = rng.permutation(n_columns)
    changed = {names[i]: changes[rng.integers(len(changes))](values[i]) for i in shuffled}
    rows = rng.permutation(n_rows)

    def table(columns: dict[str, np.ndarray]) -> DiscreteTable:
        return DiscreteTable.from_data(columns, types="auto", discretize="quantile")

    first = table(dict(zip(names, values, strict=True)))
    again = table({name: own[rows] for name, own in changed.items()})
    for each in (first, again):
        if len(each.numbers) < n_columns:
            pytest.skip("too few values to be numbers")
    assert ordered(first, ranked=True) == ordered(again, ranked=True)


def test_columns_with_equal_counts_are_told_apart_by_the_others() -> None:
    """Two balanced columns, of which one goes with a third."""
    codes = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0, 1]])
    codes[2, 6] = 1
    names = ["b", "a", "third"]
    for swapped in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        table = DiscreteTable.from_codes(codes[swapped].T, [names[x] for x in swapped])
        first = ordered(table)
    renamed = DiscreteTable.from_codes(codes.T, ["a", "b", "third"])
    translated = [{"a": "b", "b": "a"}.get(str(name), name) for name in ordered(renamed)]
    assert translated == first


def test_copies_are_in_the_order_of_their_names() -> None:
    values = np.random.default_rng(3).integers(0, 3, 40)
    table = DiscreteTable.from_codes(np.stack([values] * 3, axis=1), ["b", "c", "a"])
    assert ordered(table) == ["a", "b", "c"]


def test_missing_values_are_no_level() -> None:
    """A level and a mark of missing values in the same rows are not the same."""
    gaps = DiscreteTable.from_codes(
        [[0, 0], [0, 0], [-1, 1], [0, 0], [1, 2]], ["a", "b"], missing="testwise"
    )
    other = DiscreteTable.from_codes(
        [[0, 0], [0, 0], [1, -1], [0, 0], [2, 1]], ["a", "b"], missing="testwise"
    )
    assert ordered(gaps) == ordered(other)[::-1]
