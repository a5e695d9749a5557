"""Permutation distributions of tests: buffers and batches around the kernel.

>>> codes = np.array([[0, 0, 0, 1, 1, 1] * 5, [0, 0, 0, 1, 1, 1] * 5], dtype=np.uint8)
>>> shuffler = Shuffler(codes, np.array([2, 2]))
>>> nothing = np.empty((1, 0), dtype=np.int64)
>>> one = shuffler.run(0, nothing, np.array([0]), np.array([1]), seed=0, most=99, enough=10)
>>> one.made.tolist(), one.exceedances.tolist(), one.statistic.tolist()
([99], [0], [30.0])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.engine.fixed_point import FloatArray, Int64Array, entropies, scale_for

ROWS_PER_CALL = 1 << 24
"""Shuffled in one call of the kernel, some tenths of a second; interrupts are heard between."""

_ROUNDING = 1e-12  # share of the mean square below which a variance is none

_FLOAT_ERRORS = 64  # units: what floating point may add to the rounding of a sum, twice


class Shuffles(NamedTuple):
    """What shuffling a batch of tests brought, one element a test."""

    made: Int64Array
    exceedances: Int64Array  # shuffles at least as extreme as the data
    statistic: FloatArray  # of the data: half of G, in bits
    varies: npt.NDArray[np.bool_]  # whether there was anything to shuffle
    mean: FloatArray  # of the shuffles' statistics; 0 without any
    variance: FloatArray


class Shuffler:
    """A table prepared for permutation tests; about 130 bytes per row."""

    def __init__(self, codes: npt.NDArray[Any], levels: Int64Array) -> None:
        from komb.engine.kernels import shuffle

        self._kernels = shuffle
        n_columns, n_rows = codes.shape
        self._is_hashed = np.zeros(n_columns, dtype=np.bool_)
        self.scale = scale_for(n_rows)
        n_slots = 1 << max(1, (2 * n_rows - 1).bit_length())

        def integers(*shape: int) -> npt.NDArray[np.int32]:
            return np.zeros(shape, dtype=np.int32)

        self._strata = shuffle.Strata(
            codes=codes,
            levels=levels,
            hashes=np.zeros(n_columns, dtype=np.uint64),
            terms=entropies(n_rows, self.scale),
            scale=self.scale,
            # Each cell is rounded by half a unit at most, and there are no more cells than rows:
            # sums that are equal but for rounding differ by less than this, and count as equal.
            slack=n_rows + _FLOAT_ERRORS,
            state=np.zeros(4, dtype=np.int64),
            random=np.zeros(1, dtype=np.uint64),
            labels=np.empty(n_rows, dtype=np.int64),
            slots=np.empty(n_slots, dtype=np.int64),
            slot_labels=np.empty(n_slots, dtype=np.int32),
            is_by_bits=np.zeros(n_rows + 1, dtype=np.bool_),
            number=np.full(max(1, int(levels.max())), -1, dtype=np.int32),
            of=integers(2, n_rows),
            margins=integers(2, n_rows + 1),
            starts=integers(n_rows + 2),
            **{name: integers(n_rows + 1) for name in _LISTS},
        )

    def run(
        self,
        target: int,
        sets: Int64Array,
        set_of: Int64Array,
        candidates: Int64Array,
        *,
        seed: int,
        most: int,
        enough: int,
    ) -> Shuffles:
        """Shuffle each test ``most`` times, or until ``enough`` are as extreme as the data."""
        counts = np.empty((len(candidates), 4), dtype=np.int64)
        moments = np.empty((len(candidates), 2))
        self._hash(np.concatenate((np.unique(sets[np.unique(set_of)]), candidates, [target])))
        ask = self._kernels.Ask(
            target=target,
            candidates=np.ascontiguousarray(candidates, dtype=np.int64),
            sets=np.ascontiguousarray(sets, dtype=np.int64),
            set_of=np.ascontiguousarray(set_of, dtype=np.int64),
            seed=seed,
            most=most,
            enough=enough,
            counts=counts,
            moments=moments,
        )
        self._strata.state[self._kernels.SET] = -1
        test, is_begun = 0, False
        while test < len(candidates):
            test, is_begun = self._kernels.shuffle_tests(
                self._strata, ask, test, is_begun, ROWS_PER_CALL
            )
        return self._finish(counts, moments)

    def _hash(self, columns: Int64Array) -> None:
        """Hash the columns that have not been hashed yet."""
        for column in np.unique(columns[~self._is_hashed[columns]]).tolist():
            codes = self._strata.codes[column].astype(np.uint64)
            places = self._kernels.STEP * np.arange(1, len(codes) + 1, dtype=np.uint64)
            self._strata.hashes[column] = _mix(places ^ codes, self._kernels).sum(dtype=np.uint64)
            self._is_hashed[column] = True

    def _finish(self, counts: Int64Array, moments: FloatArray) -> Shuffles:
        made, exceedances, statistic, n_varying = counts.T
        mean, squares = moments.T / np.maximum(made, 1)
        variance = squares - mean**2
        variance[variance < _ROUNDING * squares] = 0.0  # shuffles that are all alike do not vary
        varies = n_varying > 0
        return Shuffles(made, exceedances, statistic / self.scale, varies, mean, variance)


_LISTS = (
    "rows", "values", "first_value", "level_counts", "first_level", "group_sizes", "first_group",
    "ends", "rest", "chosen",
)  # fmt: skip


def _mix(state: npt.NDArray[np.uint64], kernels: Any) -> npt.NDArray[np.uint64]:
    """As the kernel's own, of many numbers."""
    state = (state ^ (state >> np.uint64(30))) * kernels.FIRST_FACTOR
    state = (state ^ (state >> np.uint64(27))) * kernels.SECOND_FACTOR
    mixed: npt.NDArray[np.uint64] = state ^ (state >> np.uint64(31))
    return mixed
