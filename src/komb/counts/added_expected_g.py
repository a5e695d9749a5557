"""Mean and variance of G over all orders of the rows, from counts that were added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from komb.counts.added_contingency import AddedContingency
from komb.counts.contingency import Contingency
from komb.counts.expected_g import CELL_BITS
from komb.counts.fixedpoint import FloatArray, Int64Array

TABULATED = 1 << 20
"""Numbers up to here have their logarithms taken at once."""

_NEAR = 256  # numbers around the mode of a cell that a sum over its distribution may need


class AddedExpectedG:
    """As :class:`~komb.counts.expected_g.ExpectedG`, for tables whose rows are not at hand.

    Notes
    -----
    Logarithms of large numbers are taken when they are needed: memory that is never written to is
    never taken.
    """

    def __init__(self, n_rows: int, most_levels: int) -> None:
        from komb.counts import expected_g_kernels

        self._kernels = expected_g_kernels
        self._sizes = np.empty((2, 8, max(1, most_levels)))
        self._logarithms = np.zeros(n_rows + 1)
        self._known = min(n_rows + 1, TABULATED)
        small = np.arange(float(self._known))
        self._logarithms[: self._known] = np.log(np.maximum(small, 1.0))
        self._cells = expected_g_kernels.Cells(
            keys=np.zeros(1 << CELL_BITS, dtype=np.uint64),
            found=np.empty((1 << CELL_BITS, 4)),
            logarithms=self._logarithms,
            shift=64 - CELL_BITS,
        )

    def moments(
        self,
        contingency: Contingency,
        given: Int64Array,
        index: Int64Array,
        candidates: Int64Array,
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of G for each test; as :meth:`ExpectedG.moments`."""
        added = cast("AddedContingency", contingency)
        sums = np.zeros((len(candidates), 4), dtype=np.int64)
        for place, blocks in added.stratified(given[index], candidates):
            self._sum_blocks(blocks, sums[place])
        mean_whole, mean_part, variance_whole, variance_part = sums.T
        fraction = self._kernels.FRACTION
        mean = 2.0 * (mean_whole + mean_part / fraction)
        return mean, 4.0 * (variance_whole + variance_part / fraction)

    def _sum_blocks(self, blocks: Sequence[Int64Array], moments: Int64Array) -> None:
        from komb.counts.added_count_kernels import sum_margin_moments

        for block in blocks:
            by_x, by_y = block.sum(axis=1), block.sum(axis=2)
            if self._known < len(self._logarithms):
                self._tabulate(by_x, by_y)
            sum_margin_moments(by_x, by_y, self._sizes, self._cells, moments)

    def _tabulate(self, by_x: Int64Array, by_y: Int64Array) -> None:
        """Take the logarithms that sums over the distributions of large cells will need."""
        n = by_y.sum(axis=1).astype(np.float64)[:, None, None]
        a, b = by_x[:, :, None].astype(np.float64), by_y[:, None, :].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = a * b / n * ((n - a) / n) * ((n - b) / (n - 1.0))
            mode = np.floor((a + 1.0) * (b + 1.0) / (n + 2.0))
        is_summed = (variance <= 2.0 * self._kernels.SERIES_FROM) & (mode >= self._known - _NEAR)
        for centre in np.unique(mode[is_summed].astype(np.int64)).tolist():
            lo, hi = max(centre - _NEAR, 1), min(centre + _NEAR, len(self._logarithms))
            self._logarithms[lo:hi] = np.log(np.arange(float(lo), float(hi)))
