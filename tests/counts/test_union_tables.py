"""Tests read from the table of a whole set, against tests that are counted one by one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts.column_blocks import block_sets, merge_sets
from komb.counts.contingency import Summaries
from komb.counts.union_tables import UnionTables
from komb.data.table import DiscreteTable
from tests import naive
from tests.counts.batches import PER_TEST, prepare
from tests.counts.tables import columns_of, make_table, tables

KINDS = (1, 2, 3, 4, 6, "rare", "copy", "parity")
NEVER = np.iinfo(np.int64).max


def counted(contingency: Any, union: tuple[int, ...], place: int) -> Summaries:
    """The test of one element of a set given the others, counted by itself."""
    rest = np.array([union[:place] + union[place + 1 :]], dtype=np.int64)
    candidate = np.array([union[place]])
    sums: Summaries = contingency.summarise(rest, np.array([0, 1]), candidate, wants_tables=True)
    return sums


def check(table: DiscreteTable, target: int, size: int) -> None:
    contingency = prepare(table, target)
    others = [x for x in range(table.n_columns) if x != target]
    unions = list(combinations(others, size + 1))
    read = UnionTables(contingency)
    read.sort(np.array(others))
    places = np.searchsorted(others, unions)
    blocks = block_sets(places, table.cardinalities[others], read.most_combinations)
    blocks = blocks._replace(columns=np.array(others)[blocks.columns])
    unions = [unions[place] for place in blocks.order]
    sums = read.count(blocks, np.array(unions), np.full((len(unions), size + 1), -NEVER))
    for union, own in zip(unions, sums, strict=True):
        fit = naive.counts.fit(columns_of(table), target, union)
        assert own[0, 0] / contingency.scale == pytest.approx(fit, abs=1e-9)
        named = UnionTables.summaries(own)
        again = UnionTables.summaries(
            read.read(
                tabulate(table, target, union)[None],
                np.array([union]),
                np.zeros(size + 1, dtype=np.int64),
                np.arange(size + 1),
            )
        )
        for place in range(size + 1):
            expected = counted(contingency, union, place)
            for name in PER_TEST:
                value = getattr(expected, name)[0]
                assert getattr(named, name)[place] == getattr(again, name)[place] == value


def tabulate(table: DiscreteTable, target: int, union: tuple[int, ...]) -> Any:
    """Count ``[stratum, y, x]`` with a dictionary, the last of the set being x."""
    columns = [*union[:-1], target, union[-1]]
    cells = np.zeros(table.cardinalities[columns], dtype=np.int32)
    for cell, count in naive.counts.joint_counts(columns_of(table), columns).items():
        cells[cell] = count
    return cells.ravel()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(tables(kinds=KINDS, n_rows=(1, 300), n_columns=(4, 5)), st.integers(1, 2))
def test_a_table_holds_the_tests_of_all_elements(table: DiscreteTable, size: int) -> None:
    check(table, target=1, size=size)


def test_a_table_of_many_rows_and_codes_of_two_bytes() -> None:
    check(make_table([3, 300, 2, "rare", 4], 10_000, seed=1), target=0, size=2)


def test_tests_that_do_not_reach_what_they_need_have_a_fit_only() -> None:
    contingency = prepare(make_table([2, 3, 2, "parity"], 500, seed=2), 0)
    read = UnionTables(contingency)
    read.sort(np.array([1, 2, 3]))
    least = np.array([[NEVER, -NEVER, NEVER]])
    union = np.array([[1, 2, 3]])
    [sums] = read.count(merge_sets([(1, 2, 3)], [2] * 4, 8), union, least)
    assert (sums[:, 0] == counted(contingency, (1, 2, 3), 1).union_fit).all()
    assert (sums[[0, 2], 4] == 0).all()
    assert sums[1, 4] == counted(contingency, (1, 2, 3), 1).pearson


def test_tables_that_are_too_large_are_refused() -> None:
    contingency = prepare(make_table([3, 300, 2, "copy"], 1000, seed=1), 0)
    read = UnionTables(contingency)
    read.sort(np.array([1, 2, 3]))
    least = np.full((1, 3), -NEVER)
    blocks = merge_sets([(1, 2, 3)], [2] * 4, 8)
    with pytest.raises(ValueError, match="at most 32,768 combinations"):
        read.count(blocks, np.array([[1, 2, 3]]), least)
