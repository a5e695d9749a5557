"""Cells of a joint table that occur, and random halves of the rows in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.engine.fixed_point import FloatArray, Int64Array

_LARGEST_KEY = 1 << 62


class Cells(NamedTuple):
    """The cells of a table of ``Z``, ``X`` and ``Y`` that occur."""

    counts: Int64Array  # rows in each cell
    by_stratum: Int64Array  # for each cell the number of its ``z``, ``(x, z)`` and ``(y, z)``
    by_candidate: Int64Array  # for each cell the number of its ``z``, ``(x, z)`` and ``(y, z)``
    by_target: Int64Array  # for each cell the number of its ``z``, ``(x, z)`` and ``(y, z)``

    def information(self, counts: npt.ArrayLike) -> FloatArray:
        """Information of ``X`` on ``Y`` given ``Z``, in bits per row, without any correction."""
        table = np.asarray(counts, dtype=np.float64)
        fit = (
            _fit(table)
            - _fit(_margins(table, self.by_candidate))
            - _fit(_margins(table, self.by_target))
            + _fit(_margins(table, self.by_stratum))
        )
        bits: FloatArray = np.maximum(fit / np.maximum(table.sum(axis=-1), 1.0), 0.0)
        return bits

    def halves(self, n_halves: int, rng: np.random.Generator) -> Int64Array:
        """Draw the counts of random halves of the rows, one line each."""
        n_rows = int(self.counts.sum())
        drawn: Int64Array = rng.multivariate_hypergeometric(
            self.counts, n_rows // 2, size=n_halves, method="marginals"
        )
        return drawn


def count_cells(
    pair: npt.NDArray[np.integer], levels: Sequence[int], given: Sequence[Int64Array]
) -> Cells:
    """Count the cells of two columns, given others."""
    candidate, target = pair.astype(np.int64)
    width = levels[0] * levels[1]
    strata, n_strata = np.zeros(len(candidate), dtype=np.int64), 1
    for column in given:
        n_levels = int(column.max(initial=0)) + 1
        if n_strata * n_levels * width > _LARGEST_KEY:  # numbered anew, as late as possible
            _, strata = np.unique(strata, return_inverse=True)
            n_strata = int(strata.max(initial=0)) + 1
        strata = strata * n_levels + column
        n_strata *= n_levels
    found, counts = np.unique(strata * width + candidate * levels[1] + target, return_counts=True)
    stratum, within = found // width, found % width
    return Cells(
        counts.astype(np.int64),
        _number(stratum),
        _number(stratum * levels[0] + within // levels[1]),
        _number(stratum * levels[1] + within % levels[1]),
    )


def _number(keys: Int64Array) -> Int64Array:
    numbers: Int64Array = np.unique(keys, return_inverse=True)[1]
    return numbers


def _margins(table: FloatArray, numbers: Int64Array) -> FloatArray:
    """Sum cells with the same number, line by line."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    sums: FloatArray = np.add.reduceat(table[..., order], starts, axis=-1)
    return sums


def _fit(counts: FloatArray) -> FloatArray:
    """Sum ``n log2 n``."""
    total: FloatArray = (counts * np.log2(np.maximum(counts, 1.0))).sum(axis=-1)
    return total
