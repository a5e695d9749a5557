"""Mean and variance of G over all orders of the rows: buffers and batches around the kernels.

>>> codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=np.uint8)
>>> contingency = Contingency(codes, np.array([2, 2]), target=0)
>>> nothing = np.empty((1, 0), dtype=np.int64)
>>> expected = ExpectedG(codes, np.array([2, 2]))
>>> mean, variance = expected.moments(contingency, nothing, np.array([0]), np.array([1]))

Of the 6 ways to arrange two pairs, 2 are as these, with ``G = 8 ln 2``, and 4 have ``G = 0``.

>>> mean.round(6).tolist(), round(8 * float(np.log(2)) / 3, 6)
([1.848392], 1.848392)
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from komb.counts.contingency import Codes, Contingency
from komb.counts.contingency_kernels.buffers import MAX_DENSE_CELLS
from komb.counts.fixedpoint import FloatArray, Int64Array
from komb.counts.threads import map_in_order

ROWS_PER_CALL = 1 << 25
"""Rows of all tests of one call of the kernel; interrupts are heard between calls."""

CELL_BITS = 15
"""Binary logarithm of the number of cells kept: 1.3 MB."""


_PARTS_PER_THREAD = 4


class _Room(NamedTuple):
    """Buffers of one thread."""

    strata: Any
    levels: Any
    cells: Any


class GMoments(Protocol):
    """Who has the mean and the variance of G over all orders of the rows."""

    def moments(
        self,
        contingency: Contingency,
        given: Int64Array,
        index: Int64Array,
        candidates: Int64Array,
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of G for each test."""


class ExpectedG:
    """A table prepared for the moments that G has given the margins of a test.

    Notes
    -----
    Memory: about 90 bytes per row, most of them only if rows have to be sorted, and 1.8 MB; once
    for every thread.
    """

    def __init__(self, codes: Codes, cardinalities: Int64Array) -> None:
        from komb.counts import expected_g_kernels, expected_g_margin_kernels

        self._kernels, self._margins = expected_g_kernels, expected_g_margin_kernels
        self.n_rows = codes.shape[1]
        self._cardinalities = cardinalities
        self._logarithms = np.log(np.maximum(np.arange(self.n_rows + 1.0), 1.0))
        self._rooms: deque[_Room] = deque()  # buffers that no thread is using

    def _take_room(self) -> _Room:
        """Return buffers that no other thread is using."""
        try:
            return self._rooms.pop()
        except IndexError:
            return self._make_room()

    def _make_room(self) -> _Room:
        n_rows, cardinalities = self.n_rows, self._cardinalities
        n_slots = 1 << max(1, (2 * n_rows - 1).bit_length())
        strata = self._margins.Strata(
            counts=np.zeros(1, dtype=np.int64),
            keys=np.empty(n_rows, dtype=np.int64),
            starts=np.empty(n_rows + 1, dtype=np.int32),
            rows=np.empty(n_rows, dtype=np.int32),
            target_codes=np.empty(n_rows, dtype=np.int32),
            slots=np.empty(n_slots, dtype=np.int64),
            slot_labels=np.empty(n_slots, dtype=np.int32),
        )
        most_levels = max(1, int(cardinalities.max()))
        levels = self._margins.Levels(
            counts=np.zeros((2, most_levels), dtype=np.int32),
            seen=np.empty((2, most_levels), dtype=np.int32),
            sizes=np.empty((2, 8, most_levels)),
            by_y=np.empty(MAX_DENSE_CELLS, dtype=np.int32),
            first=np.concatenate(([0], np.cumsum(cardinalities))),
            is_counted=np.zeros(len(cardinalities), dtype=np.bool_),
            of_column=np.zeros(int(cardinalities.sum()), dtype=np.int32),
        )
        cells = self._kernels.Cells(
            keys=np.zeros(1 << CELL_BITS, dtype=np.uint64),
            found=np.empty((1 << CELL_BITS, 4)),
            logarithms=self._logarithms,
            shift=64 - CELL_BITS,
        )
        return _Room(strata, levels, cells)

    def moments(
        self,
        contingency: Contingency,
        given: Int64Array,
        index: Int64Array,
        candidates: Int64Array,
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of G for each test."""
        if contingency.keeps_tables:
            sums = np.zeros((len(candidates), 4), dtype=np.int64)
            left = np.flatnonzero(~self._read(contingency, given[index], candidates, sums))
            if len(left):
                sums[left] = self._count(contingency, given, index[left], candidates[left])
        else:
            sums = self._count(contingency, given, index, candidates)
        mean_whole, mean_part, variance_whole, variance_part = sums.T
        fraction = self._kernels.FRACTION
        mean = 2.0 * (mean_whole + mean_part / fraction)
        return mean, 4.0 * (variance_whole + variance_part / fraction)

    def _read(
        self,
        contingency: Contingency,
        given: Int64Array,
        candidates: Int64Array,
        sums: Int64Array,
    ) -> npt.NDArray[np.bool_]:
        """Sum over tests whose margins are at hand; returns which these are."""
        from komb.counts.added_count_kernels import sum_margin_moments

        def work(place: int) -> bool:
            margins = contingency.margins(given[place], int(candidates[place]))
            if margins is None:
                return False
            room = self._take_room()
            sum_margin_moments(*margins, room.levels.sizes, room.cells, sums[place])
            self._rooms.append(room)
            return True

        n_workers = len(contingency.workers(len(candidates)))
        return np.array([*map_in_order(work, range(len(candidates)), n_workers)])

    def _count(
        self,
        contingency: Contingency,
        given: Int64Array,
        index: Int64Array,
        candidates: Int64Array,
    ) -> Int64Array:
        """Sum over tests whose margins are to be counted."""
        sums = np.empty((len(candidates), 4), dtype=np.int64)
        prepared = contingency.prepared_for(given, candidates)
        n_bitmaps, n_words = prepared.bitmaps.shape
        all_words = np.array([0, n_words])
        workers = deque(contingency.workers(len(candidates)))
        n_workers = len(workers)

        def work(part: slice) -> None:
            worker, room = workers.pop(), self._take_room()
            scratch, _ = worker.buffers_for(given.shape[1])
            totals = np.empty((n_bitmaps, 1), dtype=np.int32)
            self._margins.sum_moments(
                prepared, contingency.has_missing, scratch, *room, given, index[part],
                candidates[part], totals, all_words, sums[part],
            )  # fmt: skip
            self._rooms.append(room)
            workers.append(worker)

        step = max(1, ROWS_PER_CALL // max(self.n_rows, 1))
        if n_workers > 1:
            step = min(step, -(-len(candidates) // (_PARTS_PER_THREAD * n_workers)))
        parts = (slice(first, first + step) for first in range(0, len(candidates), step))
        for _ in map_in_order(work, parts, n_workers):
            pass
        return sums
