"""Contingency tables of one target in a table of very many rows: counted in blocks, then read.

A test with some conditions goes through all rows for its given set, for its table, and once more
for the margins that the moments of G depend on. Where there are many more rows than cells, the
columns of several tests are counted together instead, as one block
(:mod:`komb.counts.column_blocks`), and everything is read from its table, which is kept for a
while: searches ask about the same few columns again and again. Sums are the same to the last bit.

Tests whose strata are few enough for bitmaps are counted faster by popcount, as they always were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from komb.counts.column_blocks import Columns, merge_sets
from komb.counts.contingency import (
    MAX_BITMAP_LEVELS,
    STRATA_BYTES,
    Codes,
    Contingency,
    SharedTables,
    Summaries,
)
from komb.counts.fixedpoint import Int64Array
from komb.counts.threads import map_in_order
from komb.counts.union_tables import CountedBlocks, UnionTables

LONG_ROWS = 1 << 16
"""Rows from which on tables are read."""

CELLS_PER_ROW = 0.25
"""Of a block, at most: beyond, going through its table takes as long as through the rows."""

_BLOCKS_PER_PART = 4  # that a thread counts at a time


class LongContingency(Contingency):
    """As :class:`~komb.counts.contingency.Contingency`, for long tables without missing values."""

    def __init__(
        self,
        codes: Codes,
        cardinalities: Int64Array,
        target: int,
        shared: SharedTables | None = None,
    ) -> None:
        super().__init__(codes, cardinalities, target, shared)
        self._unions = UnionTables(self)
        self._counted = CountedBlocks(cardinalities, self.target_levels)

    @property
    def keeps_tables(self) -> bool:
        """Whether :meth:`margins` may know a test."""
        return True

    def union_tables(self) -> UnionTables:
        """Return what counts sets of columns for the tests of all their elements."""
        return self._unions

    @property
    def nbytes(self) -> int:
        """Bytes that are held for this target, besides the shared ones."""
        return super().nbytes + self._unions.nbytes + self._counted.nbytes

    def margins(
        self, given: Int64Array, candidate: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
        """Count the candidate and the target in each stratum, if that is at hand."""
        union = tuple(sorted((*given.tolist(), candidate)))
        if (place := self._counted.find(union)) is None:
            return None
        return self._unions.read_margins(
            self._counted, place, np.array(union), union.index(candidate)
        )

    def summarise(
        self,
        given: Int64Array,
        candidate_start: Int64Array,
        candidates: Int64Array,
        *,
        length_below: float = 0.0,
        wants_tables: bool = False,
        wants_splits: bool = False,
    ) -> Summaries:
        """As :meth:`Contingency.summarise`."""
        is_read = self._are_read(given, candidate_start, candidates, length_below)
        if not is_read.any():
            return super().summarise(
                given, candidate_start, candidates, length_below=length_below,
                wants_tables=wants_tables, wants_splits=wants_splits,
            )  # fmt: skip
        counts = np.diff(candidate_start)
        is_read_test = np.repeat(is_read, counts)
        sums = np.zeros((len(given), 3), dtype=np.int64)
        unions = np.zeros((len(candidates), 9), dtype=np.int64)
        n_classes = len(self.class_levels) if wants_splits else 0
        splits = np.zeros((len(given), n_classes), dtype=np.int64)
        sums[is_read], unions[is_read_test] = self._read(
            given[is_read], counts[is_read], candidates[is_read_test], wants_tables
        )
        if not is_read.all():
            starts = np.concatenate(([0], np.cumsum(counts[~is_read]))).astype(np.int64)
            others = super().summarise(
                given[~is_read], starts, candidates[~is_read_test], length_below=length_below,
                wants_tables=wants_tables, wants_splits=wants_splits,
            )  # fmt: skip
            sums[~is_read] = np.column_stack((others.fit, others.strata, others.length))
            splits[~is_read] = others.splits
            unions[~is_read_test] = np.column_stack(others[5:])
        fit, strata, length = sums.T
        no_rows = np.empty(0, dtype=np.int64)
        return Summaries(fit, strata, length, splits, no_rows, *unions.T)

    def _are_read(
        self,
        given: Int64Array,
        candidate_start: Int64Array,
        candidates: Int64Array,
        length_below: float,
    ) -> npt.NDArray[np.bool_]:
        """Which given sets are read with all of their candidates; none that has code lengths."""
        size = given.shape[1]
        if size == 0 or self._lengths_for(size, length_below)[1] > 0:
            return np.zeros(len(given), dtype=np.bool_)
        levels = self.cardinalities.astype(np.float64)
        strata = levels[given].prod(axis=1)
        widest = np.ones(len(given))
        np.maximum.at(
            widest, np.repeat(np.arange(len(given)), np.diff(candidate_start)), levels[candidates]
        )
        is_small: npt.NDArray[np.bool_] = strata * widest <= self._most_combinations
        return is_small & ~self._are_packed(given, strata)

    def _are_packed(
        self, given: Int64Array, strata: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.bool_]:
        """Which given sets have bitmaps of their strata."""
        n_words = self._prepared.bitmaps.shape[1]
        affordable = STRATA_BYTES // (8 * max(1, n_words) * (given.shape[1] + 1))
        can_pack = (self._prepared.level_start >= 0) | self._is_to_pack
        can_pack &= self.cardinalities <= MAX_BITMAP_LEVELS
        is_few: npt.NDArray[np.bool_] = (strata <= affordable) & (n_words > 0)
        is_packed: npt.NDArray[np.bool_] = can_pack[given].all(axis=1)
        return is_packed & is_few

    @property
    def _most_combinations(self) -> float:
        per_level = CELLS_PER_ROW * float(self.n_rows) / max(1, self.target_levels)
        return min(float(self._unions.most_combinations), per_level)

    def _read(
        self, given: Int64Array, counts: Int64Array, candidates: Int64Array, wants_tables: bool
    ) -> tuple[Int64Array, Int64Array]:
        """Sum over given sets, and over their tests, from tables of blocks."""
        set_of = np.repeat(np.arange(len(given)), counts)
        alone = np.flatnonzero(counts == 0)
        own = np.zeros((len(given), 3), dtype=np.int64)
        by_set = [tuple(sorted(row)) for row in given[alone].tolist()]
        for places, sums, _ in self._read_sets(by_set, [given.shape[1]] * len(alone), False):
            own[alone[places]] = sums
        rows = np.column_stack((given[set_of], candidates)).tolist()
        unions = [tuple(sorted(row)) for row in rows]
        tested = [union.index(row[-1]) for union, row in zip(unions, rows, strict=True)]
        out = np.zeros((len(candidates), 9), dtype=np.int64)
        for places, sums, tests in self._read_sets(unions, tested, wants_tables):
            own[set_of[places]] = sums
            out[places] = tests
        return own, out

    def _read_sets(
        self, unions: Sequence[Columns], tested: Sequence[int], wants_tables: bool
    ) -> Iterator[tuple[Int64Array, Int64Array, Int64Array]]:
        """Read tests, some at a time: their places, and sums over given sets and over tests."""
        terms = self._terms(0, 0.0, wants_tables)
        for places in self._at_hand(unions):
            block_of = np.array([self._counted.find(unions[place]) for place in places])
            yield (
                np.array(places),
                *self._unions.read_tests(
                    self._counted, terms, block_of, np.array([unions[place] for place in places]),
                    np.array([tested[place] for place in places]),
                ),
            )  # fmt: skip

    def _at_hand(self, unions: Sequence[Columns]) -> Iterator[list[int]]:
        """Have all sets counted; yields places of those whose tables are at hand just then."""
        is_known = [self._counted.find(union) is not None for union in unions]
        known = [place for place, is_so in enumerate(is_known) if is_so]
        if known:
            yield known
        left = [place for place, is_so in enumerate(is_known) if not is_so]
        blocks = merge_sets(
            [unions[place] for place in left], self.cardinalities.tolist(), self._most_combinations
        )
        self._unions.sort(np.unique([x for place in left for x in unions[place]]).astype(np.int64))
        done = 0
        while done < len(blocks.sizes):
            end = self._counted.make_room(blocks, done)
            first = self._counted.add(blocks.part(done, end))
            parts = range(first, len(self._counted), _BLOCKS_PER_PART)
            n_workers = len(self.workers(end - done))
            for _ in map_in_order(self._count_part, parts, n_workers):
                pass
            inside = blocks.part(done, end).order
            yield [left[place] for place in inside.tolist()]
            done = end

    def _count_part(self, first: int) -> None:
        self._unions.count_blocks(
            self._counted, first, min(first + _BLOCKS_PER_PART, len(self._counted))
        )
