"""Memory for what lots ask and answer, kept from lot to lot.

To make arrays and a record of them takes ten times as long as to write down a short question.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from komb.counts.fixedpoint import Int64Array
from komb.sessions.questions import Variables

_ITEMS_AT_FIRST, _COLUMNS_AT_FIRST = 256, 8
_ITEMS_KEPT = 1 << 12
_STACK_CELLS = 1 << 21  # rows times columns: beyond, bases are not kept from set to set
RECENT, RECENT_COLUMNS = 4, 4  # separators tried again for each candidate, and their size at most


class LotBuffers:
    """Records of the present lot and of the present given set, whose arrays grow."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        from komb.sessions.formula_kernels import counting, lot
        from komb.sessions.formula_kernels.hash_table import NO_COLUMN

        self._names, self._counting, self._no_column = lot, counting, NO_COLUMN
        self._n_rows = n_rows
        self._n_columns = n_columns
        self._n_items, self._width = self._enough(_ITEMS_AT_FIRST), _COLUMNS_AT_FIRST
        self._no_walk = self._make_no_walk()
        self.lot = self._make_lot(self._no_walk)
        self.most_columns = _COLUMNS_AT_FIRST
        self.given = self._make_given()

    def lot_for(self, n_items: int, width: int, walk: Any = None) -> Any:
        """Return the lot, with room for so many items and for sets of so many columns."""
        if n_items > self._n_items or width > self._width:
            self._n_items = _grown(self._n_items, n_items)
            self._width = _grown(self._width, width)
            self.lot = self._make_lot(self.lot.walk)
        if walk is not None and walk is not self.lot.walk:
            self.lot = self.lot.replaced(walk=walk)
        return self.lot

    def _make_no_walk(self) -> Any:
        none = np.zeros(1, dtype=np.int64)
        return self._names.Walk(
            entered=none, examined=np.zeros((1, 1), dtype=np.int32), first=none, position=none,
            binomials=none[None], last=none,
        )  # fmt: skip

    def _make_lot(self, walk: Any) -> Any:
        n_items, width = self._n_items, self._width

        def integers(size: int) -> Int64Array:
            return np.zeros(size, dtype=np.int64)

        def sets(columns: int) -> Any:
            return np.empty((n_items, columns), dtype=np.int32)

        return self._names.Lot(
            asked=integers(self._names.N_ASKED),
            place=integers(self._names.FIRST_POSITION + width + 1),
            ends=integers(n_items),
            lines=np.zeros((n_items, self._names.N_OF_LINE), dtype=np.int64),
            columns=integers(n_items),
            evidence=np.zeros(n_items),
            found=integers(n_items),
            sets=sets(width + 1),
            pool=integers(n_items),
            core=integers(n_items),
            separators=sets(width + 1),
            answers=sets(width + 3),
            walk=walk,
            free=integers(n_items),
            chosen=integers(width + 1),
            allies=integers(width + 1),
        )

    def given_for(self, most_columns: int) -> Any:
        """Return the record of the present given set, with room for so many columns."""
        if most_columns > self.most_columns:
            self.most_columns = most_columns
            self.given = self._make_given()
        return self.given

    def _make_given(self) -> Any:
        most = self.most_columns
        n_bases = most + 1 if self._n_rows * (most + 1) <= _STACK_CELLS else 2

        def integers(size: int) -> Int64Array:
            return np.zeros(size, dtype=np.int64)

        # what separated a candidate before is written down before it turns out to be too large
        room = most + RECENT_COLUMNS + 1
        return self._counting.Given(
            columns=integers(room),
            ordered=integers(room),
            union=integers(room + 1),
            state=integers(self._counting.N_STATE),
            own=integers(3),
            packed=integers(most + 1),
            based=integers(most + 1),
            grouped=integers(most + 1),
            bases=np.empty((n_bases, self._n_rows), dtype=np.uint32),
            sums=np.zeros((1, 9), dtype=np.int64),
            counts=integers(4),
        )

    def reclaim(self) -> None:
        """Give the memory of large lots back."""
        if self._n_items > self._enough(_ITEMS_KEPT):
            self._n_items = self._enough(_ITEMS_KEPT)
            self.lot = self._make_lot(self._no_walk)
        elif self.lot.walk is not self._no_walk:
            self.lot = self.lot.replaced(walk=self._no_walk)

    def _enough(self, n_items: int) -> int:
        """Have room for a set of all columns, whatever else is asked."""
        return max(n_items, self._n_columns + 1)

    def write_sets(self, sets: Sequence[Variables], width: int) -> None:
        """Write down sets of at most so many columns."""
        if len(sets) == 1:
            row = sorted(sets[0])
            row.append(self._no_column)
            self.lot.sets[0, : len(row)] = row
            return
        behind = [self._no_column] * (width + 1)
        rows = [[*sorted(each), *behind[len(each) :]] for each in sets]
        if rows:
            self.lot.sets[: len(rows), : width + 1] = rows


def _grown(room: int, needed: int) -> int:
    """Return how much room to make: as much as there is, or at least twice that."""
    return room if needed <= room else max(2 * room, needed)


def ranges_of(parts: Sequence[Variables]) -> tuple[list[tuple[int, int]], list[int]]:
    """Write sets one after the other, every different one once; returns where each is, and all."""
    ranges: dict[Variables, tuple[int, int]] = {}
    columns: list[int] = []
    for each in parts:
        if each not in ranges:
            ranges[each] = len(columns), len(columns) + len(each)
            columns += sorted(each)
    return [ranges[each] for each in parts], columns


def ends_of(parts: Sequence[Sequence[object]]) -> list[int]:
    """Return where each part ends, one after the other."""
    return list(accumulate(map(len, parts)))
