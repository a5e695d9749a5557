"""What a batch of counted tests looks like before and after a statistic.

count -> statistic -> decision: :class:`TestSums` is what counting hands over, :class:`Measurement`
what a statistic makes of it, and ``decision`` alone compares that with a threshold. All three speak
of a batch of tests on one target, one array element a test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import FloatArray, Int64Array

BoolArray = npt.NDArray[np.bool_]

#: Rows a cell on average below which a likelihood-ratio or Pearson test is not to be trusted.
ROWS_A_CELL = 5.0

#: Rows a cell on average below which even stochastic complexity is not to be trusted: with fewer
#: it calls independent variables dependent (measured; at a quarter of a row a cell, always).
CODED_ROWS_A_CELL = 1.0

#: Differences of code lengths smaller than this, in bits, are rounding and count as zero.
ROUNDING = 1e-9

NO_FREEDOM = -1  # stands for "this statistic has no degrees of freedom"


@dataclass(frozen=True, slots=True)
class TestSums:
    """Sums over the tables of a batch of tests of candidates ``X`` given sets ``Z``."""

    __test__ = False  # the name starts with Test, but pytest has no business here

    n_rows: int
    target_levels: int
    levels: Int64Array  # |X|
    strata: Int64Array  # observed strata of Z
    gain: FloatArray  # fit(Z u X) - fit(Z), in bits
    target_saving: FloatArray  # length(Z) - length(Z u X): code lengths of Y, in bits
    candidate_saving: FloatArray  # the same for X, with and without Y
    adjusted_freedom: Int64Array
    pearson: FloatArray

    @classmethod
    def of(
        cls,
        contingency: Contingency,
        candidates: Int64Array,
        own: Summaries,
        index: Int64Array,
        unions: Summaries,
    ) -> TestSums:
        """Combine summaries into tests of ``candidates`` given the sets at ``own[index]``.

        ``unions`` summarises, test by test, the given set together with the candidate.
        """
        scale = contingency.scale
        if own is unions:
            split = unions.split
        else:
            split = own.splits[index, contingency.length_class[candidates]]
        return cls(
            n_rows=contingency.n_rows,
            target_levels=int(contingency.class_levels[0]),
            levels=contingency.cardinalities[candidates],
            strata=own.strata[index],
            gain=(unions.union_fit - own.fit[index]) / scale,
            target_saving=(own.length[index] - unions.union_length) / scale,
            candidate_saving=split / scale,
            adjusted_freedom=unions.freedom,
            pearson=unions.pearson / contingency.pearson_scale,
        )

    @property
    def cells(self) -> Int64Array:
        """Cells of each table over the observed strata."""
        return self.levels * self.strata * self.target_levels

    @property
    def is_thick(self) -> BoolArray:
        """Whether a table has enough rows a cell for a large-sample test."""
        thick: BoolArray = self.n_rows >= ROWS_A_CELL * self.cells
        return thick

    @property
    def is_codable(self) -> BoolArray:
        """Whether a table has enough rows a cell for its code lengths to be compared."""
        codable: BoolArray = self.n_rows >= CODED_ROWS_A_CELL * self.cells
        return codable


@dataclass(frozen=True, slots=True)
class Measurement:
    """A statistic for each test of a batch."""

    statistic: FloatArray
    freedom: Int64Array  # NO_FREEDOM where the statistic decides by its sign
    is_reliable: BoolArray
    decider: npt.NDArray[np.str_] | str  # which test decided, one name for all or one each
