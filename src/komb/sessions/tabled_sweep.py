"""Sweeps of long tables, whose sets are counted once for the tests of all their elements.

A statistic that needs the table of each test would have every set counted again for each of its
elements. Where there are many more rows than cells, the table of a set is read for all of them
(:mod:`komb.counts.union_tables`). Sums are the same, so answers are.

Several sets are counted at once, as one block of columns (:mod:`komb.counts.column_blocks`).

That takes a copy of the columns of the sweep, their rows sorted by the target, and 2 bytes per row
and up to 5 MiB for every thread.
"""

from __future__ import annotations

import math

import numpy as np

from komb.citests.contract import CITest
from komb.citests.measure import BoolArray
from komb.counts.column_blocks import Blocks, block_sets
from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import Int64Array
from komb.counts.long_contingency import LONG_ROWS
from komb.counts.threads import map_in_order, n_threads
from komb.counts.union_tables import UnionTables
from komb.sessions.listed_tests import ListedTables
from komb.sessions.screened_sweep import NEVER, needed_gain, screen_by_g

POPCOUNT_CELLS = 4.0
"""Cells per set, besides those that follow from others, up to which popcounts are taken. On a
million rows triples of three levels (8 cells) take 0.15 ms by popcount and 0.09 ms in blocks; on
300,000 the two differ by up to 30 %, either way."""

_BLOCKS_PER_PART = 8  # that a thread counts at a time


class TabledSweep:
    """The part of a sweep whose tables are read.

    Parameters
    ----------
    contingency : Contingency
    test : CITest
    alpha : float
        What is no dependence at this level may be ruled out.
    variables : int array
        The pool.
    is_asked : bool array
        Which of the pool are candidates.
    size : int
        Number of conditions.

    Attributes
    ----------
    has_all : bool
        Whether all sets are counted here.
    is_quicker : bool
        Whether that takes less time than to have them screened by popcount.
    """

    def __init__(
        self,
        contingency: Contingency,
        test: CITest,
        alpha: float,
        variables: Int64Array,
        is_asked: BoolArray,
        size: int,
    ) -> None:
        self._contingency = contingency
        self._test, self._alpha = test, alpha
        self._variables, self._is_asked = variables, is_asked
        self._tables: UnionTables = contingency.union_tables()
        self._levels = contingency.cardinalities[variables].astype(np.float64)
        self._most = min(
            self._tables.most_combinations, contingency.n_rows / contingency.target_levels
        )
        largest = np.sort(self._levels)[-size - 1 :]
        self.has_all = math.prod(largest.tolist()) <= self._most
        n_cells = float(np.mean(self._levels - 1.0)) ** (size + 1)
        self.is_quicker = self.has_all and n_cells > POPCOUNT_CELLS

    def has(self, union: Int64Array) -> BoolArray:
        """Which sets, rows of places in the pool, are counted here."""
        inside: BoolArray = self._levels[union].prod(axis=1) <= self._most
        return inside

    def plan(self, unions: Int64Array) -> Blocks:
        """Choose what to count for some sets, rows of places in the pool."""
        blocks = block_sets(unions, self._levels.astype(np.int64), self._most)
        return blocks._replace(columns=self._variables[blocks.columns])

    def count(
        self,
        blocks: Blocks,
        unions: Int64Array,
        ranks: Int64Array,
        places: Int64Array,
        own: Summaries,
    ) -> tuple[BoolArray, Int64Array]:
        """Count some blocks, by several threads."""
        self._tables.sort(self._variables)
        least_fit = self._least_fit(ranks, places, own)
        columns = self._variables[unions]

        def work(first: int) -> Int64Array:
            inside = slice(*blocks.first[[first, min(first + _BLOCKS_PER_PART, n_blocks)]])
            part = blocks.part(first, min(first + _BLOCKS_PER_PART, n_blocks))
            return self._tables.count(part, columns[inside], least_fit[inside])

        n_blocks = len(blocks.sizes)
        parts = range(0, n_blocks, _BLOCKS_PER_PART)
        sums = np.concatenate([*map_in_order(work, parts, n_threads())])
        is_reached = sums[:, :, 0] >= least_fit
        return is_reached, sums[is_reached]

    def read(self, listed: ListedTables) -> Int64Array:
        """Sum over the tables of tests that were counted elsewhere."""
        return self._tables.read(listed.tables, listed.unions, listed.union_of, listed.omitted)

    def _least_fit(self, ranks: Int64Array, places: Int64Array, own: Summaries) -> Int64Array:
        """Fit of a union that the test of each of its elements needs to be a dependence."""
        levels = self._contingency.cardinalities[self._variables[places]]
        freedom = (levels - 1) * (self._contingency.target_levels - 1) * own.strata[ranks]
        screen = screen_by_g(self._test, freedom.ravel(), self._alpha)
        assert screen is not None  # or there would be no such sweep
        gain = needed_gain(screen, self._contingency.scale).reshape(ranks.shape)
        return np.where(self._is_asked[places], own.fit[ranks] + gain, NEVER)


def tabled_sweep(
    contingency: Contingency,
    test: CITest,
    alpha: float,
    variables: Int64Array,
    is_asked: BoolArray,
    size: int,
) -> TabledSweep | None:
    """Prepare the part of a sweep whose tables are read, if that is worth while.

    That is for statistics that need the tables of tests, but no code lengths, and that can be ruled
    out by G alone.
    """
    if not (test.needs_tables and test.can_screen) or test.length_below > 0:
        return None
    n_rows, n_y = contingency.n_rows, contingency.target_levels
    if not contingency.has_rows or contingency.has_missing or n_rows < LONG_ROWS or n_y == 0:
        return None
    screen = screen_by_g(test, np.ones(1, dtype=np.int64), alpha)
    if screen is None or screen.rows_per_cell > 0:
        return None
    return TabledSweep(contingency, test, alpha, variables, is_asked, size)
