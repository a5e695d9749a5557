"""Permutation distributions of tests: buffers and batches around the kernels.

>>> codes = np.array([[0, 0, 0, 1, 1, 1] * 5, [0, 0, 0, 1, 1, 1] * 5], dtype=np.uint8)
>>> shuffler = Shuffler(codes, np.array([2, 2]))
>>> nothing = np.empty((1, 0), dtype=np.int64)
>>> one = shuffler.run(0, nothing, np.array([0]), np.array([1]), seed=0, most=99, enough=10)
>>> one.shuffles.tolist(), one.exceedances.tolist(), one.statistic.tolist()
([99], [0], [30.0])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.counts.contingency import Codes
from komb.counts.fixedpoint import FloatArray, Int64Array, entropy_table, scale_for

ROWS_PER_CALL = 1 << 20
"""Rows of all tests of one call of the kernel; interrupts are heard between calls."""

_ROUNDING = 1e-12  # share of the mean square below which a variance is none

_FLOAT_ERRORS = 64  # units: what floating point may add to the rounding of a sum, twice


class Shuffles(NamedTuple):
    """What shuffling a batch of tests brought, one element a test."""

    shuffles: Int64Array  # made
    exceedances: Int64Array  # at least as large as the data's
    statistic: FloatArray  # of the data: half of G, in bits
    varies: npt.NDArray[np.bool_]  # whether there was anything to shuffle
    mean: FloatArray  # of the shuffles' statistics; 0 without any
    variance: FloatArray


class Shuffler:
    """A table prepared for permutation tests.

    Notes
    -----
    Memory: about 130 bytes per row.
    """

    def __init__(self, codes: Codes, cardinalities: Int64Array) -> None:
        from komb.counts import permutation_kernels

        self._kernels = permutation_kernels
        n_columns, self.n_rows = codes.shape
        self._is_hashed = np.zeros(n_columns, dtype=np.bool_)
        self._table = permutation_kernels.Table(
            codes=codes,
            cardinalities=cardinalities,
            target=0,
            hashes=np.zeros(n_columns, dtype=np.uint64),
        )
        self.scale = scale_for(self.n_rows)
        entropy = entropy_table(self.n_rows, self.scale)
        self._entropy = np.stack((entropy[:-1], np.diff(entropy)))
        # Each cell is rounded by half a unit at most, and there are no more cells than rows: sums
        # that are equal but for rounding differ by less than this, and must count as equal.
        self._slack = self.n_rows + _FLOAT_ERRORS
        self._strata = self._make_strata()
        self._varying = self._make_varying(int(cardinalities.max()))

    def _make_strata(self) -> object:
        n_slots = 1 << max(1, (2 * self.n_rows - 1).bit_length())
        return self._kernels.Strata(
            counts=np.zeros(1, dtype=np.int64),
            keys=np.empty(self.n_rows, dtype=np.int64),
            starts=np.empty(self.n_rows + 1, dtype=np.int32),
            rows=np.empty(self.n_rows, dtype=np.int32),
            slots=np.empty(n_slots, dtype=np.int64),
            slot_labels=np.empty(n_slots, dtype=np.int32),
        )

    def _make_varying(self, most_levels: int) -> object:
        size = self.n_rows + 1

        def integers() -> npt.NDArray[np.int32]:
            return np.zeros(size, dtype=np.int32)

        return self._kernels.Varying(
            values=integers(),
            first_value=integers(),
            level_counts=integers(),
            first_level=integers(),
            group_sizes=integers(),
            first_group=integers(),
            by_bits=np.zeros(size, dtype=np.bool_),
            local=np.full(max(1, most_levels), -1, dtype=np.int32),
            x_of=integers(),
            y_of=integers(),
            x_counts=integers(),
            y_counts=integers(),
            ends=integers(),
            rest=integers(),
            chosen=integers(),
        )

    def run(
        self,
        target: int,
        given: Int64Array,
        index: Int64Array,
        candidates: Int64Array,
        *,
        seed: int,
        most: int,
        enough: int,
    ) -> Shuffles:
        """Shuffle each test ``most`` times, or until ``enough`` are as extreme as the data."""
        counts = np.empty((len(candidates), 4), dtype=np.int64)
        moments = np.empty((len(candidates), 2))
        self._hash(np.unique(given[np.unique(index)]), candidates, np.array([target]))
        table = self._table._replace(target=target)
        step = max(1, ROWS_PER_CALL // self.n_rows)
        for first in range(0, len(candidates), step):
            part = slice(first, first + step)
            self._kernels.shuffle_tests(
                table, self._strata, self._varying, self._entropy, self.scale, self._slack,
                np.uint64(seed), most, enough, given, index[part], candidates[part], counts[part],
                moments[part],
            )  # fmt: skip
        return self._finish(counts, moments)

    def _hash(self, *some: Int64Array) -> None:
        """Hash the columns that have not been hashed yet."""
        columns = np.unique(np.concatenate(some)).astype(np.int64)
        new = columns[~self._is_hashed[columns]]
        if len(new):
            self._kernels.hash_columns(self._table.codes, new, self._table.hashes)
            self._is_hashed[new] = True

    def _finish(self, counts: Int64Array, moments: FloatArray) -> Shuffles:
        shuffles, exceedances, statistic, varies = counts.T
        mean, squares = moments.T / np.maximum(shuffles, 1)
        variance = squares - mean**2
        variance[variance < _ROUNDING * squares] = 0.0  # shuffles that are all alike do not vary
        return Shuffles(shuffles, exceedances, statistic / self.scale, varies > 0, mean, variance)
