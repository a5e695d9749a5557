"""Answers from a table that is counted part by part: on disk, or on a cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from komb.citests.counted import CountedTest
from komb.counts.added_contingency import AddedContingency, CountTerms
from komb.counts.contingency import Contingency
from komb.counts.joint_counts import Columns, JointCounts
from komb.data.stored.format import CodesOnDisk
from komb.data.table import DiscreteTable
from komb.engine.blocks import Blocks, ThreadCounter
from komb.engine.cluster import ClusterCounter
from komb.engine.questions import Variables
from komb.sessions.data import TableSource
from komb.sessions.workspace import Workspace


class JointTables:
    """Joint counts of one table, for :class:`AddedContingency`."""

    def __init__(self, table: DiscreteTable) -> None:
        self.n_rows, self.cardinalities = table.n_rows, table.cardinalities
        self.missing = table.missing_counts
        counter = ThreadCounter(table) if table.cluster is None else ClusterCounter(table)
        limit = table.parts.memory_limit if isinstance(table.parts, CodesOnDisk) else None
        self._blocks = Blocks(counter, limit)
        self._inside: dict[Columns, JointCounts] = {}

    def lots(self, sets: Sequence[Columns]) -> Iterator[list[int]]:
        """Have all sets counted; yields places of sets whose counts are at hand just then."""
        for places, counts in self._blocks.count(sets):
            self._inside = {sets[place]: counts for place in places}
            yield places

    def counts_of(self, columns: Columns) -> JointCounts:
        """Return the counts of a set that is at hand."""
        return self._inside[columns].margin(columns)


class CountedWorkspace(Workspace):
    """Contingencies of a table that somebody counts part by part."""

    is_kept = False  # what it knows goes with the counts

    def __init__(self, tables: JointTables) -> None:
        self.cardinalities = tables.cardinalities
        self.contingencies = {}
        self._kept = {}
        self._tables = tables
        self._terms = CountTerms(tables.n_rows)

    def _make_contingency(self, target: int) -> Contingency:
        return AddedContingency(self._tables, target, self._terms)


class CountedSource(TableSource):
    """Tests on counts that somebody adds up over the parts of a table."""

    def __init__(self, table: DiscreteTable, test: CountedTest, alpha: float) -> None:
        self._tables = JointTables(table)
        super().__init__(table, test, alpha, CountedWorkspace(self._tables))

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether each combination of values goes with one value of another column."""
        counts = self._counts([*given, variable])
        places = [counts.columns.index(column) for column in sorted(given)]
        codes, found = self._complete(counts)
        n_combinations = len(np.unique(codes[places], axis=1).T) if len(found) else 0
        if n_combinations * min_rows > found.sum():
            return False
        return len(found) == n_combinations

    def _counts(self, columns: Sequence[int]) -> JointCounts:
        wanted: Columns = tuple(sorted(set(columns)))
        for _ in self._tables.lots([wanted]):
            pass
        return self._tables.counts_of(wanted)

    def _complete(self, counts: JointCounts) -> tuple[np.ndarray, np.ndarray]:
        """Codes and counts of the combinations that occur, without missing values."""
        codes = counts.codes()
        levels = self._cardinalities[list(counts.columns)]
        is_there = (counts.counts > 0) & (codes < levels[:, None]).all(axis=0)
        return codes[:, is_there], counts.counts[is_there]

    def _explained_share(self, target: int, candidate: int) -> float:
        counts = self._counts([candidate, target])
        codes, found = self._complete(counts)
        x, y = codes[[counts.columns.index(candidate), counts.columns.index(target)]]
        n_rows = int(found.sum())
        order = np.lexsort((y, x))  # as the cells are numbered in memory
        x, y, found = x[order], y[order], found[order]
        by_x = np.bincount(x, weights=found).astype(np.int64)
        by_y = np.bincount(y, weights=found).astype(np.int64)
        fit = found**2 / (by_x[x] * by_y[y])
        x_levels, y_levels = np.count_nonzero(by_x), np.count_nonzero(by_y)
        if n_rows < 2 or y_levels < 2:
            return 0.0
        explained = (math.fsum(fit) - 1.0) / (y_levels - 1)
        chance = (x_levels - 1) / (n_rows - 1)
        return (explained - chance) / (1.0 - chance) if chance < 1 else 0.0
