"""Sets counted once for the tests of all their elements, on long tables.

What the kernels in :mod:`komb.counts.contingency_kernels.union_tables` need, and buffers for as
many threads as use them.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.counts.column_blocks import Blocks, Columns
from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import Int64Array
from komb.counts.union_screen import MOST_COMBINATIONS as SCREENED_COMBINATIONS

MOST_CELLS = 1 << 18
"""Of a table."""

MOST_COMBINATIONS = 1 << 15
"""Of the levels of a block, and so of a set: rows of one level of the target are counted in tables
that stay in the cache, and combinations are numbered in 16 bits."""


KEPT_CELLS = 1 << 22
"""Of all blocks whose tables are kept."""


class CountedBlocks:
    """Blocks whose tables are kept, as long as there is room.

    Parameters
    ----------
    cardinalities : int array
    target_levels : int

    Attributes
    ----------
    tables : int array
        One after the other.
    """

    def __init__(self, cardinalities: Int64Array, target_levels: int) -> None:
        self._cardinalities = cardinalities
        self._target_levels = target_levels
        # memory that is not written to is not taken
        self.tables = np.empty(KEPT_CELLS, dtype=np.int32)
        self._taken = 0
        self._columns: list[Columns] = []
        self._bits: list[int] = []
        self._starts: list[int] = []
        self._found: dict[Columns, int] = {}
        self._described: tuple[Int64Array, Int64Array, Int64Array] | None = None

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return 4 * self._taken

    @property
    def described(self) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Columns, sizes and starts of all blocks."""
        if self._described is None:
            sizes = np.array([len(columns) for columns in self._columns], dtype=np.int64)
            columns = np.zeros((len(sizes), max(1, sizes.max(initial=0))), dtype=np.int64)
            for place, own in enumerate(self._columns):
                columns[place, : len(own)] = own
            self._described = columns, sizes, np.array(self._starts, dtype=np.int64)
        return self._described

    def find(self, columns: Columns) -> int | None:
        """Return the number of a block that has some columns, if there is one."""
        if columns not in self._found:
            wanted = sum(1 << column for column in columns)
            inside = (place for place, bits in enumerate(self._bits) if wanted & ~bits == 0)
            place = next(inside, None)
            if place is None:
                return None
            self._found[columns] = place
        return self._found[columns]

    def make_room(self, blocks: Blocks, first: int) -> int:
        """Forget what is kept if the next block has no room; returns the end of those that have."""
        cells = self._cells_of(blocks)
        if self._taken + cells[first] > KEPT_CELLS:
            self._columns, self._bits, self._starts, self._found = [], [], [], {}
            self._taken = 0
        room = KEPT_CELLS - self._taken
        return first + int(np.searchsorted(np.cumsum(cells[first:]), room, side="right"))

    def add(self, blocks: Blocks) -> int:
        """Make room for blocks; returns the number of the first."""
        first = len(self)
        self._described = None
        for columns, size, cells in zip(
            blocks.columns.tolist(), blocks.sizes.tolist(), self._cells_of(blocks), strict=True
        ):
            self._columns.append(tuple(columns[:size]))
            self._bits.append(sum(1 << column for column in columns[:size]))
            self._starts.append(self._taken)
            self._taken += int(cells)
        return first

    def _cells_of(self, blocks: Blocks) -> Int64Array:
        return blocks.count_combinations(self._cardinalities) * self._target_levels


class UnionTables:
    """Summarises the tests of all elements of sets."""

    def __init__(self, contingency: Contingency) -> None:
        from komb.counts.contingency_kernels import dense_tables, union_tables

        self._kernels = union_tables
        self._rows_at_once = int(dense_tables.ROWS_AT_ONCE)
        self._contingency = contingency
        self._terms = contingency.table_terms()
        self._rows: Any = None
        self._is_ready = np.zeros(len(contingency.cardinalities), dtype=np.bool_)
        self._rooms: deque[object] = deque()  # buffers that no thread is using

    @property
    def most_combinations(self) -> int:
        """Of the levels of a block, or a set, that can be counted."""
        return min(MOST_COMBINATIONS, MOST_CELLS // self._contingency.target_levels)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns that are ready."""
        return int(np.count_nonzero(self._is_ready)) * self._contingency.codes.strides[0]

    def sort(self, columns: Int64Array) -> None:
        """Have some columns ready to be counted, in a copy of their own."""
        codes, target = self._contingency.codes, self._contingency.target
        if self._rows is None:
            counts = np.bincount(codes[target], minlength=self._contingency.target_levels)
            self._rows = self._kernels.Sorted(
                codes=np.empty_like(codes),  # memory that is not written to is not taken
                y_start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
                levels=self._contingency.cardinalities,
            )
        order = self._contingency.row_order
        for column in columns[~self._is_ready[columns]].tolist():
            np.take(codes[column], order, out=self._rows.codes[column])
            self._is_ready[column] = True

    def count(self, blocks: Blocks, unions: Int64Array, least_fit: Int64Array) -> Int64Array:
        """Count some blocks, and the sets inside; threads may do so at the same time."""
        n_combinations = blocks.count_combinations(self._contingency.cardinalities)
        if (n_combinations > self.most_combinations).any():  # kernels would write beyond
            raise ValueError(f"a block may have at most {self.most_combinations:,} combinations")
        out = np.zeros((*least_fit.shape, 9), dtype=np.int64)
        room = self._take_room()
        self._kernels.summarise_unions(
            self._rows, self._terms, room, blocks.columns, blocks.sizes, blocks.first, unions,
            least_fit, out,
        )  # fmt: skip
        self._rooms.append(room)
        return out

    def count_blocks(self, counted: CountedBlocks, first: int, end: int) -> None:
        """Count some blocks whose columns are ready; threads may do so at the same time."""
        columns, sizes, starts = counted.described
        room = self._take_room()
        self._kernels.count_blocks(
            self._rows, room, columns[first:end], sizes[first:end], starts[first:end],
            counted.tables,
        )  # fmt: skip
        self._rooms.append(room)

    def read_tests(
        self,
        counted: CountedBlocks,
        terms: object,
        block_of: Int64Array,
        unions: Int64Array,
        places: Int64Array,
    ) -> tuple[Int64Array, Int64Array]:
        """Summarise tests, each that of one element of a set inside of a counted block.

        Returns fit, strata and length, which is 0, of the given sets, and sums over the tests. A
        place beyond the last element has the set itself as the given one.
        """
        given = np.zeros((len(places), 3), dtype=np.int64)
        tests = np.zeros((len(places), 9), dtype=np.int64)
        room = self._take_room()
        self._kernels.read_tests(
            self._contingency.cardinalities, self._contingency.target_levels, terms, room,
            *counted.described, counted.tables, block_of, unions, places, given, tests,
        )  # fmt: skip
        self._rooms.append(room)
        return given, tests

    def read_margins(
        self, counted: CountedBlocks, block: int, union: Int64Array, place: int
    ) -> tuple[Int64Array, Int64Array]:
        """Rows by stratum and level of one element of a set, and by stratum and target."""
        levels, n_y = self._contingency.cardinalities, self._contingency.target_levels
        n_x = int(levels[union[place]])
        n_strata = math.prod(levels[union].tolist()) // n_x
        by_x = np.empty((n_strata, n_x), dtype=np.int64)
        by_y = np.empty((n_strata, n_y), dtype=np.int64)
        room = self._take_room()
        self._kernels.read_margins(
            levels, n_y, room, *counted.described, counted.tables, block, union, place, by_x, by_y
        )
        self._rooms.append(room)
        return by_x, by_y

    def read(
        self,
        tables: npt.NDArray[np.int32],
        unions: Int64Array,
        table_of: Int64Array,
        places: Int64Array,
    ) -> Int64Array:
        """Summarise tests whose tables are counted already."""
        out = np.zeros((len(places), 9), dtype=np.int64)
        room = self._take_room()
        self._kernels.summarise_tables(
            tables, self._contingency.cardinalities, self._contingency.target_levels, self._terms,
            room, unions, table_of, places, out,
        )  # fmt: skip
        self._rooms.append(room)
        return out

    @staticmethod
    def summaries(sums: Int64Array) -> Summaries:
        """Name the sums over some tests; those over given sets are not among them."""
        none = np.empty(0, dtype=np.int64)
        return Summaries(none, none, none, none[None], none, *sums.T)

    def _take_room(self) -> object:
        """Return buffers that no other thread is using."""
        try:
            return self._rooms.pop()
        except IndexError:
            n_combinations = max(self.most_combinations, SCREENED_COMBINATIONS)
            n_cells = n_combinations * self._contingency.target_levels
            block, margin, other_margin, table, exchanged = np.empty((5, n_cells), dtype=np.int32)
            most_levels = max(1, int(self._contingency.cardinalities.max()))
            return self._kernels.Room(
                strata=np.empty(self._contingency.n_rows, dtype=np.uint16),
                cells=np.empty(self._rows_at_once, dtype=np.uint16),
                block=block,
                margin=margin,
                other_margin=other_margin,
                table=table,
                exchanged=exchanged,
                column_sums=np.empty(most_levels, dtype=np.int64),
            )
