"""What kernels remember of their tests: hash tables that grow, and are used again.

A table that was used before costs nothing but to be cleared: a new one has to be fetched from the
system page by page.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bytes of remembered decisions and sums per target; all are forgotten beyond.
REMEMBERED_BYTES = 256 << 20

_PLACES_AT_FIRST = 1 << 10
_SPARE_BYTES = 16 << 20  # kept for the next search


class HashTables:
    """Makes hash tables, enlarges them and takes them back."""

    def __init__(self) -> None:
        from komb.sessions.formula_kernels import hash_table

        self._hash = hash_table
        self._lent: dict[int, Any] = {}
        self._spare: list[Any] = []

    def make(self, most_columns: int, n_places: int | None = None) -> Any:
        """Return an empty table for sets of so many columns."""
        shape = _PLACES_AT_FIRST if n_places is None else n_places, most_columns + 2
        table = self._take_spare(shape)
        if table is None:
            table = self._hash.Hash(
                keys=np.empty(shape, dtype=np.int32),
                values=np.empty((shape[0], self._hash.N_VALUES), dtype=np.int64),
                used=np.empty(1, dtype=np.int64),
            )
        table.keys[:, 0] = self._hash.FREE
        table.used[0] = 0
        self._lent[id(table)] = table
        return table

    def _take_spare(self, shape: tuple[int, int]) -> Any:
        for number, table in enumerate(self._spare):
            if table.keys.shape == shape:
                return self._spare.pop(number)
        return None

    def take_back(self, table: Any) -> None:
        """Have a table ready for others."""
        self._spare.append(self._lent.pop(id(table)))

    def widened(self, table: Any, most_columns: int) -> Any:
        """Return the same table with room for sets of more columns."""
        return self._moved(table, len(table.keys), most_columns)

    def enlarged(self, table: Any) -> Any:
        """Double a table that is a quarter full, or clear it if it is too large for that."""
        n_places, width = table.keys.shape
        if 4 * int(table.used[0]) < n_places:
            return table
        if 2 * n_bytes(table) > REMEMBERED_BYTES // 2:
            self.take_back(table)
            return self.make(width - 2, n_places)
        return self._moved(table, 2 * n_places, width - 2)

    def _moved(self, table: Any, n_places: int, most_columns: int) -> Any:
        larger = self.make(most_columns, n_places)
        self._hash.move(table, larger)
        self.take_back(table)
        return larger

    def reclaim(self) -> None:
        """Take everything back, as the search that used it is over; keep what is worth keeping."""
        self._spare += self._lent.values()
        self._lent.clear()
        self._spare.sort(key=n_bytes)
        while sum(map(n_bytes, self._spare)) > _SPARE_BYTES:
            self._spare.pop()


def n_bytes(table: Any) -> int:
    """Bytes of a hash table."""
    held: int = table.keys.nbytes + table.values.nbytes
    return held
