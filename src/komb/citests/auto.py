"""G with a null distribution that holds on thin tables.

On a thick table ``G`` is compared with the chi-square distribution of its (adjusted) degrees of
freedom. On a thin one that is wrong both ways: with many levels ``G`` is far too silent, with many
strata far too loud. There the table is shuffled a few times within the strata of the given set, as
in :mod:`~komb.citests.perm`, not to count how often ``G`` is exceeded but to see how large it is
under independence, and how much that varies. A chi-square distribution of that mean and variance
then stands for the null distribution: ``df = 2 mean^2 / variance``, and the statistic is ``G df /
mean``. (Matching two moments is what Satterthwaite 1946 did for sums of squares.) Unlike a
permutation test of as many shuffles it gives small p-values where there are small ones, so members
can be ranked and many tests be made.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from komb.citests.decision import thresholds
from komb.citests.g import g_statistic, is_possible
from komb.citests.measure import BoolArray, Measurement, TestSums
from komb.citests.perm import make_shuffler
from komb.citests.registry import TestOptions, ci_test
from komb.counts.fixedpoint import FloatArray, Int64Array
from komb.counts.shuffler import Shuffler, Shuffles

SHUFFLES = 64
"""Of a thin table where G is near: the mean is then known to an eighth of a standard deviation."""

FEW_SHUFFLES = 16
"""Of a thin table at first; they are enough where G is far from what shuffles give."""

CLEAR = 8.0
"""Standard deviations above the mean that are far."""

ENOUGH = 8
"""Shuffles as large as the data: no more are made then, for the p-value is far from any level."""

SCREENED_ROWS_A_CELL = 2.0
"""From so many on, what shuffles give is near enough to chi-square to tell what is no dependence:
where G is too small for one degree of freedom, hardly any is found (3 in 3,600 skewed tables)."""

MATCHED = "g-match"
"""What decided, where it is G with moments from shuffles."""


@ci_test(
    "auto",
    summary="G; on thin tables against the mean and variance that shuffles of the table give.",
    citation="Satterthwaite (1946), An Approximate Distribution of Estimates of Variance "
    "Components, Biometrics Bulletin 2(6)",
    is_random=True,
)
class AutomaticTest:
    """G, with moments from shuffles where chi-square does not hold."""

    length_below: ClassVar[float] = 0.0
    needs_tables = True  # the adjusted freedom is of the table

    def __init__(self, options: TestOptions) -> None:
        self._seed = options.seed
        self._shuffler: Shuffler | None = None

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic, freedom = g_statistic(sums), sums.adjusted_freedom.copy()
        is_thick = sums.is_thick
        doubtful = np.flatnonzero(~is_thick & (freedom > 0))
        if not len(doubtful):
            return Measurement(statistic, freedom, is_thick, "g")
        is_reliable, decider = is_thick.copy(), np.full(len(statistic), "g", dtype="<U8")
        is_reliable[doubtful] = self._match(sums, doubtful, statistic, freedom)
        decider[doubtful] = MATCHED
        return Measurement(statistic, freedom, is_reliable, decider)

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences; on very thin tables all could."""
        return is_possible(sums, alpha) | ~sums.has_rows_a_cell(SCREENED_ROWS_A_CELL)

    def preselect(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests are worth shuffling in a sweep for clear dependences.

        On tables that are thin, but not very thin, chi-square errs by calling too much dependent:
        what it does not call so is left alone.
        """
        selected: BoolArray = g_statistic(sums) >= thresholds(sums.adjusted_freedom, alpha)
        return selected

    def _match(
        self, sums: TestSums, doubtful: Int64Array, statistic: FloatArray, freedom: Int64Array
    ) -> BoolArray:
        """Put matched statistics and freedoms in place; returns where there was what to shuffle."""
        few = self._shuffle(sums, doubtful, FEW_SHUFFLES)
        mean, variance = few.mean, few.variance
        is_clear = (variance > 0) & (few.statistic >= mean + CLEAR * np.sqrt(variance))
        is_open = few.varies & (few.exceedances < ENOUGH) & ~is_clear
        if is_open.any():
            many = self._shuffle(sums, doubtful[is_open], SHUFFLES)
            mean[is_open], variance[is_open] = many.mean, many.variance
        nats = 2.0 * math.log(2.0)  # shuffles speak of half of G, in bits
        varies: BoolArray = few.varies & (variance > 0)
        mean, variance = nats * mean[varies], nats**2 * variance[varies]
        matched = np.maximum(np.rint(2 * mean**2 / variance), 1)
        where = doubtful[varies]
        statistic[where] *= matched / mean
        freedom[where] = matched.astype(np.int64)
        freedom[doubtful[~varies]] = 0  # no shuffle differs from the data, so these say nothing
        return varies

    def _shuffle(self, sums: TestSums, some: Int64Array, most: int) -> Shuffles:
        tests = sums.tests
        self._shuffler = self._shuffler or make_shuffler(tests.contingency)
        return self._shuffler.run(
            tests.contingency.target, tests.sets, tests.set_of[some], tests.candidates[some],
            seed=self._seed, most=most, enough=ENOUGH,
        )  # fmt: skip
