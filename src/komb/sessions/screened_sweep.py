"""Sweeps whose tests are decided, nearly all of them, where they are counted.

If a test can say how large ``G`` must be for a dependence, one kernel counts all sets of a sweep
and lists the few that reach it (:mod:`komb.counts.union_screen`). That goes for columns of few
levels, and for sets whose tables have rows enough; all others are counted and decided as in any
other sweep. What is listed is decided like any other test, so answers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, tee

import numpy as np

from komb.citests.contract import CITest, GScreen
from komb.citests.measure import BoolArray
from komb.counts.binomials import binomials
from komb.counts.cluster_screens import find_workers, screen_on
from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import Int64Array
from komb.counts.threads import map_in_order, n_threads
from komb.counts.union_screen import (
    MOST_COMBINATIONS,
    SETS_PER_BLOCK,
    Need,
    Rectangle,
    Screened,
    UnionScreen,
)
from komb.sessions.listed_tests import Listed, ListedTables
from komb.sessions.sweep_journal import SweepJournal, hash_arrays
from komb.sessions.sweeps import colex_subsets, rank_sets

LEAST_WORK = 1 << 29
"""Rows of all sets, from which on it is worth having another kernel ready."""

WORK_PER_THREAD = 1 << 27
"""Rows of all sets that are worth starting a thread for."""

_SMALLEST_ALPHA, _LARGEST_ALPHA = 1e-290, 1.0
_MARGIN = 1e-6  # relative, for rounding; what is listed for nothing is decided all the same
_MARGIN_BITS = 1e-6
NEVER = 1 << 61
"""A fit that nothing reaches."""


class ScreenedSweep:
    """The part of a sweep that one kernel counts and screens."""

    def __init__(
        self,
        contingency: Contingency,
        screen: GScreen,
        variables: Int64Array,
        is_asked: BoolArray,
        size: int,
        most_cells: int,
    ) -> None:
        self._contingency = contingency
        self._variables = variables
        self._is_asked = is_asked
        self._size = size
        self._most_cells = most_cells
        self._rows_per_combination = screen.rows_per_cell * contingency.target_levels
        self._gain = needed_gain(screen, contingency.scale)
        levels = contingency.cardinalities[variables]
        self._levels = levels.astype(np.float64)
        self.is_inside: BoolArray = contingency.has_bitmaps[variables] & (levels <= most_cells)
        # columns of equally many levels side by side, for they are counted side by side
        order = np.lexsort((levels, is_asked))
        self._places = order[self.is_inside[order]]
        largest = np.sort(levels)[::-1][: size + 1]
        self.has_all = bool(self.is_inside.all()) and math.prod(largest.tolist()) <= most_cells

    @property
    def n_rows(self) -> int:
        """Rows of all its sets together: how much work it is."""
        smallest = np.sort(self._levels[self._places])[: self._size + 1]
        if math.prod(smallest.tolist()) > self._most_cells:
            return 0
        n_unions = math.comb(len(self._places), self._size + 1)
        return n_unions * int(self._contingency.n_rows)

    def has(self, union: Int64Array) -> BoolArray:
        """Which sets, rows of places in the pool, are counted here."""
        is_small = self._levels[union].prod(axis=1) <= self._most_cells
        inside: BoolArray = self.is_inside[union].all(axis=1) & is_small
        return inside

    def run(
        self,
        own: Summaries | None,
        unions_per_chunk: int,
        journal: SweepJournal | None = None,
        *,
        wants_tables: bool = False,
    ) -> Iterator[Listed]:
        """Count all sets; yield the tests that may be dependences, a part of the sets at a time."""
        sets = colex_subsets(len(self._places), self._size)
        pool_binomials = binomials(len(self._variables), self._size)
        ranks = rank_sets(np.sort(self._places[sets], axis=1), pool_binomials)
        columns = self._variables[self._places]
        kinds, kind = np.unique(self._contingency.cardinalities[columns], return_inverse=True)
        screen = UnionScreen(
            self._contingency,
            columns,
            kind.astype(np.int64),
            self._is_asked[self._places],
            sets,
            self._most_cells,
            Need(self._needed_fit(own, ranks, kinds), self._gain, self._rows_per_combination),
            wants_tables=wants_tables,
        )

        def list_all(parts: Iterator[Rectangle]) -> Iterator[Listed]:
            ahead, own = tee(parts)
            for part, found in zip(own, _screen_all(screen, ahead, self.n_rows), strict=True):
                yield self._listed(screen.count(part), sets, found, pool_binomials)

        parts = screen.cut(unions_per_chunk)
        if journal is None:
            yield from list_all(parts)
            return
        with journal.section(self._key(unions_per_chunk)) as section:
            yield from section.done
            left = islice(parts, section.n_parts, None)
            for listed in list_all(left):
                section.note(listed)
                yield listed

    def _key(self, unions_per_chunk: int) -> str:
        """Tell this sweep from all others on the same table, and this way to cut it."""
        numbers = np.array(
            [self._size, self._most_cells, unions_per_chunk, SETS_PER_BLOCK], dtype=np.int64
        )
        rows = np.array([self._rows_per_combination])
        target = self._contingency.target
        return f"{target}-{hash_arrays(numbers, rows, self._gain, self._variables, self._is_asked)}"

    def _needed_fit(
        self, own: Summaries | None, ranks: Int64Array, kinds: Int64Array
    ) -> Int64Array:
        """Fit that a union needs for the test of a candidate of each kind given each set."""
        if own is None:
            return np.empty((0, 0), dtype=np.int64)
        fit, strata = own.fit[ranks], own.strata[ranks]
        top = len(self._gain) - 1  # sets of more combinations are not counted here
        return np.stack([fit + self._gain[np.minimum((kind - 1) * strata, top)] for kind in kinds])

    def _listed(
        self, n_unions: int, sets: Int64Array, found: Screened, pool_binomials: Int64Array
    ) -> Listed:
        """Take unions apart into tests, and number their given sets as the pool does."""
        union = self._places[np.column_stack((sets[found.given], found.candidate))]
        ranks, places, hits, elements = [], [], [], []
        for omitted in range(self._size + 1):
            hit = np.flatnonzero(found.tests >> omitted & 1)
            given = np.sort(np.delete(union[hit], omitted, axis=1), axis=1)
            ranks.append(rank_sets(given, pool_binomials))
            places.append(union[hit, omitted])
            hits.append(hit)
            elements.append(np.full(len(hit), omitted))
        union_of = np.concatenate(hits)
        tables = None
        if len(found.tables):
            columns = self._variables[union]
            tables = ListedTables(columns, found.tables, union_of, np.concatenate(elements))
        tests = np.concatenate(ranks), np.concatenate(places), found.fit[union_of]
        return Listed(n_unions, found.n_counted, *tests, tables)


def screened_sweep(
    contingency: Contingency,
    test: CITest,
    alpha: float,
    variables: Int64Array,
    is_asked: BoolArray,
    size: int,
    most_cells: float,
) -> ScreenedSweep | None:
    """Prepare the part of a sweep that can be screened, if there is enough of it."""
    n_y = contingency.target_levels
    freedom = (n_y - 1) * np.arange(MOST_COMBINATIONS + 1)
    screen = screen_by_g(test, freedom, alpha)
    if screen is None or n_y == 0:
        return None
    rows_per_cell = max(screen.rows_per_cell, test.length_below)
    most_cells = min(most_cells, MOST_COMBINATIONS)
    if rows_per_cell > 0:  # tables that may be thin are counted with their code lengths
        most_cells = min(most_cells, contingency.n_rows / (rows_per_cell * n_y))
    screen = screen._replace(rows_per_cell=rows_per_cell)
    sweep = ScreenedSweep(contingency, screen, variables, is_asked, size, int(most_cells))
    return sweep if sweep.n_rows >= max(LEAST_WORK, 1) else None


def screen_by_g(test: CITest, freedom: Int64Array, alpha: float) -> GScreen | None:
    """Ask a test what it needs at a level for which there are critical values."""
    return test.screen_by_g(freedom, min(max(alpha, _SMALLEST_ALPHA), _LARGEST_ALPHA))


def _screen_all(screen: UnionScreen, parts: Iterator[Rectangle], n_rows: int) -> Iterator[Screened]:
    """Screen all rectangles, on a cluster or by threads here, whichever is quicker."""
    threads = max(1, min(n_threads(), n_rows // WORK_PER_THREAD))
    workers = find_workers(n_rows, screen.n_bytes, threads)
    if workers is not None:
        return screen_on(workers, screen, parts)
    return map_in_order(screen.screen, parts, threads)


def needed_gain(screen: GScreen, scale: float) -> Int64Array:
    """Fit that each test needs beyond that of its given set, in fixed point, with a margin."""
    bits = screen.smallest / (2.0 * math.log(2.0)) * (1.0 - _MARGIN) - _MARGIN_BITS
    gain: Int64Array = np.minimum(bits * scale, NEVER).astype(np.int64)
    return gain
