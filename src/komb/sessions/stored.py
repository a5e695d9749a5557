"""Answers from a table that is counted part by part: shards on disk, or on a cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from komb.citests.contract import CITest
from komb.counts.added_contingency import AddedContingency, CountTerms
from komb.counts.cluster_counter import (
    TASKS_PER_THREAD,
    ClusterCounter,
    HeldParts,
    StoredParts,
)
from komb.counts.contingency import Contingency
from komb.counts.joint_counts import Columns, JointCounter, JointCounts
from komb.counts.joint_tables import JointTables
from komb.counts.shard_counts import ShardCounter, counts_limit
from komb.data.stored.cluster_table import ClusterTable
from komb.data.stored.stored_table import StoredTable
from komb.data.table import DiscreteTable
from komb.sessions.data import TableSource
from komb.sessions.questions import Variables
from komb.sessions.workspace import Workspace


def find_counter(table: StoredTable | ClusterTable) -> JointCounter | None:
    """Choose who counts a table; None if it fits into memory here, where counting is quickest."""
    if isinstance(table, ClusterTable):
        held = HeldParts(table.held, table.places)
        return ClusterCounter(table, held, table.cluster, counts_limit(None))
    if table.fits:
        return None
    if table.cluster is None:
        return ShardCounter(table)
    parts = StoredParts(table, TASKS_PER_THREAD * sum(table.cluster.nthreads().values()))
    return ClusterCounter(table, parts, table.cluster, counts_limit(table.memory_limit))


class CountedWorkspace(Workspace):
    """Contingencies of a table that somebody counts part by part."""

    is_kept = False  # what it knows goes with the counts

    def __init__(self, tables: JointTables) -> None:
        self.cardinalities = tables.counter.cardinalities
        self.contingencies = {}
        self._kept = {}
        self._tables = tables
        self._terms = CountTerms(tables.counter.n_rows)

    def _make_contingency(self, target: int) -> Contingency:
        return AddedContingency(self._tables, target, self._terms)


class CountedSource(TableSource):
    """Tests on counts that somebody adds up over the parts of a table."""

    def __init__(
        self, table: DiscreteTable, test: CITest, alpha: float, counter: JointCounter
    ) -> None:
        self._tables = JointTables(counter)
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
