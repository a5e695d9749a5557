"""Counting a table on disk shard by shard, by as many threads as there may be."""

from __future__ import annotations

from collections.abc import Sequence

from komb.counts.joint_counts import (
    Columns,
    JointCounter,
    JointCounts,
    OnCounted,
    add_counts,
    count_part,
)
from komb.counts.threads import map_in_order, n_threads
from komb.data.memory_limit import check_limit
from komb.data.stored.stored_table import StoredTable

SHARE = 0.5
"""Of the memory limit that counts may take; the rest is for shards and statistics."""

LEAST_BYTES = 32 << 20
"""What counts may take however low the limit is."""


def counts_limit(memory_limit: int | str | None) -> int:
    """Return how many bytes counts may take if all of a search may take so many."""
    return max(int(SHARE * check_limit(memory_limit)), LEAST_BYTES)


class ShardCounter(JointCounter):
    """Counts the shards of a table, each mapped into memory only while it is counted."""

    def __init__(self, table: StoredTable) -> None:
        super().__init__(table.n_rows, table.cardinalities, table.missing_counts)
        self._table = table
        self._limit = counts_limit(table.memory_limit)

    @property
    def memory_limit(self) -> int:
        """Bytes that counts may take here."""
        return self._limit

    def count(
        self, lot: Sequence[Columns], on_counted: OnCounted | None = None
    ) -> list[JointCounts]:
        """Count each set of a lot, in one pass over the rows."""
        table, n_shards = self._table, self._table.n_shards

        def work(number: int) -> list[JointCounts]:
            return count_part(table.shard(number), self.n_codes, lot)

        threads = min(n_threads(), n_shards)
        added: list[JointCounts] | None = None
        for done, found in enumerate(map_in_order(work, range(n_shards), threads), 1):
            added = found if added is None else add_counts(added, found)
            if on_counted is not None:
                on_counted(done, n_shards)
        assert added is not None  # a table has rows
        return added
