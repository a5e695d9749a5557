"""All unions of some columns, screened: which of them may hold a dependence.

What the kernel in :mod:`komb.counts.contingency_kernels.union_screens` needs, and buffers for as
many threads as use it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.counts.binomials import binomials
from komb.counts.contingency import Contingency
from komb.counts.fixedpoint import Int64Array

BoolArray = npt.NDArray[np.bool_]

MOST_COMBINATIONS = 256
"""Of the levels of a union; beyond that counting row by row is as fast."""

SETS_PER_BLOCK = 128
"""Given sets that are compared with one block of columns; their bitmaps stay in the cache."""

TABLE_BYTES = 256 << 20
"""Of the tables of a chunk if all of its unions were listed; memory is taken by those that are."""

BLOCK_BYTES = 8 << 20
"""Of the bitmaps of these sets, and of their tables, at most."""


class Need(NamedTuple):
    """What a union must reach for the test of one of its elements, in fixed point."""

    # ``fit[kind, rank]``: of a union, for a candidate of this kind given the set of this rank;
    # without columns if values are missing
    fit: Int64Array
    # ``gain[(levels - 1) * strata]``: beyond the fit of the given set, in the rows of the union
    gain: Int64Array
    # A union of fewer complete rows per combination of levels reaches everything
    rows_per_combination: float


class Rectangle(NamedTuple):
    """Some given sets, and the columns that they are united with if those are larger."""

    sets: slice
    columns: slice


class Screened(NamedTuple):
    """The unions of some given sets with larger columns that may hold a dependence."""

    n_counted: int  # of all of them
    given: Int64Array  # number of the given set
    candidate: Int64Array
    tests: Int64Array  # bit i: the test of the i-th element, the candidate being the last
    fit: Int64Array  # of the union
    tables: npt.NDArray[np.int32]  # of the union, see ``UnionTables.read``; empty if not wanted


class UnionScreen:
    """Screens the unions of given sets with larger columns.

    Columns are numbered in the order in which they are handed over, and given sets are ascending.
    """

    def __init__(
        self,
        contingency: Contingency,
        columns: Int64Array,
        kinds: Int64Array,
        is_asked: BoolArray,
        sets: Int64Array,
        most_cells: int,
        need: Need,
        *,
        wants_tables: bool = False,
    ) -> None:
        from komb.counts.contingency_kernels import lanes, union_screens

        self._kernels = union_screens
        self._n_lanes = lanes.LANES
        self._sets = sets
        prepared = contingency.prepared
        levels = contingency.cardinalities[columns]
        self._pool = union_screens.Pool(
            bitmaps=prepared.bitmaps,
            level_counts=prepared.level_counts,
            segments=prepared.segments,
            level_start=prepared.level_start[columns],
            levels=levels,
            is_asked=is_asked,
            kind=kinds,
            has_missing=contingency.has_missing,
            entropy=contingency.entropy,
            binomials=binomials(len(columns), sets.shape[1]),
        )
        largest = np.sort(levels)[::-1]
        self._most_levels = int(largest[0])
        most_strata = most_cells // max(1, int(largest[-1]))
        self._most_strata = min(math.prod(largest[: sets.shape[1]].tolist()), most_strata)
        self._bounds = union_screens.Bounds(
            most_cells, most_strata, need.fit, need.gain, need.rows_per_combination
        )
        most_combinations = min(math.prod(largest[: sets.shape[1] + 1].tolist()), most_cells)
        self._cells = most_combinations * contingency.target_levels if wants_tables else 0
        self._blocks: deque[object] = deque()  # buffers that no thread is using

    @property
    def n_bytes(self) -> int:
        """Bytes of what it reads."""
        arrays = [*self._pool, *self._bounds, self._sets]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs: buffers and kernels are found there."""
        return self.__dict__ | {"_kernels": None, "_blocks": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from komb.counts.contingency_kernels import union_screens

        self.__dict__ |= state | {"_kernels": union_screens, "_blocks": deque()}

    def cut(self, room: int) -> Iterator[Rectangle]:
        """Cut all unions into rectangles of about ``room`` of them.

        Given sets are compared with blocks of columns best if they are many. So where a few of them
        fill the room, as they do in a very wide table, the columns are cut too.
        """
        largest = self._sets[:, -1]
        n_sets, n_columns = len(largest), len(self._pool.levels)
        ends = np.cumsum(n_columns - 1 - largest)
        first = 0
        while first < n_sets:
            done = int(ends[first - 1]) if first else 0
            fitting = int(np.searchsorted(ends, done + room, side="right"))
            last = min(max(fitting, first + SETS_PER_BLOCK), n_sets)
            begin = (int(largest[first]) + 1) // self._n_lanes * self._n_lanes
            width = n_columns
            if last > fitting:
                n_blocks = room // ((last - first) * self._n_lanes)
                width = max(1, n_blocks) * self._n_lanes
            for start in range(begin, n_columns, width):
                yield Rectangle(slice(first, last), slice(start, min(start + width, n_columns)))
            first = last

    def count(self, part: Rectangle) -> int:
        """How many unions a rectangle has."""
        smallest = np.maximum(self._sets[part.sets, -1] + 1, part.columns.start)
        return int(np.maximum(part.columns.stop - smallest, 0).sum())

    def screen(self, part: Rectangle) -> Screened:
        """Screen the unions of a rectangle; threads may do so at the same time."""
        sets, columns = part
        n_unions = self.count(part)
        n_tables = n_unions if 0 < 4 * self._cells * n_unions <= TABLE_BYTES else 0
        given, candidate, tests, fit = np.empty((4, n_unions), dtype=np.int64)
        tables = np.empty((n_tables, self._cells), dtype=np.int32)
        listed = self._kernels.Listed(given, candidate, tests, fit, tables)
        try:
            block = self._blocks.pop()
        except IndexError:
            block = self._make_block()
        n_counted, n_listed = self._kernels.screen_unions(
            self._sets, sets.start, sets.stop, columns.start, columns.stop, self._pool,
            self._bounds, block, listed,
        )  # fmt: skip
        self._blocks.append(block)
        return Screened(n_counted, *(array[:n_listed].copy() for array in listed))

    def _make_block(self) -> object:
        lanes, n_words = self._n_lanes, self._pool.bitmaps.shape[1]
        n_y = len(self._pool.segments) - 1
        words_at_once = min(n_words, self._kernels.WORDS_AT_ONCE)
        n_strata, size = self._most_strata, self._sets.shape[1]
        table_size = (n_y + 1) * n_strata * self._most_levels * lanes
        bytes_per_set = max(8 * n_strata * n_words, 4 * table_size)
        n_sets = max(1, min(SETS_PER_BLOCK, BLOCK_BYTES // bytes_per_set))
        counted_at_once = n_sets if n_words > words_at_once else 1
        return self._kernels.Block(
            strata=np.empty(n_sets * (n_strata + 1) * n_words, dtype=np.uint64),
            codes=np.empty((n_sets, n_strata + 1), dtype=np.int32),
            by_y=np.empty(n_sets * (n_strata + 1) * n_y * lanes, dtype=np.int32),
            n_strata=np.empty(n_sets, dtype=np.int64),
            combinations=np.empty(n_sets, dtype=np.int64),
            any_asked=np.empty(n_sets, dtype=np.bool_),
            bases=np.empty((n_sets, size), dtype=np.int64),
            lanes=np.empty(self._most_levels * words_at_once * lanes, dtype=np.uint64),
            lane_counts=np.empty(self._most_levels * n_y * lanes, dtype=np.int32),
            tables=np.empty(counted_at_once * table_size, dtype=np.int32),
            margin=np.empty(table_size if self._pool.has_missing else 0, dtype=np.int32),
            lane_fits=np.empty(lanes, dtype=np.int64),
            own_fit=np.empty((size + 1, lanes), dtype=np.int64),
            own_strata=np.empty((size + 1, lanes), dtype=np.int64),
            rows=np.empty(lanes, dtype=np.int64),
        )
