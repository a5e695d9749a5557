"""Sets counted once for the tests of all their elements, on long tables.

What the kernels in :mod:`komb.counts.contingency_kernels.union_tables` need, and buffers for as
many threads as use them.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.counts.column_blocks import Blocks
from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import Int64Array
from komb.counts.union_screen import MOST_COMBINATIONS as SCREENED_COMBINATIONS

MOST_CELLS = 1 << 18
"""Of a table."""

MOST_COMBINATIONS = 1 << 15
"""Of the levels of a block, and so of a set: rows of one level of the target are counted in tables
that stay in the cache, and combinations are numbered in 16 bits."""


class UnionTables:
    """Summarises the tests of all elements of sets.

    Parameters
    ----------
    contingency : Contingency
        Of a table without missing values.
    """

    def __init__(self, contingency: Contingency) -> None:
        from komb.counts.contingency_kernels import union_tables

        self._kernels = union_tables
        self._contingency = contingency
        self._terms = contingency.table_terms()
        self._rows: Any = None
        self._rooms: deque[object] = deque()  # buffers that no thread is using

    @property
    def most_combinations(self) -> int:
        """Of the levels of a block, or a set, that can be counted."""
        return min(MOST_COMBINATIONS, MOST_CELLS // self._contingency.target_levels)

    def sort(self, columns: Int64Array) -> None:
        """Have some columns ready to be counted, in a copy of their own."""
        codes, target = self._contingency.codes, self._contingency.target
        order = self._contingency.row_order
        by_target = np.empty_like(codes)  # memory that is not written to is not taken
        for column in columns.tolist():
            np.take(codes[column], order, out=by_target[column])
        counts = np.bincount(codes[target], minlength=self._contingency.target_levels)
        self._rows = self._kernels.Sorted(
            codes=by_target,
            y_start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            levels=self._contingency.cardinalities,
        )

    def count(self, blocks: Blocks, unions: Int64Array, least_fit: Int64Array) -> Int64Array:
        """Count some blocks, and the sets inside; threads may do so at the same time.

        Parameters
        ----------
        blocks : Blocks
            Of columns that are ready; none may have more than ``most_combinations``.
        unions : int array of shape (n_sets, size + 1)
            In the order of the blocks, ascending.
        least_fit : int array of shape (n_sets, size + 1)
            Of a set, for the test of each of its elements; of others only the fit is summed.

        Returns
        -------
        int array of shape (n_sets, size + 1, 9)
            For the test of each element, what :meth:`summaries` takes.
        """
        levels = self._contingency.cardinalities
        is_inside = np.arange(blocks.columns.shape[1]) < blocks.sizes[:, None]
        n_cells = np.where(is_inside, levels[blocks.columns], 1).prod(axis=1)
        if (n_cells > self.most_combinations).any():  # kernels would write beyond
            raise ValueError(f"a block may have at most {self.most_combinations:,} combinations")
        out = np.zeros((*least_fit.shape, 9), dtype=np.int64)
        room = self._take_room()
        self._kernels.summarise_unions(
            self._rows, self._terms, room, blocks.columns, blocks.sizes, blocks.first, unions,
            least_fit, out,
        )  # fmt: skip
        self._rooms.append(room)
        return out

    def read(
        self,
        tables: npt.NDArray[np.int32],
        unions: Int64Array,
        table_of: Int64Array,
        places: Int64Array,
    ) -> Int64Array:
        """Summarise tests whose tables are counted already.

        Parameters
        ----------
        tables : array of shape (n_unions, n_cells)
            ``[stratum, y, x]``, strata numbered by all elements but the last, which is x.
        unions : int array of shape (n_unions, size + 1)
        table_of, places : int array
            Of each test, the table and the element that is tested.
        """
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
                cells=np.empty(int(self._kernels.ROWS_AT_ONCE), dtype=np.uint16),
                block=block,
                margin=margin,
                other_margin=other_margin,
                table=table,
                exchanged=exchanged,
                column_sums=np.empty(most_levels, dtype=np.int64),
            )
