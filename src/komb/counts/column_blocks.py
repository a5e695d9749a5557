"""Which sets of columns are counted together, as one block.

A pass over many rows takes hardly longer for a few more columns, and the table of a block has those
of all sets inside it as its margins. So the best blocks have as many sets inside as fit, and no set
is inside of two. Blocks and sets are ascending.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from komb.counts.fixedpoint import FloatArray, Int64Array

Columns = tuple[int, ...]

_WINDOW = 512  # sets that are looked at to fill a block


class Blocks(NamedTuple):
    """Blocks, and the sets inside of each."""

    columns: Int64Array  # [block, place], those beyond its size without a meaning
    sizes: Int64Array  # [block]
    order: Int64Array  # sets, those of one block after the other
    first: Int64Array  # [block]: its first set in that order, and the end

    def count_combinations(self, n_levels: Int64Array) -> Int64Array:
        """How many combinations of levels each block has."""
        is_inside = np.arange(self.columns.shape[1]) < self.sizes[:, None]
        counts: Int64Array = np.where(is_inside, n_levels[self.columns], 1).prod(axis=1)
        return counts

    def part(self, lo: int, hi: int) -> Blocks:
        """Return some of the blocks, with the sets of these alone."""
        first = self.first[lo : hi + 1]
        order = self.order[first[0] : first[-1]]
        return Blocks(self.columns[lo:hi], self.sizes[lo:hi], order, first - first[0])


def block_sets(sets: Int64Array, n_levels: Int64Array, most_cells: float) -> Blocks:
    """Find blocks for many sets of one size, such as all of them.

    Columns of few levels are put into groups, and a block has as many groups as a set has columns:
    that has every way to take one column of each group. If groups would have one column only, a
    block has one more column than a set, the one for which the numbers of all columns add up to a
    multiple of how many columns there are. So every set is in one block, and a block has as many
    sets as columns.
    """
    group_of = _group(n_levels, most_cells ** (1.0 / sets.shape[1]))
    blocks, block_of = _by_groups(sets, group_of, n_levels, most_cells)
    left = np.flatnonzero(block_of < 0)
    completed = _complete(sets[left], n_levels.astype(np.float64), most_cells)
    found, number = np.unique(completed, axis=0, return_inverse=True)
    block_of[left] = len(blocks) + number.reshape(-1)
    return _gather([*blocks, *map(tuple, found.tolist())], block_of)


def _group(n_levels: Int64Array, most_cells: float) -> Int64Array:
    """Put neighbouring columns into groups that have few combinations of levels; number them."""
    group_of = np.zeros(len(n_levels), dtype=np.int64)
    group, cells = -1, math.inf
    for column, levels in enumerate(n_levels.tolist()):
        cells *= max(levels, 1)
        if cells > most_cells:
            group, cells = group + 1, max(levels, 1)
        group_of[column] = group
    return group_of


def _by_groups(
    sets: Int64Array, group_of: Int64Array, n_levels: Int64Array, most_cells: float
) -> tuple[list[Columns], Int64Array]:
    """Blocks of the groups that sets have columns of; more groups, if those are too few.

    Returns the blocks, and that of each set: -1 if it would be too large, or no larger than a set.
    """
    n_groups = int(group_of[-1]) + 1
    members = [np.flatnonzero(group_of == group).tolist() for group in range(n_groups)]
    cells = [math.prod(n_levels[own].tolist()) for own in members]
    found, kind = np.unique(group_of[sets], axis=0, return_inverse=True)
    number: dict[Columns, int] = {}
    of_kind = np.full(len(found), -1)
    for place, row in enumerate(found.tolist()):
        groups = set(row)
        for group in range(n_groups):
            if len(groups) < sets.shape[1]:
                groups.add(group)
        size = sum(len(members[group]) for group in groups)
        if size > sets.shape[1] and math.prod(cells[group] for group in groups) <= most_cells:
            of_kind[place] = number.setdefault(tuple(sorted(groups)), len(number))
    blocks = [tuple(column for group in key for column in members[group]) for key in number]
    return blocks, of_kind[kind.reshape(-1)]


def _complete(sets: Int64Array, n_levels: FloatArray, most_cells: float) -> Int64Array:
    """Add the column to each set that makes the numbers add up; its last one again if none may."""
    last = -sets.sum(axis=1) % len(n_levels)
    cells = n_levels[sets].prod(axis=1) * n_levels[last]
    is_alone = (sets == last[:, None]).any(axis=1) | (cells > most_cells)
    return np.sort(np.column_stack((sets, np.where(is_alone, sets[:, -1], last))), axis=1)


def merge_sets(sets: Sequence[Columns], n_levels: Sequence[int], most_cells: float) -> Blocks:
    """Find blocks for sets of any sizes: each set joins the first block that it fits."""
    left = sorted(range(len(sets)), key=lambda place: (sets[place], place))
    blocks: list[Columns] = []
    block_of = np.zeros(len(sets), dtype=np.int64)
    while left:
        window, rest = left[:_WINDOW], left[_WINDOW:]
        columns = set(sets[window[0]])
        cells = math.prod(n_levels[column] for column in columns)
        for place in window:
            if columns.issuperset(sets[place]):
                continue
            more = [column for column in sets[place] if column not in columns]
            merged = cells * math.prod(n_levels[column] for column in more)
            if merged <= most_cells:
                columns.update(more)
                cells = merged
        inside = [place for place in window if columns.issuperset(sets[place])]
        block_of[inside] = len(blocks)
        blocks.append(tuple(sorted(columns)))
        left = [place for place in window if not columns.issuperset(sets[place])] + rest
    return _gather(blocks, block_of)


def _gather(blocks: list[Columns], block_of: Int64Array) -> Blocks:
    """List sets by block; a block that names a column twice has it once."""
    columns = [tuple(dict.fromkeys(block)) for block in blocks]
    sizes = np.array([len(block) for block in columns], dtype=np.int64)
    padded = np.zeros((len(columns), max(1, sizes.max(initial=0))), dtype=np.int64)
    for number, block in enumerate(columns):
        padded[number, : len(block)] = block
    counts = np.bincount(block_of, minlength=len(columns))
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Blocks(padded, sizes, np.argsort(block_of, kind="stable"), first)
