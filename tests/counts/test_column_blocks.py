"""Blocks of columns: every set is in one of them, and none is too large."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts.column_blocks import Blocks, block_sets, merge_sets

quick = settings(max_examples=60, deadline=None, derandomize=True)
levels = st.lists(st.sampled_from([1, 2, 2, 3, 3, 4, 7, 10, 60]), min_size=3, max_size=12)


def check(
    blocks: Blocks, sets: Sequence[tuple[int, ...]], n_levels: list[int], most: float
) -> None:
    assert sorted(blocks.order.tolist()) == list(range(len(sets)))
    cells = blocks.count_combinations(np.array(n_levels))
    for number, size in enumerate(blocks.sizes.tolist()):
        columns = blocks.columns[number, :size].tolist()
        assert columns == sorted(set(columns))
        assert cells[number] == math.prod(n_levels[x] for x in columns) <= most
        inside = blocks.order[blocks.first[number] : blocks.first[number + 1]].tolist()
        assert inside
        assert all(set(sets[place]) <= set(columns) for place in inside)


@quick
@given(levels, st.integers(1, 3), st.sampled_from([100, 1 << 15]))
def test_all_sets_of_a_size(n_levels: list[int], size: int, most: int) -> None:
    sets = [
        columns
        for columns in combinations(range(len(n_levels)), size)
        if math.prod(n_levels[x] for x in columns) <= most
    ]
    if sets:
        check(block_sets(np.array(sets), np.array(n_levels), most), sets, n_levels, most)


@quick
@given(levels, st.data())
def test_any_sets(n_levels: list[int], data: st.DataObject) -> None:
    columns = st.sets(st.integers(0, len(n_levels) - 1), min_size=1, max_size=4)
    drawn = data.draw(st.lists(columns, max_size=20))
    sets = [tuple(sorted(each)) for each in drawn]
    most = max([1, *(math.prod(n_levels[x] for x in each) for each in sets)])
    check(merge_sets(sets, n_levels, most), sets, n_levels, most)


def test_triples_of_many_levels_are_counted_four_at_a_time() -> None:
    triples = np.array(list(combinations(range(39), 3)))
    blocks = block_sets(triples, np.full(39, 10), 1 << 15)
    assert len(triples) == 9139
    assert len(blocks.sizes) < 2900


def test_triples_of_few_levels_are_counted_many_at_a_time() -> None:
    triples = np.array(list(combinations(range(39), 3)))
    blocks = block_sets(triples, np.full(39, 3), 1 << 15)
    assert len(blocks.sizes) == math.comb(13, 3)


def test_a_part_has_the_sets_of_its_blocks() -> None:
    blocks = merge_sets([(0, 1), (2, 3), (1, 2)], [2] * 4, 4)
    part = blocks.part(1, 3)
    assert part.first.tolist() == [0, 1, 2]
    assert part.order.tolist() == blocks.order[1:].tolist()
